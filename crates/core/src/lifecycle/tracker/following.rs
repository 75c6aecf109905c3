//! Pods that are followed after they became ready, until a milestone of your own comes
//! ([§16.5](crate::specification#s16-5)).

use super::Tracker;
use super::remembered_pod::{FinishedPod, RememberedPod};
use crate::lifecycle::followed::{FollowedPod, UnfollowReason};
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::pod_in_flight::SharedState;
use crate::lifecycle::slo_verdict::SloId;
use crate::lifecycle::snapshot_context::SnapshotContext;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

impl Tracker {
    /// Follows a pod that has just become ready, if it has something to follow. If too many are followed, the one that
    /// became ready first is dropped.
    pub(super) fn begin_following(
        &mut self,
        uid: PodUid,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let ready = self.change_followed(uid, |pod, shared| {
            pod.set_timers(uid, shared);
            pod.ready
        });
        if let Some(displaced) = ready.and_then(|ready| self.followed.insert(ready, uid)) {
            self.leave(displaced, UnfollowReason::Displaced, reporter);
        }
    }

    /// Accounts for the newest snapshot of a pod that may be followed.
    pub(super) fn follow(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if self.followed.len() > 0 {
            self.change_and_tell(snapshot.uid, reporter, |pod, shared, reporter| {
                pod.fold(snapshot, seen, shared, reporter)
            });
        }
    }

    /// Stops following a pod, if it is followed.
    pub(super) fn leave(
        &mut self,
        uid: PodUid,
        left: UnfollowReason,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        self.change_and_tell(uid, reporter, |pod, shared, reporter| {
            pod.leave(left, shared, reporter)
        });
    }

    /// Reports what has passed of a pod that may be followed.
    pub(super) fn pass_followed(
        &mut self,
        uid: PodUid,
        missed: Option<SloId>,
        until: Timestamp,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        self.change_and_tell(uid, reporter, |pod, shared, reporter| {
            pod.pass(missed, until, shared, reporter)
        });
    }

    /// Changes a followed pod, and amends its record if `change` returns true.
    fn change_and_tell<'a, O: Observer>(
        &mut self,
        uid: PodUid,
        reporter: &mut TimedObserver<'a, O>,
        change: impl FnOnce(&mut FollowedPod, &mut SharedState, &mut TimedObserver<'a, O>) -> bool,
    ) {
        let amendment = self.change_followed(uid, |pod, shared| {
            change(pod, shared, reporter).then(|| pod.amendment(&shared.rules))
        });
        if let Some(amendment) = amendment.flatten() {
            reporter.amended(uid, &amendment);
        }
    }

    /// Changes a followed pod, and stops following it once no milestone is left. `None` of any other pod.
    pub(super) fn change_followed<R>(
        &mut self,
        uid: PodUid,
        change: impl FnOnce(&mut FollowedPod, &mut SharedState) -> R,
    ) -> Option<R> {
        let is_followed = |pod: &RememberedPod| match pod {
            RememberedPod::Finished(finished) => finished.followed().is_some(),
            RememberedPod::InFlight(_) | RememberedPod::Deleted { .. } => false,
        };
        // While the pods are being saved, each that is asked for to change it is copied.
        self.pods.get(uid).filter(|pod| is_followed(pod))?;
        let Some(RememberedPod::Finished(finished)) = self.pods.get_mut(uid) else {
            return None;
        };
        let pod = finished.followed_mut()?;
        let done = change(pod, &mut self.shared);
        if !pod.is_open() {
            self.followed.remove(pod.ready, uid);
            *finished = FinishedPod::new(finished.last_seen(), finished.ready());
        }
        Some(done)
    }
}

#[cfg(test)]
#[path = "following_tests.rs"]
mod tests;
