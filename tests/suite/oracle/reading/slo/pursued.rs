//! What is asked of the interval of an SLO, be it one of all pods or one of a milestone of your own
//! ([§16.7](crate::specification#s16-7)).

use super::objective::SloInterval;
use super::{Pursuit, SloEvent};
use crate::oracle::instant::Nanos;
use crate::oracle::reading::named::OwnInterval;
use crate::oracle::reading::startup::End;
use crate::oracle::reading::view::View;
use crate::oracle::reading::vocabulary::{Interval, Milestone};

/// From where to where.
enum Pursued {
    OfAllPods(Interval),
    Own(OwnInterval),
}

impl Pursuit<'_> {
    fn pursued(&self) -> Pursued {
        match self.slo.interval {
            SloInterval::Scheduling | SloInterval::Unschedulable => {
                Pursued::OfAllPods(Interval::UntilScheduled)
            }
            SloInterval::Other(interval) => Pursued::OfAllPods(interval),
            SloInterval::Own(interval) => Pursued::Own(interval),
        }
    }

    pub(super) fn start(&self, view: &View<'_>) -> Option<Option<Nanos>> {
        match self.pursued() {
            Pursued::OfAllPods(interval) => view.start(interval),
            Pursued::Own(interval) => self.of_startup(view).start_of_own(interval),
        }
    }

    pub(super) fn end(&self, view: &View<'_>) -> Option<Option<Nanos>> {
        match self.pursued() {
            Pursued::OfAllPods(interval) => view.time(interval.to()),
            Pursued::Own(interval) => view.end_of_own(interval),
        }
    }

    /// "Only the end of a pod shows that a condition never comes": a milestone of your own needs none before.
    pub(super) fn needed(&self, view: &View<'_>) -> Vec<Milestone> {
        match self.pursued() {
            Pursued::OfAllPods(interval) => self.rules().needed(interval, view.traits()),
            Pursued::Own(_) => Vec::new(),
        }
    }

    pub(super) fn cannot_end(&self) -> bool {
        match self.pursued() {
            Pursued::OfAllPods(interval) => self.rules().cannot_end(interval),
            Pursued::Own(_) => false,
        }
    }

    pub(super) fn not_entered(&self, view: &View<'_>) -> bool {
        let is_scheduled = view.milestone(Milestone::Scheduled).is_some();
        match self.pursued() {
            Pursued::OfAllPods(_) => {
                self.rules().not_entered(self.slo.interval, view.traits(), is_scheduled)
            }
            Pursued::Own(interval) => {
                view.rules.named().excludes_what_can_come_no_more()
                    && view.can_come_no_more(interval, &self.of_startup(view))
            }
        }
    }

    fn of_startup<'a>(&'a self, view: &View<'_>) -> View<'a> {
        self.startup.of_startup(view.seen.len() - 1)
    }

    /// What ends the interval at the latest: the end of the startup, or that of what is followed of a pod that is ready
    /// ([§16.5](crate::specification#s16-5)).
    pub(super) fn pursued_until(&self) -> Option<End> {
        match self.pursued() {
            Pursued::OfAllPods(_) => self.startup.end(),
            Pursued::Own(interval) => self.startup.end_of_own(interval.own),
        }
    }

    /// The last snapshot or Event that counts.
    pub(super) fn last(&self) -> usize {
        self.pursued_until().map_or(self.startup.last_place(), |end| end.place)
    }

    /// Where a pod became ready that is followed.
    pub(super) fn ready(&self) -> Option<usize> {
        let end = self.startup.end().filter(|end| end.outcome == "ready")?;
        matches!(self.pursued(), Pursued::Own(_)).then_some(end.place)
    }

    /// "the pod ended first, with the interval open"
    pub(super) fn ended_by(&self, outcome: &'static str, view: &View<'_>) -> SloEvent {
        match self.pursued() {
            Pursued::OfAllPods(_) => self.rules().ended(outcome),
            Pursued::Own(interval) => {
                let type_stood = view.type_stood(interval.own.kind);
                SloEvent::Excluded(view.rules.named().slo_ended(outcome, type_stood))
            }
        }
    }
}
