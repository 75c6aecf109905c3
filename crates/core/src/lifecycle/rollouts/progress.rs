//! A rollout in progress, as people are told of it ([§17.5](crate::specification#s17-5)).

use super::ending_pods::EndingPod;
use super::held_time::HeldNanos;
use super::rollout::RolloutHolder;
use super::standing::StandingPods;
use super::workload_pods::{RolloutWorkload, WorkloadPods};
use crate::timestamp::Timestamp;

/// A rollout in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutProgress {
    /// What rolls out
    pub workload: RolloutWorkload,
    /// The pods of the new revision
    pub new: StandingPods,
    /// The pods of the other revisions
    pub others: StandingPods,
    /// How many pods are wanted
    pub wanted: u32,
    /// When it began; a guess if it was found in progress
    pub began: Timestamp,
    /// A first list has shown it in progress ([§17.4](crate::specification#s17-4))
    pub found: bool,
    /// What holds it
    pub held_by: RolloutHolder,
    /// Since when that has
    pub held_since: Timestamp,
    /// For how long each has held it
    pub held: HeldNanos,
    /// When a pod of the new revision last became Ready; its begin before the first
    pub last_ready: Timestamp,
    /// When a pod last changed
    pub changed: Timestamp,
    /// Why the pod of the new revision that was last seen down is not Ready, in the words of Kubernetes
    pub said_of_down: Option<Box<str>>,
    /// The pods of other revisions that hold it because they are ending, as far as it has seen them begin to end; the
    /// first first
    pub ending: Vec<EndingPod>,
}

impl RolloutProgress {
    pub(super) fn of(workload: &WorkloadPods) -> Option<Self> {
        let rollout = workload.rollout.as_deref()?;
        let is_held_by_ending = rollout.holder == RolloutHolder::Ending;
        Some(Self {
            workload: workload.name.clone(),
            new: workload.of(rollout.new),
            others: workload.of_others(rollout.new),
            wanted: rollout.wanted,
            began: rollout.began,
            found: rollout.found,
            held_by: rollout.holder,
            held_since: rollout.held_since,
            held: rollout.held,
            last_ready: rollout.last_ready,
            changed: rollout.changed,
            said_of_down: rollout.said_of_down.clone(),
            ending: if is_held_by_ending { rollout.ending.all() } else { Vec::new() },
        })
    }

    /// The pods that may hold it ([§17.3](crate::specification#s17-3)).
    pub const fn holding(&self) -> StandingPods {
        StandingPods::holding(self.new, self.others)
    }
}
