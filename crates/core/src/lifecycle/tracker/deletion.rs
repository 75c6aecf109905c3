//! Deleted pods and their tombstones ([§5.1](crate::specification#s5-1)).

use super::Tracker;
use super::remembered_pod::RememberedPod;
use crate::lifecycle::classification::SnapshotOrigin;
use crate::lifecycle::observation::Reporter;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::seen::Seen;
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
        seen: &Seen,
        reporter: &mut Reporter<'_, impl Observer>,
    ) {
        let uid = snapshot.uid;
        let created = match self.pods.get(uid) {
            None | Some(RememberedPod::Deleted { .. }) => return,
            Some(remembered) => remembered.created(),
        };
        self.apply_snapshot(snapshot, seen, reporter);
        self.finish(uid, Outcome::Deleted, snapshot.ending.as_deref(), reporter);
        (self.in_place).end(uid, &mut |observation| reporter.tracker(observation));
        self.crashes.remove(uid);
        self.release(uid, reporter);
        let at = seen.now;
        self.pods.insert(uid, RememberedPod::Deleted { created, at });
        self.tombstones.push_back((at, uid));
    }

    /// Accounts for a snapshot of a pod that was deleted. It is a late duplicate, unless the list
    /// after a restore from a backup brings it: then the pod exists until it is deleted again.
    pub(super) fn apply_to_tombstone(
        &mut self,
        snapshot: &PodSnapshot,
        seen: &Seen,
        reporter: &mut Reporter<'_, impl Observer>,
    ) {
        if let SnapshotOrigin::Restored { .. } = seen.origin {
            self.remember_accounted(snapshot, seen, reporter);
            self.see_in_place(snapshot, seen, true, reporter);
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
                self.pods.remove(uid);
            }
        }
    }
}
