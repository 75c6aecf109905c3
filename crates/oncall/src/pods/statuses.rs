//! What the statuses of pods say that records do not have: whether a pod had lost when it started up by the
//! time at which it was first seen, and how it ended.

use std::collections::HashMap;

use crate::explain::ExplainTarget;
use podinit_core::lifecycle::LostStartup;
use podinit_core::pod::{ConditionStatus, ConditionType, Ending, PodPhase, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::RecordingDocument;

/// The statuses of the pods of a recording, by UID ([§2.3](crate::specification#s2-3)).
#[derive(Default)]
pub(super) struct PodStatuses {
    /// Of the pods of the target, and of those that had lost when they started up
    first: HashMap<PodUid, FirstSight>,
    /// How the pods of the target ended
    endings: HashMap<PodUid, Ending>,
}

/// What the first snapshot of a pod shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstSight {
    /// Why its status no longer says when it started up
    pub lost: Option<LostStartup>,
    /// A report sets it aside for that: its startup was over
    pub(crate) is_set_aside: bool,
    /// It had ended
    pub has_ended: bool,
    /// A list showed it as bound, so its waits before that are unknown
    pub(super) was_bound: bool,
    /// A list showed that it crashes after it was ready, and since when ([§13.11](crate::specification#s13-11))
    pub(super) crashes_since: Option<Timestamp>,
}

impl PodStatuses {
    /// Reads how the pods of a document ended.
    pub(super) fn read(&mut self, document: &RecordingDocument, target: &ExplainTarget) {
        document.rare_snapshots().for_each(|pod| self.add_ending(pod, target));
    }

    /// Reads the status of a pod of a list.
    pub(super) fn add(&mut self, pod: &PodSnapshot, target: &ExplainTarget) {
        self.add_first(pod, target, true);
        self.add_ending(pod, target);
    }

    /// Reads the first snapshot of a pod, of a list or not.
    pub(super) fn add_first(&mut self, pod: &PodSnapshot, target: &ExplainTarget, is_listed: bool) {
        let lost = LostStartup::from_snapshot(pod);
        // Nothing else is asked of other pods.
        if lost.is_none() && !target.fits(&pod.info) {
            return;
        }
        self.first.entry(pod.uid).or_insert_with(|| {
            let scheduled = pod.conditions.holding(ConditionType::PodScheduled);
            FirstSight {
                lost,
                is_set_aside: lost.is_some() && pod.has_started_up(),
                has_ended: pod.phase != PodPhase::Active,
                was_bound: is_listed && scheduled.is_some(),
                crashes_since: crashes_since(pod).filter(|_| is_listed),
            }
        });
    }

    fn add_ending(&mut self, pod: &PodSnapshot, target: &ExplainTarget) {
        if let Some(ending) = pod.ending.as_deref()
            && target.fits(&pod.info)
        {
            self.endings.insert(pod.uid, ending.clone());
        }
    }

    /// What the first snapshot of a pod showed.
    pub(super) fn first(&self, uid: PodUid) -> FirstSight {
        self.first.get(&uid).copied().unwrap_or_default()
    }

    /// How a pod of the target ended; `None` where its status does not say.
    pub(super) fn ending(&self, uid: PodUid) -> Option<Ending> {
        self.endings.get(&uid).cloned()
    }
}

/// Since when a pod that has been ready waits with CrashLoopBackOff.
fn crashes_since(pod: &PodSnapshot) -> Option<Timestamp> {
    let ready = pod.conditions.get(ConditionType::Ready);
    let unready = ready.filter(|ready| ready.status == ConditionStatus::False)?;
    let crashes = pod.phase == PodPhase::Active && pod.crashing_container().is_some();
    unready.last_transition.filter(|_| crashes && pod.has_started_up())
}
