//! One life of a pod: how it came into the books, what was judged and when, how it ended.

use super::Timestamps;
use super::life::Life;
use super::node::Nodes;
use super::rules::{Classification, Entry, Rules, Verdict};
use super::slo::{Passing, Slo};
use super::snapshot::Condition;
use super::view::View;
use super::vocabulary::{Interval, Milestone, Traits};
use crate::oracle::instant::Nanos;

pub(crate) struct Startup<'a> {
    pub(crate) rules: &'a dyn Rules,
    pub(crate) life: &'a Life,
    pub(crate) timestamps: Timestamps,
    pub(crate) backfill: bool,
    pub(crate) first_list_began: Option<Nanos>,
    /// `--evidence events`
    pub(crate) events: bool,
    pub(crate) nodes: &'a Nodes,
    /// The labels of nodes in `--labels`
    pub(crate) labels: &'a [&'static str],
    /// `--node-pool-label`
    pub(crate) pool_label: Option<&'static str>,
    /// `--slo`
    pub(crate) slos: &'a [Slo],
    /// When deadlines pass
    pub(crate) passings: &'a [Passing],
    /// The revisions of pods with a node, each with the step that showed it
    pub(crate) bound: &'a [(String, usize)],
}

/// How a pod's startup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The last snapshot that belongs to the startup
    pub(crate) place: usize,
    pub(crate) outcome: &'static str,
    /// Not by a deletion, nor by absence from a list
    pub(crate) by_snapshot: bool,
}

/// What became of an interval, at the snapshot with which that was settled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement {
    pub(crate) interval: Interval,
    /// The label `stage`, or `step`; none for an end-to-end duration
    pub(crate) name: Option<&'static str>,
    /// The snapshot or Event with which it was settled
    pub(crate) place: usize,
    pub(crate) finding: Finding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Its end was reached before first sight ([§5.2](crate::specification#s5-2))
    Preexisting,
    /// Both milestones were reached ([§4](crate::specification#s4))
    Judged(Verdict),
    /// The pod ended as `ready` or `completed` without
    NotJudged(&'static str),
}

impl<'a> Startup<'a> {
    /// What had been seen with the snapshot at `place`.
    pub(crate) fn view(&self, place: usize) -> View<'a> {
        let seen = &self.life.folded[..=place];
        View { rules: self.rules, timestamps: self.timestamps, seen }
    }

    pub(crate) fn entry(&self) -> Entry {
        self.rules.entry(Classification {
            pod: &self.life.folded[0].pod,
            in_first_list: self.life.in_first_list,
            backfill: self.backfill,
            first_list_began: self.first_list_began,
        })
    }

    pub(crate) fn last_place(&self) -> usize {
        self.life.folded.len() - 1
    }

    /// None while the pod is in flight.
    pub(crate) fn end(&self) -> Option<End> {
        match self.entry() {
            Entry::Preexisting => {
                return Some(End { place: 0, outcome: "preexisting", by_snapshot: true });
            }
            Entry::Static => {
                return Some(End { place: 0, outcome: "static", by_snapshot: true });
            }
            Entry::Full | Entry::Adopted => {}
        }
        let outcome = |place: usize| self.rules.outcome(&self.life.folded[place].pod);
        let places: Vec<usize> =
            (0..=self.last_place()).filter(|place| outcome(*place).is_some()).collect();
        if let Some(place) = self.rules.ending(&places) {
            let outcome = match outcome(place)? {
                "failed" if self.rules.is_rejected(&self.life.folded[..=place]) => "rejected",
                other => other,
            };
            let outcome = self.disrupted(place, outcome);
            return Some(End { place, outcome, by_snapshot: true });
        }
        let outcome = self.life.closing?.0.outcome();
        let place = self.last_place();
        let outcome = self.disrupted(place, outcome);
        Some(End { place, outcome, by_snapshot: false })
    }

    /// [§10.2](crate::specification#s10-2): `disrupted` "(instead of `failed`, `deleted` or
    /// `vanished`)"
    pub(super) fn disrupted(&self, place: usize, outcome: &'static str) -> &'static str {
        let rules = self.rules.causes();
        let pod = &self.life.folded[place].pod;
        let is_target = pod.condition("DisruptionTarget").is_some_and(Condition::is_true);
        match (is_target || rules.was_disrupted(pod)) && rules.is_instead_of(outcome) {
            true => "disrupted",
            false => outcome,
        }
    }

    /// The last snapshot that belongs to the startup, as far as it has gone.
    pub(crate) fn last_of_startup(&self) -> usize {
        self.end().map_or(self.last_place(), |end| end.place)
    }

    /// Every interval that was settled, once ([§3](crate::specification#s3);
    /// [§5](crate::specification#s5) `podinit_unobserved_total`).
    pub(crate) fn judgements(&self) -> Vec<Judgement> {
        let mut settled: Vec<Judgement> = Vec::new();
        let entry = self.entry();
        if matches!(entry, Entry::Preexisting | Entry::Static) {
            return settled;
        }
        let snapshots = self.rules.snapshots_judged(self.last_of_startup(), self.life.folded.len());
        for place in 0..snapshots {
            let excused = entry == Entry::Adopted && place == 0;
            for interval in self.open_intervals(place, &settled) {
                let finding = self.finding(interval, place, excused);
                settled.extend(finding.map(|finding| self.judgement(interval, place, finding)));
            }
        }
        if let Some(End { place, outcome: "ready" | "completed", .. }) = self.end() {
            for interval in self.open_intervals(place, &settled) {
                let finding = Finding::NotJudged(self.reason_not_judged(interval, place));
                settled.push(self.judgement(interval, place, finding));
            }
        }
        settled
    }

    /// The intervals that apply to the pod as it has been seen, and are not settled.
    fn open_intervals(&self, place: usize, settled: &[Judgement]) -> Vec<Interval> {
        let traits = self.view(place).traits();
        let is_open =
            |interval: &Interval| settled.iter().all(|judgement| judgement.interval != *interval);
        let applies = |interval: &Interval| self.rules.applies(*interval, traits);
        Interval::ALL.into_iter().filter(applies).filter(is_open).collect()
    }

    fn judgement(&self, interval: Interval, place: usize, finding: Finding) -> Judgement {
        Judgement { interval, name: name(interval, self.view(place).traits()), place, finding }
    }

    fn finding(&self, interval: Interval, place: usize, excused: bool) -> Option<Finding> {
        let view = self.view(place);
        let is_stage = name(interval, view.traits()).is_some();
        let end = view.time(interval.to());
        if excused && is_stage && self.rules.excuses_adopted(interval, end.is_some()) {
            return Some(Finding::Preexisting);
        }
        let verdict = match (view.start(interval)?, end?) {
            (Some(start), Some(end)) => self.rules.verdict(end - start),
            _ => Verdict::Unusable("missing"),
        };
        Some(Finding::Judged(verdict))
    }

    /// "`condition_absent` (a condition type it needs never stood in the pod's status) or else
    /// `not_seen`".
    fn reason_not_judged(&self, interval: Interval, place: usize) -> &'static str {
        let view = self.view(place);
        let mut needed = self.rules.from(interval, view.traits());
        needed.push(interval.to());
        self.rules
            .reason_not_judged(needed.into_iter().all(|milestone| view.a_type_stood(milestone)))
    }

    /// [§7](crate::specification#s7) `podinit_inflight_pods`: the stage the pod is in, and when it
    /// entered it.
    pub(crate) fn stage_in_flight(&self) -> (&'static str, Nanos) {
        self.stage_at(self.last_place())
    }

    /// The stage the pod was in with the snapshot or Event at a place.
    pub(crate) fn stage_at(&self, place: usize) -> (&'static str, Nanos) {
        let view = self.view(place);
        let traits = view.traits();
        let reached = |milestone| view.milestone(milestone).is_some();
        let chain: Vec<(Interval, bool)> = vec![
            (Interval::Gated, traits.gated && !reached(Milestone::Ungated)),
            (Interval::UntilScheduled, !reached(Milestone::Scheduled)),
            (Interval::Network, !reached(Milestone::NetworkReady)),
            (Interval::Init, traits.init_containers && !reached(Milestone::Initialized)),
            (Interval::Containers, !reached(Milestone::ContainersReady)),
            (Interval::Readiness, true),
        ];
        let place = chain.iter().position(|(_, is_open)| *is_open).unwrap_or(chain.len() - 1);
        let usable = |milestone| view.time(milestone).flatten();
        // Where the time is unusable, the nearest earlier usable one in the chain.
        let entered = chain[..=place].iter().rev().find_map(|(interval, _)| match interval {
            Interval::Gated => usable(Milestone::Created),
            Interval::UntilScheduled if traits.gated => usable(Milestone::Ungated),
            Interval::UntilScheduled => usable(Milestone::Created),
            Interval::Network => view.bound().flatten(),
            Interval::Init if !traits.init_containers => None,
            Interval::Init => usable(Milestone::NetworkReady),
            Interval::Containers if traits.init_containers => {
                let both = usable(Milestone::NetworkReady).zip(usable(Milestone::Initialized));
                both.map(|(network, initialized)| network.max(initialized))
            }
            Interval::Containers => usable(Milestone::NetworkReady),
            _ => usable(Milestone::ContainersReady),
        });
        let stage = chain[place].0.stage(traits).unwrap_or_default();
        (stage, entered.unwrap_or(self.life.discovered))
    }
}

/// The label value of a stage or step.
fn name(interval: Interval, traits: Traits) -> Option<&'static str> {
    interval.stage(traits).or(interval.step())
}
