//! Completed lists ([§5.4](crate::specification#s5-4), [§5.5](crate::specification#s5-5)).

use super::Tracker;
use crate::lifecycle::cause::depends_on_others;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::observation::TimedObserver;
use crate::lifecycle::observer::Observer;
use crate::lifecycle::snapshot_context::SnapshotContext;
use crate::lifecycle::table::SlotSet;
use crate::pod::packed::PackedPods;
use crate::pod::{PodSnapshot, PodUid};

impl Tracker {
    /// Accounts for a completed list: applies every snapshot in it, then removes the known pods
    /// that are absent, but for those of later versions than `until`. Frees the memory of the list on the way, so that the pods of a large
    /// cluster are not held twice. Pods whose cause depends on whether others are bound come last.
    pub(super) fn apply_list(
        &mut self,
        pods: PackedPods,
        until: Option<u64>,
        seen: &SnapshotContext,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let mut listed = SlotSet::default();
        let mut last = Vec::new();
        let mut apply = |tracker: &mut Self, snapshot: &PodSnapshot| {
            if let Some(until) = until {
                tracker.compare_histories(snapshot, seen.source, until);
            }
            tracker.apply_snapshot(snapshot, seen, reporter);
            tracker.insert_slot(snapshot.uid, &mut listed);
        };
        for snapshot in pods {
            self.shared.revisions.see(&snapshot);
            match depends_on_others(&snapshot) {
                true => last.push(snapshot),
                false => apply(self, &snapshot),
            }
        }
        last.iter().for_each(|snapshot| apply(self, snapshot));
        self.remove_absent(seen.source, &listed, until, reporter);
    }

    /// A list of version `until` that shows an older version of a pod than one that it must know is of another history:
    /// the API server was restored from a backup, and its versions have caught up.
    fn compare_histories(&mut self, snapshot: &PodSnapshot, source: SourceId, until: u64) {
        if let Some(remembered) = self.pods.get_mut(snapshot.uid)
            && let known = remembered.newest_version()
            && known <= until
            && snapshot.resource_version.is_some_and(|version| version < known)
        {
            remembered.forget_version();
            self.sources.roll_back(source);
        }
    }

    /// Removes the known pods of `source` that are not in a completed list of these pods.
    pub(super) fn close_list(
        &mut self,
        source: SourceId,
        pods: Vec<PodUid>,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let mut listed = SlotSet::default();
        for uid in pods {
            self.insert_slot(uid, &mut listed);
        }
        self.remove_absent(source, &listed, None, reporter);
    }

    fn insert_slot(&self, uid: PodUid, listed: &mut SlotSet) {
        if let Some(slot) = self.pods.slot(uid) {
            listed.insert(slot);
        }
    }

    /// Ends the pods of `source` whose slots are not in `listed`, if they are in flight, and forgets them.
    /// While a list is applied only its pods get slots, so that each slot in `listed` has a pod of the list.
    fn remove_absent(
        &mut self,
        source: SourceId,
        listed: &SlotSet,
        until: Option<u64>,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let absent: Vec<PodUid> = self
            .pods
            .slots()
            .filter(|(slot, _, remembered)| {
                let is_concerned = |until| (1..=until).contains(&remembered.newest_version());
                remembered.source() == Some(source)
                    && !listed.contains(*slot)
                    && until.is_none_or(is_concerned)
            })
            .map(|(_, uid, _)| uid)
            .collect();
        for uid in absent {
            self.vanish(uid, reporter);
        }
    }
}
