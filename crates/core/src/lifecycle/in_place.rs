//! Changes in place of pods whose startup is over ([§10.3](crate::specification#s10-3)): native
//! resizes, and updates by OpenKruise. They are never a startup.
//!
//! Few pods are changed at a time, so what is open is kept beside the table of the pods, which have
//! no room for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::judgement::{DurationJudgement, Latency};
use super::observation::{ResizeResult, TrackerObservation};
use crate::pod::{
    ConditionStatus, InPlaceChanges, PodResize, PodUid, ResizeState, StatusCondition,
};
use crate::timestamp::Timestamp;

/// A native resize that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenResize {
    /// Its state in the newest snapshot
    pub state: ResizeState,
    /// When it began, where that is known
    pub since: Option<Timestamp>,
    /// It was open when its pod was first seen: it counts in the gauge alone
    pub at_first_sight: bool,
}

/// An update by OpenKruise that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenUpdate {
    /// When `InPlaceUpdateReady` became False, where that is known
    pub since: Option<Timestamp>,
}

/// The open changes of one pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenChanges {
    /// Its native resize
    pub(crate) resize: Option<OpenResize>,
    /// Its update by OpenKruise
    pub(crate) update: Option<OpenUpdate>,
}

/// How a snapshot was delivered, as far as changes in place depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveryView {
    /// The first snapshot of its pod
    pub first: bool,
    /// The instant at which a watch event showed it (`o` in [§4.3](crate::specification#s4-3))
    pub observed: Option<Timestamp>,
}

/// The remembered pods with an open change.
#[derive(Debug, Default)]
pub(super) struct OpenInPlace(BTreeMap<PodUid, OpenChanges>);

impl OpenInPlace {
    /// Takes in the newest snapshot of a pod whose startup is over.
    pub(super) fn see(
        &mut self,
        uid: PodUid,
        changes: Option<&InPlaceChanges>,
        view: DeliveryView,
        emit: &mut impl FnMut(TrackerObservation),
    ) {
        let known = self.0.get(&uid).copied();
        if changes.is_none() && known.is_none() {
            return;
        }
        let mut open = known.unwrap_or_default();
        let changes = changes.copied().unwrap_or_default();
        open.see_resize(changes.resize, view, emit);
        open.see_update(changes.update_ready, emit);
        self.put(uid, open);
    }

    /// Ends the changes of a deleted pod.
    pub(super) fn end(&mut self, uid: PodUid, emit: &mut impl FnMut(TrackerObservation)) {
        let resize = self.0.remove(&uid).and_then(|open| open.resize);
        if let Some(resize) = resize {
            resize.close(emit);
            if !resize.at_first_sight {
                emit(TrackerObservation::ResizeEnded(ResizeResult::Ended));
            }
        }
    }

    /// Drops the pods that are no longer remembered, without a result.
    pub(super) fn retain(
        &mut self,
        mut is_remembered: impl FnMut(PodUid) -> bool,
        emit: &mut impl FnMut(TrackerObservation),
    ) {
        self.0.retain(|uid, open| {
            let remembered = is_remembered(*uid);
            if let (false, Some(resize)) = (remembered, open.resize) {
                resize.close(emit);
            }
            remembered
        });
    }

    /// The open changes of each pod.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PodUid, OpenChanges)> {
        self.0.iter().map(|(uid, open)| (*uid, *open))
    }

    /// Restores the open changes of a saved pod.
    pub(super) fn restore(
        &mut self,
        uid: PodUid,
        open: OpenChanges,
        emit: &mut impl FnMut(TrackerObservation),
    ) {
        let to = open.resize.map(|resize| resize.state);
        emit(TrackerObservation::Resizing { from: None, to });
        self.put(uid, open);
    }

    fn put(&mut self, uid: PodUid, open: OpenChanges) {
        match open == OpenChanges::default() {
            true => _ = self.0.remove(&uid),
            false => _ = self.0.insert(uid, open),
        }
    }
}

impl OpenResize {
    /// Reports that no resize of the pod is open.
    fn close(self, emit: &mut impl FnMut(TrackerObservation)) {
        let from = Some(self.state);
        emit(TrackerObservation::Resizing { from, to: None });
    }
}

impl OpenChanges {
    fn see_resize(
        &mut self,
        now: Option<PodResize>,
        view: DeliveryView,
        emit: &mut impl FnMut(TrackerObservation),
    ) {
        match (self.resize, now) {
            (None, None) => {}
            (None, Some(PodResize { state, since })) => {
                let at_first_sight = view.first;
                self.resize = Some(OpenResize { state, since, at_first_sight });
                let to = Some(state);
                emit(TrackerObservation::Resizing { from: None, to });
            }
            (Some(open), Some(PodResize { state, .. })) if state == open.state => {}
            (Some(open), Some(PodResize { state, .. })) => {
                self.resize = Some(OpenResize { state, ..open });
                let (from, to) = (Some(open.state), Some(state));
                emit(TrackerObservation::Resizing { from, to });
            }
            (Some(open), None) => {
                self.resize = None;
                open.close(emit);
                if open.at_first_sight {
                    return;
                }
                emit(TrackerObservation::ResizeEnded(ResizeResult::Completed));
                // Only a watch event shows when it ended.
                if let Some(latency) = view.observed.and_then(|at| usable(open.since, Some(at))) {
                    emit(TrackerObservation::Resized(latency));
                }
            }
        }
    }

    fn see_update(
        &mut self,
        ready: Option<StatusCondition>,
        emit: &mut impl FnMut(TrackerObservation),
    ) {
        let Some(ready) = ready else { return };
        match ready.status {
            ConditionStatus::False => {
                self.update = Some(OpenUpdate { since: ready.last_transition })
            }
            ConditionStatus::True => {
                let since = self.update.take().and_then(|update| update.since);
                if let Some(latency) = usable(since, ready.last_transition) {
                    emit(TrackerObservation::UpdatedInPlace(latency));
                }
            }
            ConditionStatus::Unknown => {}
        }
    }
}

/// The time between two instants, if it is usable as a duration. What is wrong with one that is not
/// is not counted: anomalies are those of startups.
fn usable(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<Latency> {
    match DurationJudgement::from_times(from, to) {
        DurationJudgement::Usable { latency, .. } => Some(latency),
        DurationJudgement::Unusable(_) => None,
    }
}

#[cfg(test)]
#[path = "in_place_tests.rs"]
mod tests;
