//! [§16.5](crate::specification#s16-5) to [§16.7](crate::specification#s16-7): milestones of your own.

use crate::oracle::instant::Nanos;
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::slo::{Place, Pursuit, fold_of};
use crate::oracle::reading::startup::{End, Startup};
use crate::oracle::reading::view::View;
use crate::oracle::reading::vocabulary::Milestone;

/// `--milestone NAME=condition:TYPE`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) name: &'static str,
    /// The condition type
    pub(crate) kind: &'static str,
}

/// The label value `from`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Created,
    ContainersStarted,
}

impl Start {
    pub(crate) const ALL: [Self; 2] = [Self::Created, Self::ContainersStarted];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::ContainersStarted => "containers_started",
        }
    }

    fn milestone(self) -> Milestone {
        match self {
            Self::Created => Milestone::Created,
            Self::ContainersStarted => Milestone::ContainersStarted,
        }
    }
}

/// `created_to_NAME` or `containers_started_to_NAME`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnInterval {
    pub(crate) own: Own,
    pub(crate) from: Start,
}

impl OwnInterval {
    pub(crate) fn name(self) -> String {
        format!("{}_to_{}", self.from.name(), self.own.name)
    }
}

/// What became of a milestone, or of one of its durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnFinding {
    /// With the snapshot at this place
    Judged(Start, Verdict, usize),
    Unobserved(&'static str),
}

impl Startup<'_> {
    pub(super) fn findings_of_own(&self, own: Own) -> Vec<OwnFinding> {
        let (entry, rules) = (self.entry(), self.rules.named());
        if !matches!(entry, Entry::Full | Entry::Adopted) {
            return Vec::new();
        }
        let last = rules.last_that_counts(self.last_of_own(own), self.last_place());
        let view = self.view(last);
        let of_startup = self.of_startup(last);
        let Some(latched) = view.latched_by_type(own.kind) else {
            let outcome = self.end_of_own(own).map(|end| end.outcome);
            let tells = outcome.is_some_and(|outcome| rules.tells_what_never_came(outcome));
            let reason = rules.reason_without(view.type_stood(own.kind));
            return Vec::from_iter(tells.then_some(OwnFinding::Unobserved(reason)));
        };
        let had_ended = entry == Entry::Adopted && latched.place == 0;
        if !rules.is_observed_of_adopted(had_ended) {
            return vec![OwnFinding::Unobserved("preexisting")];
        }
        let judged = Start::ALL.into_iter().filter_map(|from| {
            let interval = OwnInterval { own, from };
            if view.can_come_no_more(interval, &of_startup) {
                return None;
            }
            let times = of_startup.start_of_own(interval)?.zip(view.end_of_own(interval)?);
            let verdict = self.rules.verdict_of(times);
            Some(OwnFinding::Judged(from, verdict, latched.place))
        });
        judged.collect()
    }
}

/// Of a pod that is followed for a milestone.
impl<'a> Startup<'a> {
    /// What ContainersStarted is read from, with the snapshot at a place.
    pub(crate) fn of_startup(&self, place: usize) -> View<'a> {
        self.view(self.rules.named().last_with_starts(place, self.last_of_startup()))
    }

    /// [§16.5](crate::specification#s16-5): how the pod ceased to be followed for the milestone. It is `ready` where the
    /// time for that passed.
    pub(crate) fn end_of_own(&self, own: Own) -> Option<End> {
        let rules = self.rules.named();
        let end = self.end()?;
        if !rules.is_followed(end.outcome) {
            return Some(end);
        }
        let passed = self.passed_of_own(own, end.place);
        for place in end.place..self.life.folded.len() {
            let folded = &self.life.folded[place];
            if place > end.place && passed.is_some_and(|passed| passed < folded.step_of_fold()) {
                return Some(End { place: place - 1, outcome: "ready", by_snapshot: false });
            }
            if rules.is_over(&folded.pod)
                && let Some(outcome) = self.rules.terminal(&folded.pod)
            {
                let outcome = self.disrupted(place, outcome);
                return Some(End { place, outcome, by_snapshot: true });
            }
        }
        let place = self.last_place();
        let closing = self.life.closing.map(|(closing, step)| (closing, fold_of(step)));
        match (passed, closing) {
            (Some(passed), closing) if closing.is_none_or(|(_, closed)| passed < closed) => {
                Some(End { place, outcome: "ready", by_snapshot: false })
            }
            (_, None) => None,
            (_, Some((closing, _))) => {
                let outcome = self.disrupted(place, closing.outcome());
                Some(End { place, outcome, by_snapshot: false })
            }
        }
    }

    /// The last snapshot that can show the milestone.
    pub(crate) fn last_of_own(&self, own: Own) -> usize {
        self.end_of_own(own).map_or(self.last_place(), |end| end.place)
    }

    /// When in the replay the time passed for which a pod is followed that was ready at a place.
    fn passed_of_own(&self, own: Own, ready: usize) -> Option<Place> {
        let rules = self.rules.named();
        let folded = &self.life.folded[ready];
        let since = self.view(ready).time(Milestone::Ready).flatten().unwrap_or(folded.now);
        let deadlines = self.slos.iter().filter_map(|slo| {
            let pursuit = Pursuit { startup: self, slo, passings: self.passings };
            pursuit.deadline_that_keeps(own, ready)
        });
        let until = rules.followed_until(since, &deadlines.collect::<Vec<_>>());
        let mut passings = self.passings.iter();
        let passed = passings.find(|passing| {
            passing.place > folded.step_of_fold() && self.rules.slo().has_passed(until, passing.now)
        });
        passed.map(|passing| passing.place)
    }
}

impl View<'_> {
    /// When an interval that ends with a milestone of your own began.
    pub(crate) fn start_of_own(&self, interval: OwnInterval) -> Option<Option<Nanos>> {
        self.time(interval.from.milestone())
    }

    /// And when it ended.
    pub(crate) fn end_of_own(&self, interval: OwnInterval) -> Option<Option<Nanos>> {
        let latched = self.latched_by_type(interval.own.kind)?;
        Some(self.estimated_by_type(latched))
    }

    /// Whether the status has had a condition of the type.
    pub(crate) fn type_stood(&self, kind: &str) -> bool {
        self.seen.iter().any(|folded| folded.pod.condition(kind).is_some())
    }

    /// "A pod whose condition is True before all its containers have started has no second one".
    pub(crate) fn can_come_no_more(&self, interval: OwnInterval, of_startup: &View<'_>) -> bool {
        let Some(latched) = self.latched_by_type(interval.own.kind) else {
            return false;
        };
        let started = of_startup.milestone(Milestone::ContainersStarted);
        let started = started.map(|started| {
            (started.place, of_startup.time(Milestone::ContainersStarted).flatten())
        });
        let name = (latched.place, self.estimated_by_type(latched));
        interval.from == Start::ContainersStarted
            && self.rules.named().is_before_the_start(name, started)
    }
}
