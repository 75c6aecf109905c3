//! What the live page shows of the metrics: plain values of one moment.

use super::Exposition;
use crate::metrics::node_families::NodeMetrics;
use crate::metrics::slo::SloFigures;
use podinit_core::lifecycle::{NetworkEvidence, Outcome, Stage, WaitReason};

const STAGES: usize = Stage::ALL.len();

/// Counts of pods, those of an earlier process included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodFigures {
    /// Pods in flight by stage and cause, without zeros
    pub waiting: Vec<(WaitReason, u64)>,
    /// How many of them are stuck, by stage
    pub stuck: [u64; STAGES],
    /// Pods that have finished, by outcome
    pub finished: [u64; Outcome::ALL.len()],
    /// Pods whose network became ready, by what gave the time
    pub network_evidence: [u64; NetworkEvidence::ALL.len()],
    pub slos: Vec<SloFigures>,
    /// Nodes that have been starting for too long ([§14.7](crate::specification#s14-7)); none where they are not read
    pub late_nodes: u64,
}

impl PodFigures {
    /// Pods in flight, by stage.
    pub fn in_flight(&self) -> [u64; STAGES] {
        let mut stages = [0; STAGES];
        for (waiting, pods) in &self.waiting {
            stages[waiting.stage() as usize] += pods;
        }
        stages
    }

    /// Pods that have become ready.
    pub const fn ready(&self) -> u64 {
        self.finished[Outcome::Ready as usize]
    }

    /// Pods that have failed or were rejected.
    pub const fn failed(&self) -> u64 {
        self.finished[Outcome::Failed as usize] + self.finished[Outcome::Rejected as usize]
    }
}

impl Exposition {
    /// The present figures. Costs little, whatever the number of pods and label sets.
    pub fn figures(&self) -> PodFigures {
        let store = &self.store;
        let counts = store.pod_counts.snapshot();
        let mut waiting = [0; WaitReason::COUNT];
        for cells in counts.waiting.iter().flatten() {
            waiting.iter_mut().zip(cells).for_each(|(sum, pods)| *sum += pods);
        }
        let mut stuck = [0; STAGES];
        for place in 0..counts.waiting.len() {
            let cells = store.stuck.snapshot_at(place);
            for (waiting, pods) in WaitReason::ALL.into_iter().zip(cells) {
                stuck[waiting.stage() as usize] += pods;
            }
        }
        let evidence = |source| store.pods.network_evidence.with(source).get();
        PodFigures {
            waiting: WaitReason::ALL
                .into_iter()
                .zip(waiting)
                .filter(|(_, pods)| *pods > 0)
                .collect(),
            stuck,
            finished: counts.finished,
            network_evidence: std::array::from_fn(|index| evidence(NetworkEvidence::ALL[index])),
            slos: self.slos.figures(),
            late_nodes: (store.nodes.as_ref()).map_or(0, NodeMetrics::late),
        }
    }
}
