//! The looks at a watched recording before its end ([§13.7](crate::specification#s13-7)): what is told of its end keeps
//! what `serve` would have found out by then.
//!
//! ```text
//! documents ─▶ replay ─┬─ each minute ─▶ finding ─▶ OverTime ─┐
//!                      └─ end ───────────────────▶ finding ───┴─▶ problems
//! ```

use std::time::Duration;

use super::kept::KeptStartups;
use crate::rollouts::RolloutParts;
use podinit_core::lifecycle::{Outcome, Record, Tracker};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_problems::{OverTime, ProblemFinding};

/// The recorded time between two looks.
const EVERY: Duration = Duration::from_secs(60);

/// A document pays for this many pods of a look, so that looks take less time than reading.
const PODS_OF_A_DOCUMENT: usize = 4;

/// What the looks so far have found out.
#[derive(Debug, Default)]
pub(super) struct EarlierLooks {
    pub over_time: OverTime,
    /// When the recording begins. Looks are whole minutes later
    began: Option<Timestamp>,
    /// How many pods the last look had
    pods: usize,
    /// How many documents of pods came since then
    documents: usize,
}

impl EarlierLooks {
    /// The instants to look at what is known at `known`, before what happens at `next`. Of those between which nothing
    /// is delivered they are the first and the last.
    fn due(&mut self, known: Timestamp, next: Timestamp) -> Vec<Timestamp> {
        self.documents += 1;
        let began = *self.began.get_or_insert(known);
        let every = EVERY.as_nanos() as i64;
        let first = known.nanos_since(began).div_euclid(every)
            + i64::from(known.nanos_since(began).rem_euclid(every) > 0);
        let last = (next.nanos_since(began) - 1).div_euclid(every);
        if first > last || self.documents * PODS_OF_A_DOCUMENT < self.pods {
            return Vec::new();
        }
        let mut due = vec![first, last];
        due.dedup();
        due.into_iter().map(|minute| began.plus_nanos(minute * every)).collect()
    }
}

impl KeptStartups {
    /// Looks at what `tracker` has accounted for, if a look is due before what happens at `next`.
    pub(super) fn look(&mut self, tracker: &Tracker, next: Timestamp) {
        let Some(known) = tracker.accounted_time().filter(|known| *known > Timestamp::EPOCH) else {
            return;
        };
        for at in self.looks.due(known, next) {
            let rollouts = &mut RolloutParts::default();
            let earlier = &self.looks.over_time;
            let finding = self.finding(tracker, earlier, rollouts, at, |_| true);
            let found = finding.finish(&mut self.looks.over_time);
            (self.looks.pods, self.looks.documents) = (found.pods.len(), 0);
        }
    }

    /// The finding at `now` of those pods of `tracker` that count, after earlier ones. They are compared with all that
    /// became ready. Those that hold a rollout are also of one of `rollouts`.
    pub(super) fn finding(
        &self,
        tracker: &Tracker,
        earlier: &OverTime,
        rollouts: &mut RolloutParts,
        now: Timestamp,
        counts: impl Fn(PodUid) -> bool,
    ) -> ProblemFinding {
        let mut newest = self.newest_records(tracker);
        newest.retain(|record| {
            let is_well = record.outcome() == Some(Outcome::Ready) && record.relapse.is_none();
            is_well || counts(record.uid)
        });
        let finding = ProblemFinding::new(&newest, now);
        let mut finding = finding.with_faults(&tracker.node_faults()).after(earlier);
        let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod);
        for pod in in_flight.filter(|pod| counts(pod.uid())) {
            rollouts.add(&mut finding, &pod.record(), tracker.holds_rollout(pod));
        }
        finding
    }

    /// The records of the newest startups that have ended.
    pub(super) fn newest_records(&self, tracker: &Tracker) -> Vec<Record> {
        self.newest.iter().map(|startup| tracker.record_of(startup)).collect()
    }
}

#[cfg(test)]
#[path = "looks_tests.rs"]
mod tests;
