//! The counters of SLO events ([§6](crate::specification#s6)). A reload of the SLO file changes which
//! SLOs there are.

use std::collections::HashMap;
use std::sync::Arc;

use super::bad_causes::BadCausesBySlo;
use super::namespaces::{NamespaceNames, NamespacePlaces, NamespaceSlot};
use podinit_core::lifecycle::{ExclusionReason, SloId, SloRule, SloVerdict};
use podinit_instruments::{
    AnyText, CounterVec2, GaugeVec, LabelText, SavedFamilies, computed_families, family_type,
};

mod counts;
mod exposition;

use counts::{CountedSloResult, SloEventCounts};
use parking_lot::RwLock;

family_type! {
    /// A counter of events for each SLO and result, with the SLO labels.
    pub(super) struct EventsBySlo = Counter [AnyText, CountedSloResult] + SLO_LABELS;
}

family_type! {
    /// A gauge for each SLO, with its interval.
    pub(super) struct ThresholdBySlo = Gauge [AnyText, AnyText];
}

computed_families! {
    /// What is exposed of each SLO.
    pub(super) const SLOS {
        SLO_EVENTS: EventsBySlo =
            "podinit_slo_events_total", ["slo", "result"], stable, saved,
            "Pods that met the SLO (good) or whose deadline passed (bad).";
        SLO_BAD_CAUSES: BadCausesBySlo =
            "podinit_slo_bad_causes_total", ["slo", "stage", "cause"], stable, saved,
            "Bad events of the SLO, by the stage that the pod was in and why it waited there. None for a pod that was not known before.";
        SLO_EXCLUDED: CounterVec2<AnyText, ExclusionReason> =
            "podinit_slo_excluded_total", ["slo", "reason"], stable, saved,
            "Pods that are neither good nor bad for the SLO, by reason.";
        SLO_OBJECTIVE: GaugeVec<AnyText> =
            "podinit_slo_objective_ratio", ["slo"], stable, not_saved,
            "Share of pods that are to be good.";
        SLO_THRESHOLD: ThresholdBySlo =
            "podinit_slo_threshold_seconds", ["slo", "interval"], stable, not_saved,
            "Duration within which the interval of the SLO is to end.";
        SLO_WINDOW: GaugeVec<AnyText> =
            "podinit_slo_window_seconds", ["slo"], stable, not_saved,
            "Duration over which the objective of the SLO holds.";
    }
}

/// What is exposed of an SLO besides its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SloDoc {
    /// Its name, which pods it matches, and how fast they must be
    pub rule: Arc<SloRule>,
    /// The objective, between 0 and 1
    pub objective_ratio: f64,
    /// The window of the objective in seconds
    pub window_seconds: f64,
}

impl SloDoc {
    /// What is exposed of an SLO with this rule and this objective, between 0 and 1, over a window in seconds.
    pub fn new(rule: &SloRule, objective_ratio: f64, window_seconds: f64) -> Self {
        Self { rule: Arc::new(rule.clone()), objective_ratio, window_seconds }
    }
}

/// An SLO and its events, as the live page shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct SloFigures {
    pub doc: SloDoc,
    pub good: u64,
    pub bad: u64,
}

/// One SLO and its events.
#[derive(Debug)]
struct SloSeries {
    doc: SloDoc,
    counts: Arc<SloEventCounts>,
}

/// The SLOs in force. The recorder has its own reference to them, so that counting takes no lock;
/// a scrape locks for as long as it takes to copy a reference.
#[derive(Debug)]
pub(super) struct SloBoard {
    slos: RwLock<Arc<[SloSeries]>>,
    namespaces: Arc<NamespaceNames>,
}

impl SloBoard {
    /// No SLOs yet, whose events are counted by these namespaces.
    pub(super) fn new(namespaces: Arc<NamespaceNames>) -> Self {
        Self { slos: RwLock::default(), namespaces }
    }

    fn current(&self) -> Arc<[SloSeries]> {
        Arc::clone(&self.slos.read())
    }

    /// The SLOs and their events, of all namespaces together.
    pub(super) fn figures(&self) -> Vec<SloFigures> {
        let slos = self.current();
        let figures = slos.iter().map(|SloSeries { doc, counts }| {
            let events = (0..self.namespaces.places()).map(|place| counts.snapshot(place));
            let [good, bad] = counts.ended();
            let (good, bad) = events.fold((good, bad), |(good, bad), events| {
                (good + events.good, bad + events.bad.sum())
            });
            SloFigures { doc: doc.clone(), good, bad }
        });
        figures.collect()
    }
}

/// The recorder's side of the board.
#[derive(Debug)]
pub(super) struct SloCounter {
    board: Arc<SloBoard>,
    slos: Arc<[SloSeries]>,
}

/// The place of saved series whose labels end with these: the namespace, if they have one.
fn place_of(rest: &[LabelText], namespaces: &mut NamespacePlaces) -> NamespaceSlot {
    namespaces.place(rest.first().map_or("", |name| name))
}

impl SloCounter {
    pub(super) fn new(board: Arc<SloBoard>) -> Self {
        let slos = board.current();
        Self { board, slos }
    }

    /// Puts other SLOs in force. An SLO that keeps its name keeps its counts, so that Prometheus
    /// sees no reset.
    pub(super) fn replace(&mut self, docs: &[SloDoc]) {
        let kept: HashMap<_, _> =
            self.slos.iter().map(|slo| (&slo.doc.rule.name, &slo.counts)).collect();
        let slos = docs.iter().map(|doc| {
            let kept = kept.get(&doc.rule.name).map(|counts| Arc::clone(counts));
            let counts = kept
                .unwrap_or_else(|| Arc::new(SloEventCounts::new(self.board.namespaces.places())));
            SloSeries { doc: doc.clone(), counts }
        });
        self.slos = slos.collect();
        let mut shown = self.board.slos.write();
        *shown = Arc::clone(&self.slos);
    }

    /// Adds what was saved of the events. Of those that were counted by namespace all count together,
    /// where they no longer are. Those that were not keep a place of their own, where they now are.
    pub(super) fn restore(&self, saved: &SavedFamilies, namespaces: &mut NamespacePlaces) {
        for SloSeries { doc, counts } in self.slos.iter() {
            for series in saved.series(&SLO_EVENTS) {
                if let [slo, result, rest @ ..] = &*series.labels
                    && **slo == *doc.rule.name
                    && series.value > 0
                {
                    let place = place_of(rest, namespaces);
                    counts.at(place).restore(result, series.value);
                }
            }
            for series in saved.series(&SLO_BAD_CAUSES) {
                if let [slo, stage, cause, rest @ ..] = &*series.labels
                    && **slo == *doc.rule.name
                {
                    let place = place_of(rest, namespaces);
                    counts.at(place).bad.restore(stage, cause, series.value);
                }
            }
        }
    }

    /// The series of the namespace at `place` end.
    pub(super) fn end(&self, place: NamespaceSlot) {
        self.slos.iter().for_each(|slo| slo.counts.end(place));
    }

    /// The events in namespaces whose series have ended, by SLO: the good ones and the bad ones.
    pub(super) fn saved_ended(&self) -> Vec<(String, u64, u64)> {
        let ended = self.slos.iter().map(|slo| {
            let [good, bad] = slo.counts.ended();
            (slo.doc.rule.name.to_string(), good, bad)
        });
        ended.filter(|(_, good, bad)| good + bad > 0).collect()
    }

    /// Adds what was saved of them.
    pub(super) fn restore_ended(&self, saved: &[(String, u64, u64)]) {
        for (name, good, bad) in saved {
            let mut slos = self.slos.iter();
            if let Some(slo) = slos.find(|slo| *slo.doc.rule.name == **name) {
                slo.counts.add_ended([*good, *bad]);
            }
        }
    }

    /// Counts the event of a pod. Events of an SLO that is not in force count for nothing.
    pub(super) fn count(&self, slo: SloId, verdict: SloVerdict, place: NamespaceSlot) {
        let Some(SloSeries { counts, .. }) = self.slos.get(usize::from(slo.0)) else {
            return;
        };
        match verdict {
            SloVerdict::Good => counts.at(place).good.increment(),
            SloVerdict::Bad(reason) => counts.at(place).bad.count(reason),
            SloVerdict::Excluded(reason) => counts.excluded.with(reason).increment(),
        }
    }
}

#[cfg(test)]
impl SloCounter {
    /// The good events of all SLOs and namespaces.
    pub(super) fn good(&self) -> u64 {
        self.board.figures().iter().map(|slo| slo.good).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::BadReason;

    fn doc(name: &str) -> SloDoc {
        SloDoc::new(&SloRule { name: name.into(), ..SloRule::default() }, 0.99, 604_800.0)
    }

    #[test]
    fn an_slo_keeps_its_counts_for_as_long_as_it_keeps_its_name() {
        let board = Arc::new(SloBoard::new(NamespacePlaces::new(None).names));
        let mut counter = SloCounter::new(Arc::clone(&board));
        counter.replace(&[doc("one"), doc("two")]);
        counter.count(SloId(1), SloVerdict::Bad(BadReason::NotKnown), 0);
        counter.count(SloId(2), SloVerdict::Bad(BadReason::NotKnown), 0);
        counter.replace(&[doc("two"), doc("three")]);
        counter.count(SloId(0), SloVerdict::Bad(BadReason::NotKnown), 0);
        let bad: Vec<_> =
            board.current().iter().map(|slo| slo.counts.snapshot(0).bad.sum()).collect();
        assert_eq!(bad, [2, 0]);
    }
}
