//! Pods that fall back after they were Ready: how many ([§5.10](crate::specification#s5-10)), and which crash, for
//! whoever asks ([§13.11](crate::specification#s13-11)).

use super::Tracker;
use super::remembered_pod::{FinishedPod, RememberedPod};
use crate::lifecycle::crashes::is_recent;
use crate::lifecycle::followed::FollowedPod;
use crate::lifecycle::observation::{TimedObserver, TrackerObservation};
use crate::lifecycle::observer::Observer;
use crate::lifecycle::outcome::Outcome;
use crate::lifecycle::pod_in_flight::{PodInFlight, SharedState};
use crate::lifecycle::record::{EndedStartup, Record, RecordedRelapse};
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

impl FinishedPod {
    /// What is remembered of `pod`, which ended at `now`.
    pub(super) fn from_pod(
        pod: &PodInFlight,
        outcome: Outcome,
        now: Timestamp,
        shared: &SharedState,
    ) -> Self {
        let since = pod.ready_at(now);
        let ready = (outcome == Outcome::Ready && is_recent(since, now)).then_some(since);
        Self::following(pod.last_seen, ready, FollowedPod::from_pod(pod, outcome, since, shared))
    }
}

impl Tracker {
    /// Accounts for the newest snapshot of a pod that may relapse.
    pub(super) fn see_relapse(
        &mut self,
        snapshot: &PodSnapshot,
        reporter: &mut TimedObserver<'_, impl Observer>,
    ) {
        let now = reporter.now();
        let remembered = self.pods.get(snapshot.uid);
        let Some(RememberedPod::Finished(finished)) = remembered else {
            return;
        };
        let Some(ready) = finished.ready() else {
            return;
        };
        let relapses = snapshot.crashing_container().is_some() && is_recent(ready, now);
        if relapses {
            reporter.tracker(TrackerObservation::Relapsed);
        }
        if (relapses || !is_recent(ready, now))
            && let Some(RememberedPod::Finished(finished)) = self.pods.get_mut(snapshot.uid)
        {
            finished.update(finished.last_seen(), None);
        }
    }

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
#[path = "relapses_tests.rs"]
mod tests;
