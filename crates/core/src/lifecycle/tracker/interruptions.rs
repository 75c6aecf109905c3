//! Interruptions: time in which the process did not run, a corrected clock, and an API server that was
//! restored from a backup.

use super::{RememberedPod, Tracker};
use crate::lifecycle::delivery::SourceId;
use crate::timestamp::Timestamp;

impl Tracker {
    /// States that `source` is going to be watched, and is not in sync from `now` on.
    pub fn expect(&mut self, source: SourceId, now: Timestamp) {
        self.sources.expect(source, now);
        self.shared.lags.out_of_sync(source);
    }

    /// States that nothing was accounted for until `now`, as when the process was stopped. No
    /// deadline passes for as long as deliveries from that time may still arrive.
    pub fn catch_up(&mut self, now: Timestamp) {
        let now = self.not_before(now);
        self.sources.catch_up(now);
        self.overdue.forget();
    }

    /// States that the clock behind accounted time was corrected and now reads `now`. Accounted time
    /// continues from there, even if that is earlier. The jump is not elapsed time, so for a while no
    /// deadline passes.
    pub fn set_time(&mut self, now: Timestamp) {
        self.now = Some(now);
        self.overdue.forget();
        for (deleted_at, uid) in &mut self.tombstones {
            *deleted_at = now.min(*deleted_at);
            if let Some(RememberedPod::Deleted { at, .. }) = self.pods.get_mut(*uid) {
                *at = now.min(*at);
            }
        }
        self.sources.set_time(now);
        self.shared.matches.set_time(now);
        self.shared.clocks.clear();
        self.shared.lags.clear();
    }

    /// Whether accounted time lies after `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.now.is_some_and(|latest| latest > now)
    }

    /// Forgets the versions of the pods of `source`, because they belong to another history. What was
    /// latched and counted stays. Pods that the backup does not hold will be absent from the list.
    pub(super) fn roll_back(&mut self, source: SourceId) {
        self.sources.roll_back(source);
        let of_source = |pod: &&mut RememberedPod| pod.source() == Some(source);
        (self.pods.values_mut()).filter(of_source).for_each(RememberedPod::forget_version);
    }
}

#[cfg(test)]
#[path = "interruptions_tests.rs"]
mod tests;
