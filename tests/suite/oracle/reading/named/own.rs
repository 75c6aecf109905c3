//! [§16.5](crate::specification#s16-5) to [§16.7](crate::specification#s16-7): milestones of your own.

use crate::oracle::instant::Nanos;
use crate::oracle::reading::rules::{Entry, Verdict};
use crate::oracle::reading::startup::Startup;
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
        let last = rules.last_that_counts(self.last_of_startup(), self.last_place());
        let view = self.view(last);
        let Some(latched) = view.latched_by_type(own.kind) else {
            let outcome = self.end().map(|end| end.outcome);
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
            if view.can_come_no_more(interval) {
                return None;
            }
            let times = view.start_of_own(interval)?.zip(view.end_of_own(interval)?);
            let verdict = self.rules.verdict_of(times);
            Some(OwnFinding::Judged(from, verdict, latched.place))
        });
        judged.collect()
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
        Some(self.estimated(latched))
    }

    /// Whether the status has had a condition of the type.
    pub(crate) fn type_stood(&self, kind: &str) -> bool {
        self.seen.iter().any(|folded| folded.pod.condition(kind).is_some())
    }

    /// "A pod whose condition is True before all its containers have started has no second one".
    pub(crate) fn can_come_no_more(&self, interval: OwnInterval) -> bool {
        let Some(latched) = self.latched_by_type(interval.own.kind) else {
            return false;
        };
        let started = self.milestone(Milestone::ContainersStarted);
        let started = started
            .map(|started| (started.place, self.time(Milestone::ContainersStarted).flatten()));
        let name = (latched.place, self.estimated(latched));
        interval.from == Start::ContainersStarted
            && self.rules.named().is_before_the_start(name, started)
    }
}
