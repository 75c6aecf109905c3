//! Deleted pods and their tombstones ([§5.1](crate::specification#s5-1)).

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::rollouts::{Departure, RolloutPod};
use crate::lifecycle::snapshot_context::SnapshotContext;
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// How long a tombstone is kept.
const TOMBSTONE_NANOS: i64 = 600 * NANOS_PER_SECOND;

impl Tracker {
    /// Whether the tombstone of `uid` is still kept at `now`.
    pub fn has_deleted(&mut self, uid: PodUid, now: Timestamp) -> bool {
        self.drop_old_tombstones(now);
        matches!(self.pods.get(uid), Some(RememberedPod::Deleted { .. }))
    }

    /// Accounts for a DELETED event. Its object is the pod's last snapshot, unless it is an older
    /// version; the pod ends in either case.
    pub(super) fn apply_deleted(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let uid = snapshot.uid;
        if let None | Some(RememberedPod::Deleted { .. }) = self.pods.get(uid) {
            return;
        }
        if let Some(remembered) = self.pods.get_mut(uid) {
            let rollout = remembered.rollout();
            remembered.set_rollout(RolloutPod::GONE);
            self.rollouts.leave(rollout, Departure::seen(snapshot, seen), reporter);
        }
        self.apply_snapshot(snapshot, seen, reporter);
        self.finish(uid, Outcome::Deleted, snapshot.ending.as_deref(), reporter);
        (self.in_place).end(uid, &mut |observation| reporter.tracker(observation));
        self.crashes.remove(uid);
        self.bury(uid, reporter);
    }

    /// The pod is gone, and nobody has said how it ended.
    pub(super) fn vanish(&mut self, uid: PodUid, reporter: &mut TimedObserver<'_, impl Observer>) {
        self.pass_deadlines_of(uid, reporter);
        self.end_unseen(uid, reporter);
        let source = self.pods.get(uid).and_then(RememberedPod::source);
        match source.is_some_and(|source| self.sources.was_restored(source)) {
            // The next list may be of the other history again.
            true => self.bury(uid, reporter),
            false => self.forget(uid, reporter),
        }
    }

    /// The pod ends, and nobody has seen how. It is still remembered.
    pub(super) fn end_unseen(
        &mut self,
        uid: PodUid,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if let Some(remembered) = self.pods.get(uid)
            && let Some(source) = remembered.source()
        {
            let unseen = Departure::unseen(source, reporter.now());
            self.rollouts.leave(remembered.rollout(), unseen, reporter);
        }
        self.finish(uid, Outcome::Vanished, None, reporter);
        (self.in_place).end(uid, &mut |observation| reporter.tracker(observation));
        self.crashes.remove(uid);
    }

    /// Leaves a tombstone of a pod that is not in flight any more.
    pub(super) fn bury(&mut self, uid: PodUid, reporter: &mut TimedObserver<'_, impl Observer>) {
        self.release(uid, reporter);
        let at = reporter.now();
        if let Some(remembered) = self.pods.get_mut(uid) {
            *remembered = RememberedPod::Deleted { created: remembered.created(), at };
            self.tombstones.push_back((at, uid));
        }
    }

    /// Accounts for a snapshot of a pod that was deleted. It is a late duplicate, unless the API server was
    /// restored from a backup: then the pod may exist until it is deleted again.
    pub(super) fn apply_to_tombstone(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        if self.sources.was_restored(seen.source) {
            self.remember_accounted(snapshot, seen, reporter);
        }
    }

    /// Removes the tombstones that are too old at `now`, also those of nodes. Accounted time does not go back,
    /// so they are queued in the order of deletion.
    pub(super) fn drop_old_tombstones(&mut self, now: Timestamp) {
        if let Some(nodes) = &mut self.shared.nodes {
            nodes.drop_old_tombstones(now);
        }
        while let Some((deleted_at, uid)) = self.tombstones.front().copied()
            && now.nanos_since(deleted_at) > TOMBSTONE_NANOS
        {
            self.tombstones.pop_front();
            // A backup may have brought it back, and it may have been deleted once more since.
            if let Some(RememberedPod::Deleted { at, .. }) = self.pods.get(uid)
                && *at == deleted_at
            {
                self.drop_pod(uid);
            }
        }
    }
}
