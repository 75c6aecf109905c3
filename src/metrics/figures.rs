//! What the live page shows of the metrics: plain values of one moment.

use std::sync::Arc;

use podinit_core::lifecycle::{Interval, NetworkEvidence, Outcome, Selection, Stage, WaitReason};

const STAGES: usize = Stage::ALL.len();

/// Counts of pods, those of an earlier process included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
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

/// An SLO and its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SloFigures {
    pub name: Arc<str>,
    /// Between 0 and 1
    pub objective_ratio: f64,
    pub interval: Interval,
    pub threshold_seconds: f64,
    /// The startups that count
    pub selection: Selection,
    pub good: u64,
    pub bad: u64,
}

impl Figures {
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
}
