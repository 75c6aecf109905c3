//! What nodes and Events tell of startups: durations by capacity and images, the nodes, and what pods know of
//! theirs.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::section::{ContentError, EVIDENCE};
use crate::inspect::records::KeptRecords;
use crate::metrics::saved::SavedMetrics;
use crate::metrics::{SavedPool, SavedStartup};
use podinit_core::lifecycle::{PodInFlight, SavedNodes, SavedPod, SavedPodNode, SavedTracker};
use podinit_core::node::NodeLabels;
use podinit_core::pod::PodUid;

/// The section.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct SavedEvidence {
    startups: Option<Vec<SavedStartup>>,
    pools: Option<Vec<SavedPool>>,
    nodes: Option<SavedNodes>,
    /// What nodes state, by the numbers that pods have
    labels: Vec<Arc<NodeLabels>>,
    /// What pods in flight know of their nodes
    pods: Vec<SavedPodNode>,
    /// What the pod of each record knew: a UID may have several records
    records: Vec<Option<SavedPodNode>>,
}

/// The numbers of what nodes state.
#[derive(Debug, Default)]
pub(super) struct PodNodes {
    labels: Vec<Arc<NodeLabels>>,
    numbers: HashMap<Arc<NodeLabels>, u32>,
    pods: Vec<SavedPodNode>,
}

impl PodNodes {
    /// Adds the next pod in flight.
    pub(super) fn add(&mut self, pod: &PodInFlight) {
        let Self { labels, numbers, pods } = self;
        pods.extend(pod.saved_node(|stated| number(labels, numbers, stated)));
    }

    /// The section; `None` where pods are the only source.
    pub(super) fn finish(
        mut self,
        metrics: &SavedMetrics,
        tracker: &SavedTracker,
        records: &KeptRecords,
    ) -> Option<SavedEvidence> {
        if metrics.startups.is_none() && tracker.nodes.is_none() {
            return None;
        }
        let Self { labels, numbers, .. } = &mut self;
        let records = records.records.iter();
        let records = records.map(|record| {
            let startup = &record.startup;
            startup.saved_node(|stated| number(labels, numbers, stated))
        });
        let records = records.collect();
        Some(SavedEvidence {
            startups: metrics.startups.clone(),
            pools: metrics.pools.clone(),
            nodes: tracker.nodes.clone(),
            labels: self.labels,
            pods: self.pods,
            records,
        })
    }
}

fn number(
    labels: &mut Vec<Arc<NodeLabels>>,
    numbers: &mut HashMap<Arc<NodeLabels>, u32>,
    stated: &Arc<NodeLabels>,
) -> u32 {
    if let Some(number) = numbers.get(stated) {
        return *number;
    }
    // There are fewer nodes than numbers.
    let number = labels.len() as u32;
    labels.push(Arc::clone(stated));
    numbers.insert(Arc::clone(stated), number);
    number
}

impl SavedEvidence {
    /// Puts everything where it belongs.
    pub(super) fn distribute(
        self,
        metrics: &mut SavedMetrics,
        tracker: &mut SavedTracker,
        records: &mut KeptRecords,
        pods: &mut [SavedPod],
    ) -> Result<(), ContentError> {
        let impossible = |what| ContentError::Impossible(EVIDENCE, what);
        if let Some(nodes) = &self.nodes {
            nodes.check().map_err(impossible)?;
        }
        metrics.startups = self.startups;
        metrics.pools = self.pools;
        metrics.check().map_err(impossible)?;
        metrics.starting_nodes = self.nodes.as_ref().map_or(0, SavedNodes::starting);
        tracker.nodes = self.nodes;
        let nodes = self.pods.into_iter().map(|node| (node.uid, node));
        let nodes: HashMap<PodUid, SavedPodNode> = nodes.collect();
        for pod in pods.iter_mut().filter_map(SavedPod::in_flight_mut) {
            if let Some(node) = nodes.get(&pod.uid()) {
                pod.take_node(node, &self.labels);
            }
        }
        for (record, node) in records.records.iter_mut().zip(&self.records) {
            if let Some(node) = node
                && let Some(startup) = Arc::get_mut(&mut record.startup)
            {
                startup.take_node(node, &self.labels);
            }
        }
        Ok(())
    }
}
