//! Pods that crash right after they were ready, for whoever asks ([§13.11](crate::specification#s13-11)).

use super::Tracker;
use crate::lifecycle::record::{EndedStartup, Record, RecordedRelapse};
use crate::pod::PodUid;

impl Tracker {
    /// How a pod crashes that became ready lately; `None` of any other.
    pub fn relapse(&self, uid: PodUid) -> Option<RecordedRelapse> {
        self.crashes.get(uid, self.now?)
    }

    /// The record of a startup that has ended, as of now.
    pub fn record_of(&self, startup: &EndedStartup) -> Record {
        let relapse = startup.became_ready().and_then(|_| self.relapse(startup.uid()));
        Record { relapse: relapse.map(Box::new), ..startup.record() }
    }

    /// Looks from now on whether the pods of `startups` crash, as far as they became ready. These ended before the
    /// process began.
    pub fn look_after<'a>(&mut self, startups: impl Iterator<Item = &'a EndedStartup>) {
        for startup in startups {
            if let Some(ready) = startup.became_ready() {
                self.crashes.add(startup.uid(), ready);
            }
        }
    }
}

#[cfg(test)]
#[path = "crashes_tests.rs"]
mod tests;
