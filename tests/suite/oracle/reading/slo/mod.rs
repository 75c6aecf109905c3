//! [§6](crate::specification#s6): what an SLO makes of a pod.
//!
//! For a pod and an SLO, the snapshots of the startup are gone through in their order. What is
//! settled by a snapshot is settled when it is folded ([`Pursuit::at_snapshot`]); between two
//! snapshots only the deadline can pass, at one of the points of [`passing`].

pub(crate) mod lag;
mod objective;
mod passing;
mod pursued;
mod rules;
mod selection;
pub(crate) mod tally;

pub(crate) use objective::{Namespaces, Slo, SloInterval};
pub(crate) use passing::{Moment, Passing, Place, fold_of, passings, syncs};
pub(crate) use rules::{SloRules, SpecSlo};

use super::named::Own;
use super::rules::{Entry, Verdict};
use super::startup::{End, Startup};
use super::view::View;
use super::vocabulary::Milestone;
use crate::oracle::instant::Nanos;
use selection::When;

/// "For each pod exactly one event per SLO".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SloEvent {
    Good,
    Bad,
    /// Because the kubelet rejected the pod ([§6.11](crate::specification#s6-11))
    BadByRejection,
    Excluded(&'static str),
}

/// The event of a pod, and of which moment its cause counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided {
    pub(crate) event: SloEvent,
    /// The snapshot or Event that was the newest one then; none where the pod was not known
    pub(crate) blamed: Option<usize>,
}

/// One pod and one SLO that is about it.
pub(crate) struct Pursuit<'a> {
    pub(crate) startup: &'a Startup<'a>,
    pub(crate) slo: &'a Slo,
    pub(crate) passings: &'a [Passing],
}

impl Pursuit<'_> {
    fn rules(&self) -> &dyn SloRules {
        self.startup.rules.slo()
    }

    /// None while it is undecided.
    pub(crate) fn event(&self) -> Option<SloEvent> {
        self.decided().map(|decided| decided.event)
    }

    /// The event, and of which moment the cause counts where it is bad. None while it is undecided.
    pub(crate) fn decided(&self) -> Option<Decided> {
        self.selected(self.without_selection())
    }

    /// The event that it would have if every startup counted, and when it would: with the delivery at a place, or
    /// after that.
    fn without_selection(&self) -> Option<(When, Decided)> {
        let life = self.startup.life;
        let last = self.last();
        let ready = self.ready();
        let named = self.startup.rules.named();
        for place in 0..=last {
            if let Some(event) = self.at_snapshot(place) {
                let blamed = self.startup.rules.causes().blamed_of_delivery(place);
                let blamed = blamed.and_then(|place| named.blames(place, ready));
                return Some((When::With(place), Decided { event, blamed }));
            }
            let pod = &life.folded[place].pod;
            if self.cannot_end() && self.rules().never_is_ready(pod) {
                let completed = Decided { event: SloEvent::Excluded("completed"), blamed: None };
                return Some((When::WithAfterAll(place), completed));
            }
            let next = match life.folded.get(place + 1) {
                Some(next) => Some(next.step),
                None => life.closing.map(|(_, step)| step),
            };
            if self.deadline_passes(place, fold_of(life.folded[place].step), next.map(fold_of)) {
                let blamed = named.blames(place, ready);
                let bad = Decided { event: SloEvent::Bad, blamed };
                return Some((When::After(place), bad));
            }
        }
        let ended = Decided { event: self.ended(self.pursued_until()?), blamed: None };
        Some((When::After(last), ended))
    }

    /// "when the pod ends first with the interval open"; with events on "it does" exclude a pod as
    /// `condition_absent` for NetworkReady then ([§9.2](crate::specification#s9-2))
    fn ended(&self, end: End) -> SloEvent {
        let view = self.startup.view(end.place);
        let pod = &self.startup.life.folded[end.place].pod;
        let rules = self.rules();
        let needed = self.needed(&view);
        let misses = self.startup.events
            && self.startup.rules.evidence().misses_the_network_at_the_end()
            && needed.contains(&Milestone::NetworkReady)
            && rules.tells_what_is_absent(pod)
            && rules.is_absent(&view, pod, Milestone::NetworkReady);
        match misses {
            true => SloEvent::Excluded("condition_absent"),
            false if end.outcome == "rejected" => {
                let has_entered = rules.has_entered(self.slo.interval, view.traits());
                let start = self.start(&view);
                rules.rejected(start.filter(|_| has_entered))
            }
            false => self.ended_by(end.outcome, &view),
        }
    }

    /// What the snapshot settles.
    fn at_snapshot(&self, place: usize) -> Option<SloEvent> {
        let rules = self.rules();
        let entry = self.startup.entry();
        if let Some(event) = rules.excluded_on_entry(entry) {
            return Some(event);
        }
        let view = self.startup.view(place);
        if self.not_entered(&view) {
            return Some(SloEvent::Excluded("not_entered"));
        }
        let end = self.end(&view);
        if place == 0 && entry == Entry::Adopted {
            let now = self.startup.life.discovered;
            let deadline_did =
                self.deadline(&view).is_some_and(|deadline| rules.has_passed(deadline, now));
            if rules.lay_before_first_sight(end.is_some(), deadline_did) {
                return Some(SloEvent::Excluded("preexisting"));
            }
        }
        if let (Some(start), Some(end)) = (self.start(&view), end) {
            let verdict = match start.zip(end) {
                Some((start, end)) => self.startup.rules.verdict(end - start),
                None => Verdict::Unusable("missing"),
            };
            return Some(rules.event(verdict, self.slo.threshold()));
        }
        let pod = &self.startup.life.folded[place].pod;
        let mut needed = self.needed(&view);
        if self.startup.events && self.startup.rules.evidence().waits_for_the_end() {
            needed.retain(|milestone| *milestone != Milestone::NetworkReady);
        }
        let mut needed = needed.into_iter();
        if rules.tells_what_is_absent(pod)
            && needed.any(|milestone| rules.is_absent(&view, pod, milestone))
        {
            return Some(SloEvent::Excluded("condition_absent"));
        }
        let end = self.pursued_until()?;
        let ends_here = end.place == place && end.by_snapshot;
        ends_here.then(|| self.ended(end))
    }

    /// The deadline, if the SLO names the milestone and may still be undecided when the pod is ready at a place.
    pub(crate) fn deadline_that_keeps(&self, own: Own, ready: usize) -> Option<Nanos> {
        let names_it =
            matches!(self.slo.interval, SloInterval::Own(interval) if interval.own == own);
        let pod = &self.startup.life.folded[0].pod;
        if !names_it || !self.rules().matches(self.slo, pod) || !self.is_selected(ready) {
            return None;
        }
        self.deadline(&self.startup.view(ready))
    }

    /// Counts from the start of the interval, once that is reached at a usable time and the pod
    /// has entered the interval.
    fn deadline(&self, view: &View<'_>) -> Option<Nanos> {
        let start = self.start(view)??;
        self.rules()
            .has_entered(self.slo.interval, view.traits())
            .then(|| self.rules().deadline(start, self.slo.threshold()))
    }

    /// Whether the deadline passes while the snapshot at `place` is the newest one.
    fn deadline_passes(&self, place: usize, after: Place, before: Option<Place>) -> bool {
        let Some(deadline) = self.deadline(&self.startup.view(place)) else {
            return false;
        };
        self.passings
            .iter()
            .filter(|passing| passing.place > after)
            .filter(|passing| before.is_none_or(|before| passing.place < before))
            .any(|passing| self.rules().has_passed(deadline, passing.now))
    }
}
