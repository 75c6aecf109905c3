//! Interruptions: time that passed while nobody watched, a corrected clock, and an API server that
//! was restored from a backup.

use super::{DeliveryContext, Record, SnapshotOrigin, Tracker};
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::last_seen::LastSeen;
use crate::lifecycle::reentry::ReentryBaseline;
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

impl Tracker {
    /// Time has passed unattended until `now`, as when the process was stopped: for as long as what
    /// happened meanwhile may still be on its way, no deadline passes.
    pub fn catch_up(&mut self, now: Timestamp) {
        let now = self.not_before(now);
        self.sources.catch_up(now);
    }

    /// The clock that accounted time is told by was put right, and says `now`: accounted time goes
    /// on from there, even if that lies behind it. It is no time that has passed, so for a while no
    /// deadline does.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = Some(now);
        for (deleted_at, uid) in &mut self.deleted {
            *deleted_at = now.min(*deleted_at);
            if let Some(Record::Deleted { at, .. }) = self.pods.get_mut(*uid) {
                *at = now.min(*at);
            }
        }
        self.sources.set_time(now);
    }

    /// Whether accounted time lies after `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.now.is_some_and(|latest| latest > now)
    }

    /// The versions known of the pods of `source` are of another history. What was latched and
    /// counted stays so; a pod that the backup does not hold will be absent from the list.
    pub(super) fn roll_back(&mut self, source: SourceId) {
        self.sources.roll_back(source);
        for record in self.pods.values_mut() {
            match record {
                Record::InFlight(pod) if pod.last_seen.source == source => {
                    pod.last_seen.forget_version()
                }
                Record::Finished(kept) if kept.last_seen().source == source => {
                    let mut last_seen = kept.last_seen();
                    last_seen.forget_version();
                    *kept = last_seen.into();
                }
                _ => {}
            }
        }
    }

    /// Sees a pod that was deleted: a late duplicate, unless a backup brought it back. Then it
    /// stands until it is deleted again.
    pub(super) fn see_deleted(&mut self, snapshot: &PodSnapshot, delivery: &DeliveryContext) {
        if let SnapshotOrigin::Restored { .. } = delivery.origin {
            self.remember(snapshot, delivery);
        }
    }

    /// Remembers a pod whose startup was accounted for before a backup brought it back. It was
    /// counted then, so nothing of it is now.
    pub(super) fn remember(&mut self, snapshot: &PodSnapshot, delivery: &DeliveryContext) {
        let mut last_seen = LastSeen::new(snapshot, delivery.source, delivery.now);
        last_seen.accept(snapshot, ReentryBaseline::Latest, &mut |_| {});
        (self.pods).insert(snapshot.uid, Record::Finished(last_seen.into()));
    }
}

#[cfg(test)]
#[path = "interruptions_tests.rs"]
mod tests;
