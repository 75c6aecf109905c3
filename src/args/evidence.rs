//! `--evidence`: what is evidence beside the conditions of pods.

use clap::{Args, ValueEnum};

use crate::slo::file::Sources;
use podinit_decode::node::NodeOptions;

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

impl From<Evidence> for Sources {
    fn from(evidence: Evidence) -> Self {
        Self {
            events: evidence.events(),
            nodes: evidence.nodes(),
        }
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
        NodeOptions {
            pool_label: self.node_pool_label.clone(),
        }
    }
}
