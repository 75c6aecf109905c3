//! What a checkpoint holds of the nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::late::{NodeService, Startups};
use super::node::{KnownNode, NodeOutcome};
use super::{KnownNodes, MOST_NODES, NodeObservation, NodeState};
use crate::lifecycle::reached::Reached;
use crate::node::NodeLabels;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// The nodes that were known. The next list closes a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedNodes {
    /// A list had been delivered
    pub listed: bool,
    pub(crate) nodes: Vec<SavedNode>,
    /// The deleted nodes that are still remembered, in the order of their deletion
    pub deleted: Vec<(Timestamp, PodUid)>,
    /// How long the newest nodes took until they were schedulable
    pub(crate) startups: Startups,
}

/// A node that was known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedNode {
    pub uid: PodUid,
    pub name: Arc<str>,
    pub version: u64,
    pub stated: Option<Timestamp>,
    pub created: Option<Timestamp>,
    /// When it was first Ready
    pub(in crate::lifecycle) ready: Reached,
    pub labels: Arc<NodeLabels>,
    /// Whether its startup is over; one of another shard is not known yet
    pub state: NodeState,
    /// The steps that are observed no more, a bit for each, and four bits above it one if it was measured
    pub decided: u8,
    /// Whether it has been schedulable, or may have been before it was seen; `None` where that was not saved
    pub served: Option<bool>,
}

impl SavedNodes {
    /// Checks what was read.
    ///
    /// # Errors
    /// A value that no nodes can have.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.nodes.len().max(self.deleted.len()) > MOST_NODES + 1 {
            return Err("more nodes than are known");
        }
        if !self.startups.is_bounded() {
            return Err("more startups of nodes than are compared with");
        }
        Ok(())
    }
}

impl KnownNodes {
    /// The saved form of the nodes.
    pub(in crate::lifecycle) fn saved(&self) -> SavedNodes {
        let mut names: Vec<&Arc<str>> = self.names.keys().collect();
        names.sort_unstable();
        // Nodes of one name keep their order.
        let uids = names.into_iter().flat_map(|name| &self.names[name]);
        let nodes = uids.filter_map(|uid| Some(self.known.get(uid)?.saved(*uid)));
        SavedNodes {
            listed: self.listed,
            nodes: nodes.collect(),
            deleted: self.tombstones.iter().copied().collect(),
            startups: self.startups.clone(),
        }
    }

    /// Restores the nodes of a checkpoint at `now`. Reports what no counter has.
    pub(in crate::lifecycle) fn restore(
        &mut self,
        saved: SavedNodes,
        now: Timestamp,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        self.listed = saved.listed;
        self.startups = saved.startups;
        self.deleted = saved.deleted.iter().map(|(_, uid)| *uid).collect();
        self.tombstones = saved.deleted.into();
        for saved in saved.nodes {
            let uid = saved.uid;
            let node = KnownNode::restored(saved, now);
            emit(NodeObservation::PoolEntered(&node.labels.pool));
            if node.is_starting() {
                self.starting.insert((node.age_from(), uid));
            }
            let name = Arc::clone(&node.name);
            self.known.insert(uid, node);
            self.add_name(&name, uid);
        }
        self.report_late(now, emit);
    }
}

impl KnownNode {
    fn saved(&self, uid: PodUid) -> SavedNode {
        SavedNode {
            uid,
            name: Arc::clone(&self.name),
            version: self.version,
            stated: self.stated,
            created: self.created,
            ready: self.ready,
            labels: Arc::clone(&self.labels),
            state: self.state,
            decided: self.decided,
            served: Some(self.service.has_served()),
        }
    }

    fn restored(saved: SavedNode, now: Timestamp) -> Self {
        let service = match (saved.served, saved.state) {
            (Some(has_served), _) => NodeService::restored(has_served),
            (None, NodeState::Starting) => NodeService::restored(false),
            (None, NodeState::Finished(NodeOutcome::Ready)) => NodeService::restored(true),
            (None, NodeState::Undiscovered | NodeState::Finished(_)) => {
                NodeService::new(saved.stated, now)
            }
        };
        Self {
            name: saved.name,
            version: saved.version,
            stated: saved.stated,
            created: saved.created,
            ready: saved.ready,
            labels: saved.labels,
            content: None,
            state: saved.state,
            decided: saved.decided,
            service,
            not_ready: None,
        }
    }
}
