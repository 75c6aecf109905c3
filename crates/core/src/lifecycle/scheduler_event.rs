//! When a scheduler bound a pod, by its Event `Scheduled` ([§4.8](crate::specification#s4-8)). That sharpens the time
//! of Scheduled within the second of the condition, and is never needed.

use super::estimate::{TimeEstimate, TimestampMode};
use super::interval::{Interval, IntervalEnd, IntervalStart};
use super::milestone::Milestone;
use super::reached::Reached;
use super::startup::Startup;
use crate::timestamp::Timestamp;

impl Startup {
    /// Takes the time `at` of the Event `Scheduled`. Returns whether this moves the beginning of intervals that begin
    /// with Scheduled.
    pub(super) fn take_scheduler_event(&mut self, at: Timestamp, mode: TimestampMode) -> bool {
        if mode == TimestampMode::Api {
            return false;
        }
        let latched = &mut self.times[Milestone::Scheduled as usize];
        if !self.reached.contains(Milestone::Scheduled) {
            latched.get_or_insert(at);
            return false;
        }
        let sharpens = latched.is_some_and(|latched| is_same_second(at, latched))
            && !self.is_sharpened()
            && !self.has_ended_since_scheduled();
        if sharpens {
            self.kept_evidence = Some(at);
        }
        sharpens
    }

    /// Latches Scheduled by its condition: at the estimate, or at the time of an earlier Event.
    pub(super) fn latch_scheduled(&mut self, estimate: TimeEstimate) {
        let told = self.times[Milestone::Scheduled as usize];
        let sharper = told.filter(|told| estimate.at.is_some_and(|at| is_same_second(*told, at)));
        self.kept_evidence = sharper;
        self.reach(Milestone::Scheduled, sharper.or(estimate.at));
    }

    /// The time of Scheduled for intervals that begin with it. Intervals that end with it use the latched time.
    pub(super) fn bound(&self) -> Reached {
        match self.reached(Milestone::Scheduled) {
            Reached::At(latched) => Reached::At(latched.map(|at| self.kept_evidence.unwrap_or(at))),
            Reached::No => Reached::No,
        }
    }

    /// Whether an Event gave the time of Scheduled.
    pub(super) fn is_sharpened(&self) -> bool {
        self.reached.contains(Milestone::Scheduled) && self.kept_evidence.is_some()
    }

    /// Whether an interval that begins with Scheduled has ended: it is not judged again.
    fn has_ended_since_scheduled(&self) -> bool {
        let mut ends =
            Interval::ALL.into_iter().filter(|interval| begins_with_scheduled(*interval));
        ends.any(|interval| match interval.definition().to {
            IntervalEnd::At(milestone) => self.reached(milestone).is_reached(),
            IntervalEnd::Node(_) => false,
        })
    }
}

/// Whether the interval begins when the pod is Scheduled.
pub(super) fn begins_with_scheduled(interval: Interval) -> bool {
    matches!(interval.definition().from, IntervalStart::At(Milestone::Scheduled))
}

fn is_same_second(one: Timestamp, other: Timestamp) -> bool {
    one.truncate_to_second() == other.truncate_to_second()
}
