//! The counters of SLO events ([§6](crate::specification#s6)). A reload of the SLO file changes which
//! SLOs there are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::bad_causes::{BadCauses, BadCausesBySlo, BadCausesSnapshot};
use crate::instruments::{
    AnyText, Counter, CounterVec, CounterVec2, Encoder, FamilySource, FamilyType, Gauge, GaugeVec,
    Head, Kind, LabelText, Number, Persistent, SavedFamilies, SavedSeries, TimestampGauge,
};
use crate::label_value::LabelValue;
use crate::lifecycle::{ExclusionReason, Interval, SloId, SloVerdict};
use crate::timestamp::Timestamp;
use crate::{computed_families, families, label_values};

/// A gauge for each SLO, with its interval.
#[derive(Debug)]
pub(super) struct ThresholdBySlo;

impl FamilyType for ThresholdBySlo {
    const KIND: Kind = Kind::Gauge;
    const LABELS: usize = 2;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [_slo, interval] if Interval::from_text(interval).is_some())
    }
}

computed_families! {
    /// What is exposed of each SLO.
    pub(super) const SLOS {
        SLO_EVENTS: CounterVec2<AnyText, SloResult> =
            "podinit_slo_events_total", ["slo", "result"], stable, saved,
            "Pods that met the SLO (good) or whose deadline passed (bad).";
        SLO_BAD_CAUSES: BadCausesBySlo =
            "podinit_slo_bad_causes_total", ["slo", "stage", "cause"], stable, saved,
            "Bad events of the SLO, by the stage that the pod was in and why it waited there; none for a pod that was not known before.";
        SLO_EXCLUDED: CounterVec2<AnyText, ExclusionReason> =
            "podinit_slo_excluded_total", ["slo", "reason"], stable, saved,
            "Pods that count neither as good nor as bad for the SLO, by why.";
        SLO_OBJECTIVE: GaugeVec<AnyText> =
            "podinit_slo_objective_ratio", ["slo"], stable, not_saved,
            "Share of pods that are to be good.";
        SLO_THRESHOLD: ThresholdBySlo =
            "podinit_slo_threshold_seconds", ["slo", "interval"], stable, not_saved,
            "Duration within which the interval of the SLO is to end.";
    }
}

families! {
    /// The state of the SLO file.
    pub struct ConfigGauges {
        successful: Gauge =
            "podinit_config_last_reload_successful", [], stable, not_saved,
            "Whether the present SLO file is in force (1) or is broken, so that an older one is (0).";
        last_success: TimestampGauge =
            "podinit_config_last_reload_success_timestamp_seconds", [], stable, not_saved,
            "Unix time at which SLOs were last put in force.";
    }
}

label_values! {
    /// The event of a pod that counts for an SLO.
    pub(super) enum SloResult {
        Good => "good",
        Bad => "bad",
    }
}

impl LabelValue for ExclusionReason {
    const ALL: &'static [Self] = &ExclusionReason::ALL;

    fn as_str(self) -> &'static str {
        ExclusionReason::as_str(self)
    }

    fn index(self) -> usize {
        let mut all = Self::ALL.iter();
        let position = all.position(|other| other.as_str() == self.as_str());
        position.unwrap_or_default()
    }
}

/// What is exposed of an SLO besides its events.
#[derive(Clone, Debug, PartialEq)]
pub struct SloDoc {
    /// The value of the label `slo`
    pub name: Arc<str>,
    /// The objective, between 0 and 1
    pub objective_ratio: f64,
    /// The name of the interval that the threshold limits: the value of the label `interval`
    pub interval: Interval,
    /// The threshold in seconds
    pub threshold_seconds: f64,
}

impl From<&crate::slo::Slo> for SloDoc {
    fn from(slo: &crate::slo::Slo) -> Self {
        Self {
            name: Arc::clone(&slo.rule.name),
            objective_ratio: slo.objective_ratio(),
            interval: slo.rule.interval,
            threshold_seconds: slo.threshold_seconds(),
        }
    }
}

impl ConfigGauges {
    /// SLOs were put in force at `now`.
    pub fn new(now: Timestamp) -> Self {
        let gauges = Self::default();
        gauges.set(true, now);
        gauges
    }

    /// States how the last reload ended, and when SLOs were last put in force.
    pub fn set(&self, successful: bool, last_success: Timestamp) {
        self.successful.set(successful.into());
        self.last_success.set(Some(last_success));
    }
}

/// One SLO and its events.
#[derive(Debug)]
struct Slo {
    doc: SloDoc,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    good: Counter,
    /// The bad events: their sum is how many there are
    bad: BadCauses,
    excluded: CounterVec<ExclusionReason>,
}

/// The events of one SLO at one moment.
struct EventsSnapshot {
    good: u64,
    bad: BadCausesSnapshot,
}

impl EventsSnapshot {
    fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let results = [
            (SloResult::Good, self.good),
            (SloResult::Bad, self.bad.sum()),
        ];
        let named = results.map(|(result, count)| (result.as_str(), count));
        named.into_iter()
    }
}

impl Counts {
    fn events(&self) -> EventsSnapshot {
        EventsSnapshot {
            good: self.good.get(),
            bad: self.bad.snapshot(),
        }
    }

    fn saved_events(&self) -> Vec<SavedSeries> {
        let events = self.events();
        let series = events.iter().map(|(result, value)| SavedSeries {
            labels: vec![Cow::Borrowed(result)],
            value,
        });
        series.collect()
    }

    /// Adds what was saved of the events. Those bad ones whose cause was not saved are of no known
    /// cause.
    fn restore_events(&self, events: &[SavedSeries], causes: &[SavedSeries]) {
        let of = |result: SloResult| {
            let series = events.iter();
            let series = series.filter(|series| series.labels.iter().eq([result.as_str()]));
            series.map(|series| series.value).sum::<u64>()
        };
        self.good.add(of(SloResult::Good));
        self.bad.restore(causes);
        let caused: u64 = causes.iter().map(|series| series.value).sum();
        self.bad
            .add_unknown(of(SloResult::Bad).saturating_sub(caused));
    }
}

/// The SLOs in force. The recorder has its own reference to them, so that counting takes no lock;
/// a scrape locks for as long as it takes to copy a reference.
#[derive(Debug, Default)]
pub(super) struct SloBoard(RwLock<Arc<[Slo]>>);

impl SloBoard {
    fn current(&self) -> Arc<[Slo]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The recorder's side of the board.
#[derive(Debug)]
pub(super) struct SloCounter {
    board: Arc<SloBoard>,
    slos: Arc<[Slo]>,
}

impl SloCounter {
    pub(super) fn new(board: Arc<SloBoard>) -> Self {
        let slos = board.current();
        Self { board, slos }
    }

    /// Puts other SLOs in force. An SLO that keeps its name keeps its counts, so that Prometheus
    /// sees no reset.
    pub(super) fn replace(&mut self, docs: &[SloDoc]) {
        let kept: HashMap<_, _> = self
            .slos
            .iter()
            .map(|slo| (&slo.doc.name, &slo.counts))
            .collect();
        let slos = docs.iter().map(|doc| {
            let kept = kept.get(&doc.name).map(|counts| Arc::clone(counts));
            let counts = kept.unwrap_or_default();
            Slo {
                doc: doc.clone(),
                counts,
            }
        });
        self.slos = slos.collect();
        let mut shown = self.board.0.write().unwrap_or_else(PoisonError::into_inner);
        *shown = Arc::clone(&self.slos);
    }

    /// Counts the event of a pod. Events of an SLO that is not in force count for nothing.
    pub(super) fn count(&self, slo: SloId, verdict: SloVerdict) {
        let Some(Slo { counts, .. }) = self.slos.get(usize::from(slo.0)) else {
            return;
        };
        match verdict {
            SloVerdict::Good => counts.good.increment(),
            SloVerdict::Bad(waiting) => counts.bad.count(waiting),
            SloVerdict::Excluded(reason) => counts.excluded.with(reason).increment(),
        }
    }
}

/// Writes the events and the causes of the bad ones, which are counted in one place and read once, so
/// that they add up.
fn collect_events(out: &mut dyn Encoder, slos: &[Slo]) {
    let events = slos.iter().map(|slo| (&*slo.doc.name, slo.counts.events()));
    let events: Vec<_> = events.collect();
    out.family(Head::from(&SLO_EVENTS));
    for (slo, events) in &events {
        for (result, count) in events.iter() {
            let labels = [("slo", *slo), ("result", result)];
            out.number(&labels, Number::Integer(count));
        }
    }
    out.family(Head::from(&SLO_BAD_CAUSES));
    for (slo, events) in &events {
        for ([stage, cause], count) in events.bad.iter() {
            let labels = [("slo", *slo), ("stage", stage), ("cause", cause)];
            out.number(&labels, Number::Integer(count));
        }
    }
}

fn collect_excluded(out: &mut dyn Encoder, slos: &[Slo]) {
    out.family(Head::from(&SLO_EXCLUDED));
    for Slo { doc, counts } in slos {
        for (reason, count) in counts.excluded.iter() {
            let labels = [("slo", &*doc.name), ("reason", reason)];
            out.number(&labels, Number::Integer(count));
        }
    }
}

/// The series of one SLO, whose name comes first among the label values.
fn named(name: &Arc<str>, series: Vec<SavedSeries>) -> impl Iterator<Item = SavedSeries> {
    let name: LabelText = Cow::Owned(name.to_string());
    series.into_iter().map(move |series| SavedSeries {
        labels: [name.clone()].into_iter().chain(series.labels).collect(),
        ..series
    })
}

/// The series that were saved of one SLO, without its name.
fn series_of(name: &str, saved: &[SavedSeries]) -> Vec<SavedSeries> {
    let series = saved.iter().filter_map(|series| {
        let (slo, labels) = series.labels.split_first()?;
        (slo == name).then(|| SavedSeries {
            labels: labels.to_vec(),
            value: series.value,
        })
    });
    series.collect()
}

impl FamilySource for SloBoard {
    fn collect(&self, out: &mut dyn Encoder) {
        let slos = self.current();
        collect_events(out, &slos);
        collect_excluded(out, &slos);
        out.family(Head::from(&SLO_OBJECTIVE));
        for Slo { doc, .. } in slos.iter() {
            out.number(&[("slo", &doc.name)], Number::Float(doc.objective_ratio));
        }
        out.family(Head::from(&SLO_THRESHOLD));
        for Slo { doc, .. } in slos.iter() {
            let labels = [("slo", &*doc.name), ("interval", doc.interval.as_str())];
            out.number(&labels, Number::Float(doc.threshold_seconds));
        }
    }

    fn save(&self, saved: &mut SavedFamilies) {
        let slos = self.current();
        let events = slos.iter();
        let events = events.flat_map(|slo| named(&slo.doc.name, slo.counts.saved_events()));
        saved.put(&SLO_EVENTS, events.collect());
        let causes = slos.iter();
        let causes = causes.flat_map(|slo| named(&slo.doc.name, slo.counts.bad.save()));
        saved.put(&SLO_BAD_CAUSES, causes.collect());
        let excluded = slos.iter();
        let excluded = excluded.flat_map(|slo| named(&slo.doc.name, slo.counts.excluded.save()));
        saved.put(&SLO_EXCLUDED, excluded.collect());
    }

    /// What was saved of SLOs that are not in force is ignored.
    fn restore(&self, saved: &SavedFamilies) {
        for Slo { doc, counts } in self.current().iter() {
            let series = |family| series_of(&doc.name, saved.series(family));
            counts.restore_events(&series(&SLO_EVENTS), &series(&SLO_BAD_CAUSES));
            counts.excluded.restore(&series(&SLO_EXCLUDED));
        }
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    use super::*;

    fn doc(name: &str) -> SloDoc {
        SloDoc {
            name: name.into(),
            objective_ratio: 0.99,
            interval: Interval::CreatedToReady,
            threshold_seconds: 10.0,
        }
    }

    #[test]
    fn an_slo_keeps_its_counts_for_as_long_as_it_keeps_its_name() {
        let board = Arc::new(SloBoard::default());
        let mut counter = SloCounter::new(Arc::clone(&board));
        counter.replace(&[doc("one"), doc("two")]);
        counter.count(SloId(1), SloVerdict::Bad(None));
        counter.count(SloId(2), SloVerdict::Bad(None));
        counter.replace(&[doc("two"), doc("three")]);
        counter.count(SloId(0), SloVerdict::Bad(None));
        let bad: Vec<_> = board
            .current()
            .iter()
            .map(|slo| slo.counts.events().bad.sum())
            .collect();
        assert_eq!(bad, [2, 0]);
    }
}
