//! Lists of the pods of a cluster, and of what is evidence beside them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::explain::ExplainTarget;
use podinit_core::kube_event::KubeEvent;
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_decode::node::NodeOptions;
use podinit_kube::cluster::api_error::ApiError;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::one_shot_list::{list_events, list_nodes, list_pods};
use podinit_kube::watch::requests::{PodScope, PodSelectors, RequestBuilder};

/// The time between two lists of Events and nodes, which are large.
const EVIDENCE_EVERY: Duration = Duration::from_secs(30);

/// How many nodes of a workload's pods are listed.
const MOST_NODES: usize = 20;

/// Why the pods cannot be listed; one line.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {scope} at {server}: {why}")]
pub struct ListError {
    scope: String,
    server: String,
    why: String,
}

/// A cluster, and which of its pods to list.
pub struct ListedCluster {
    pub cluster: ClusterClient,
    /// The cluster's clock
    pub clock: Arc<dyn DeliveryClock>,
    /// The namespaces
    pub scopes: Vec<PodScope>,
    /// Which pods of the namespaces
    pub selectors: PodSelectors,
    evidence: ListedEvidence,
    /// When the evidence was listed; `None` before the first time
    evidence_listed: Option<Instant>,
}

/// What is listed beside the pods.
#[derive(Clone, Debug, Default)]
pub struct ListedEvidence {
    /// Whether Events are listed
    pub events: bool,
    /// Which nodes are listed
    pub nodes: ListedNodes,
    /// What to decode of the objects
    pub decode: DecodeOptions,
}

/// Which nodes are listed.
#[derive(Clone, Debug, Default)]
pub enum ListedNodes {
    #[default]
    None,
    /// All nodes
    All(NodeOptions),
    /// The nodes of the pods of a target, 20 at most
    OfTarget(ExplainTarget, NodeOptions),
}

/// The result of listing a cluster once.
#[derive(Debug)]
pub struct ClusterListing {
    /// The pods of each scope, and when their list was begun
    pub pods: Vec<(Timestamp, Vec<PodSnapshot>)>,
    pub events: Vec<KubeEvent>,
    /// The nodes, and when their list was begun; `None` where they were not listed this time
    pub nodes: Option<(Timestamp, Vec<NodeSnapshot>)>,
    /// What was asked for and cannot be listed, and why
    pub unlisted: Vec<UnlistedResources>,
    /// The cluster's time after the lists
    pub now: Timestamp,
}

/// What cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedResources {
    /// `Events` or `nodes`
    pub what: &'static str,
    /// What is not known for that
    pub unknown: &'static str,
    pub why: String,
}

impl UnlistedResources {
    /// The Events, because of `error`.
    pub(crate) fn events(error: ApiError) -> Self {
        Self {
            what: "Events",
            unknown: "image pulls, some causes and what Kubernetes says of them",
            why: error.detail,
        }
    }

    /// The nodes, because of `error`.
    pub(crate) fn nodes(error: ApiError) -> Self {
        Self {
            what: "nodes",
            unknown: "pools, zones and the versions of kubelets",
            why: error.detail,
        }
    }
}

impl fmt::Display for UnlistedResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, unknown, why } = self;
        write!(f, "the {what} cannot be listed, so podinit does not know {unknown}: {why}")
    }
}

impl ListedCluster {
    /// A cluster of which `evidence` is listed beside the pods.
    pub fn new(
        cluster: ClusterClient,
        clock: Arc<dyn DeliveryClock>,
        scopes: Vec<PodScope>,
        selectors: PodSelectors,
        evidence: ListedEvidence,
    ) -> Self {
        Self { cluster, clock, scopes, selectors, evidence, evidence_listed: None }
    }

    /// Lists the pods, and the evidence now and then.
    ///
    /// # Errors
    /// If the pods cannot be listed.
    pub async fn list(&mut self) -> Result<ClusterListing, ListError> {
        let mut listed = Vec::new();
        for scope in &self.scopes {
            let began = self.clock.now();
            let pods =
                list_pods(&self.cluster, scope, &self.selectors, self.evidence.decode.clone())
                    .await;
            let pods = pods.map_err(|error| ListError {
                scope: scope.to_string(),
                server: self.cluster.server.clone(),
                why: error.detail,
            })?;
            listed.push((began, pods));
        }
        let is_due = |at: Instant| at.elapsed() >= EVIDENCE_EVERY;
        let mut listed = ClusterListing {
            pods: listed,
            events: Vec::new(),
            nodes: None,
            unlisted: Vec::new(),
            now: self.clock.now(),
        };
        if self.evidence_listed.is_none_or(is_due) {
            self.evidence_listed = Some(Instant::now());
            self.list_evidence(&mut listed).await;
        }
        // The answers have set the clock right.
        listed.now = self.clock.now();
        Ok(listed)
    }

    async fn list_evidence(&self, listed: &mut ClusterListing) {
        if self.evidence.events {
            for scope in &self.scopes {
                match list_events(&self.cluster, scope, self.evidence.decode.clone()).await {
                    Ok(events) => listed.events.extend(events),
                    Err(error) => {
                        listed.unlisted.push(UnlistedResources::events(error));
                        break;
                    }
                }
            }
        }
        let (requests, options) = match &self.evidence.nodes {
            ListedNodes::None => return,
            ListedNodes::All(options) => (vec![RequestBuilder::of_nodes()], options),
            ListedNodes::OfTarget(target, options) => {
                let pods = listed.pods.iter().flat_map(|(_, pods)| pods);
                let pods = pods.filter(|pod| target.fits(&pod.info));
                let names: BTreeSet<&str> =
                    pods.filter_map(|pod| pod.info.node.as_deref()).collect();
                (names.into_iter().take(MOST_NODES).map(RequestBuilder::of_node).collect(), options)
            }
        };
        let began = self.clock.now();
        let mut nodes = Vec::new();
        for requests in requests {
            match list_nodes(&self.cluster, &requests, options.clone()).await {
                Ok(more) => nodes.extend(more),
                Err(error) => return listed.unlisted.push(UnlistedResources::nodes(error)),
            }
        }
        listed.nodes = Some((began, nodes));
    }
}
