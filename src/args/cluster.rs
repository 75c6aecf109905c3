//! Which cluster, which of its pods, and what is evidence beside them: the options of the commands that ask an API
//! server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use podinit_connect::options::ClusterOptions;
use podinit_core::shard::Shard;
use podinit_decode::ObjectEncoding;
use podinit_decode::node::NodeOptions;
use podinit_kube::watch::config::ListMode;
use podinit_kube::watch::requests::PodSelectors;
use podinit_slo::file::EvidenceSources;

/// Which cluster.
#[derive(Args, Clone, Debug)]
pub struct ConnectionArgs {
    /// Kubeconfig file [default: the service account inside a cluster, else $KUBECONFIG, else
    /// ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
}

impl ConnectionArgs {
    /// How to find the cluster.
    pub fn options(self) -> ClusterOptions {
        ClusterOptions { kubeconfig: self.kubeconfig, context: self.context }
    }
}

/// Which namespaces of a cluster.
#[derive(Args, Clone, Debug)]
pub struct NamespaceArgs {
    /// Only pods of this namespace; may be repeated [default: all]
    #[arg(
        long = "namespace",
        short = 'n',
        value_name = "NAME",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = parse_namespace
    )]
    namespaces: Vec<String>,
}

impl NamespaceArgs {
    /// Whether there is a namespace.
    pub(super) const fn is_any(&self) -> bool {
        !self.namespaces.is_empty()
    }

    /// The namespaces, sorted and each once; none means all.
    pub fn chosen(&self) -> Vec<String> {
        let mut namespaces = self.namespaces.clone();
        // An empty variable in a manifest means the default.
        namespaces.retain(|name| !name.is_empty());
        namespaces.sort();
        namespaces.dedup();
        namespaces
    }
}

/// Which pods of a cluster or namespace.
#[derive(Args, Clone, Debug)]
pub struct SelectorArgs {
    /// Only pods that match this label selector, such as app=web,tier!=cache
    #[arg(long, short = 'l', value_name = "SELECTOR")]
    pub label_selector: Option<String>,

    /// Only pods that match this field selector, such as spec.nodeName=node-1
    #[arg(long, value_name = "SELECTOR")]
    pub field_selector: Option<String>,
}

impl SelectorArgs {
    /// Whether there is a selector.
    pub(super) fn is_any(&self) -> bool {
        self.label_selector.is_some() || self.field_selector.is_some()
    }

    /// The selectors as requests take them, of all shards.
    pub fn selectors(self) -> PodSelectors {
        PodSelectors { label: self.label_selector, field: self.field_selector, shard: None }
    }
}

/// Which cluster, and which of its pods to watch.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub namespaces: NamespaceArgs,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// Encoding to ask the API server for: protobuf (JSON from one that has none) or json
    #[arg(long, value_name = "ENCODING", default_value = "protobuf")]
    pub api_encoding: ApiEncoding,

    /// How to ask the API server for lists of pods
    #[arg(long, value_name = "MODE", default_value = "whole")]
    list: ListArg,

    /// The same as --list stream, whatever --list says
    #[arg(long)]
    watch_list: bool,
}

impl ClusterArgs {
    /// How to request lists.
    pub fn lists(&self) -> ListMode {
        match self.watch_list {
            true => ListMode::Stream,
            false => self.list.into(),
        }
    }
}

/// Checks the rule for names of namespaces, which are DNS labels. The empty text is no name, and means
/// the default.
pub(super) fn parse_namespace(text: &str) -> Result<String, String> {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = text.len() <= 63
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    if is_label {
        Ok(text.to_owned())
    } else {
        Err(
            "not the name of a namespace; expected at most 63 lower-case letters, digits and hyphens, \
             such as kube-system"
                .to_owned(),
        )
    }
}

/// The encodings in which the API server is asked for objects. `--help` shows what is said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApiEncoding {
    /// Protobuf, and JSON from an API server that has none: cheaper for both sides
    Protobuf,
    /// JSON
    Json,
}

impl From<ApiEncoding> for ObjectEncoding {
    fn from(encoding: ApiEncoding) -> Self {
        match encoding {
            ApiEncoding::Protobuf => Self::Protobuf,
            ApiEncoding::Json => Self::Json,
        }
    }
}

/// How the API server is asked for the list with which a watch begins. `--help` shows what is said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListArg {
    /// In one answer from the API server's cache, which costs it least; in pages where that does not arrive
    Whole,
    /// In pages of 500 pods
    Pages,
    /// As the beginning of a watch (WatchList, KEP-3157); in pages where the API server offers none
    Stream,
}

impl From<ListArg> for ListMode {
    fn from(list: ListArg) -> Self {
        match list {
            ListArg::Whole => Self::Whole,
            ListArg::Pages => Self::Pages,
            ListArg::Stream => Self::Stream,
        }
    }
}

/// The shard of this process.
#[derive(Args, Clone, Copy, Debug)]
pub struct ShardArgs {
    /// Account only for shard I of N, counted from 0, such as 0/4: the pods whose UIDs hash to it. N
    /// processes, one for each shard, account for all pods [default: all pods]
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub shard: Option<Shard>,
}

/// The sources of evidence ([§9](crate::specification#s9), [§14](crate::specification#s14)). `--help` shows what is
/// said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Evidence {
    /// Pods only
    None,
    /// The Events about pods
    Events,
    /// The nodes of pods
    Nodes,
    /// Both
    #[value(name = "events,nodes", alias = "nodes,events")]
    EventsAndNodes,
}

impl Evidence {
    /// Whether Events are a source.
    pub fn events(self) -> bool {
        matches!(self, Self::Events | Self::EventsAndNodes)
    }

    /// Whether nodes are a source.
    pub fn nodes(self) -> bool {
        matches!(self, Self::Nodes | Self::EventsAndNodes)
    }
}

impl From<Evidence> for EvidenceSources {
    fn from(evidence: Evidence) -> Self {
        Self { events: evidence.events(), nodes: evidence.nodes() }
    }
}

/// How nodes are read.
#[derive(Args, Clone, Debug, Default)]
pub struct NodeArgs {
    /// Node label that names the pool of a node, before those of Karpenter, EKS, GKE, AKS and kOps; for
    /// --evidence nodes
    #[arg(long, value_name = "KEY")]
    pub node_pool_label: Option<String>,
}

impl NodeArgs {
    /// What the decoder has to know.
    pub fn options(&self) -> NodeOptions {
        NodeOptions { pool_label: self.node_pool_label.clone() }
    }
}
