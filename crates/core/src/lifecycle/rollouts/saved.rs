//! From rollouts to their saved form, and back. How many pods stand how is counted anew from the pods.

use serde::{Deserialize, Serialize};

use super::observation::RolloutObservation;
use super::rollout::Rollout;
use super::standing::RolloutPod;
use super::workload_pods::{RecentChanges, RolloutWorkload, WorkloadPods};
use super::{ObserveRollouts, Rollouts};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::sources::SourceSuccessor;
use crate::pod::Revision;
use crate::timestamp::Timestamp;

/// What a checkpoint holds of rollouts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedRollouts {
    workloads: Vec<SavedWorkload>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedWorkload {
    place: u16,
    name: RolloutWorkload,
    source: SourceId,
    own: Revision,
    #[serde(default)]
    generation: u16,
    #[serde(default)]
    oldest: Vec<(Revision, u32)>,
    #[serde(default)]
    empty_since: Option<Timestamp>,
    #[serde(default)]
    recent: Option<Box<RecentChanges>>,
    #[serde(default)]
    rollout: Option<Box<Rollout>>,
    #[serde(default)]
    divided: Timestamp,
}

impl Rollouts {
    /// The saved form.
    pub(in crate::lifecycle) fn saved(&self) -> SavedRollouts {
        let workloads = self.workloads.iter().map(|(place, workload)| SavedWorkload {
            place,
            name: workload.name.clone(),
            source: workload.source,
            own: workload.own,
            generation: workload.generation,
            oldest: workload.revisions().iter().map(|pods| (pods.revision, pods.oldest)).collect(),
            empty_since: workload.empty_since,
            recent: workload.recent.clone(),
            rollout: workload.rollout.clone(),
            divided: workload.divided,
        });
        SavedRollouts { workloads: workloads.collect() }
    }

    /// Goes on from what was saved, before its pods are [counted](Rollouts::restore_pod).
    pub(in crate::lifecycle) fn restore(
        &mut self,
        saved: SavedRollouts,
        successor: impl Fn(SourceId) -> SourceSuccessor,
    ) {
        if self.is_off {
            return;
        }
        for saved in saved.workloads {
            let source = match successor(saved.source) {
                SourceSuccessor::Same(source) | SourceSuccessor::SelectionChanged(source) => source,
                SourceSuccessor::Gone => saved.source,
            };
            let mut workload = WorkloadPods::new(saved.name, source, saved.own);
            workload.generation = saved.generation;
            workload.expect(saved.oldest);
            workload.empty_since = saved.empty_since;
            workload.recent = saved.recent;
            workload.rollout = saved.rollout;
            workload.divided = saved.divided;
            self.workloads.restore(saved.place, workload);
        }
    }

    /// Counts a pod of the checkpoint. A pod whose workload is not there has no part until it is seen again.
    pub(in crate::lifecycle) fn restore_pod(&mut self, pod: RolloutPod) -> RolloutPod {
        let Some(live) = pod.live() else { return pod };
        match self.workloads.get_mut(live.workload) {
            Some(workload) => {
                // The oldest creation is that of the checkpoint.
                workload.count_in(live, u32::MAX);
                pod
            }
            None => RolloutPod::NONE,
        }
    }

    /// All pods of the checkpoint are counted, which was made at `now`.
    pub(in crate::lifecycle) fn restored(&mut self, now: Timestamp, to: &mut impl ObserveRollouts) {
        let places: Vec<u16> = self.workloads.iter().map(|(place, _)| place).collect();
        for place in places {
            if let Some(workload) = self.workloads.get_mut(place) {
                workload.drop_empty_revisions(now);
                to.rollout(&workload.name, RolloutObservation::Entered);
                if let Some(rollout) = &workload.rollout {
                    self.in_progress.insert(place);
                    let held = RolloutObservation::Held { from: None, to: Some(rollout.holder) };
                    to.rollout(&workload.name, held);
                }
            }
            self.set_due(place);
        }
    }
}
