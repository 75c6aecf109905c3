//! Reads the figures of the live page from the metrics.

use super::Exposition;
use crate::metrics::figures::Figures;
use crate::metrics::node_families::NodeMetrics;
use podinit_core::lifecycle::{NetworkEvidence, Stage, WaitReason};

const STAGES: usize = Stage::ALL.len();

impl Exposition {
    /// The present figures. Costs little, whatever the number of pods and label sets.
    pub fn figures(&self) -> Figures {
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
        Figures {
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
