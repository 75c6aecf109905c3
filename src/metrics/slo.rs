//! The counters of SLO events ([§6](crate::specification#s6)). A reload of the SLO file changes which
//! SLOs there are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::bad_causes::{BadCauses, BadCausesBySlo, BadCausesSnapshot};
use super::namespaces::{NamespaceNames, Namespaces, Place};
use crate::instruments::{
    AnyText, Counter, CounterVec, CounterVec2, Encoder, FamilySource, FamilyType, Gauge, GaugeVec,
    Head, Kind, Label, LabelText, Number, Persistent, SavedFamilies, SavedSeries, TimestampGauge,
};
use crate::label_value::LabelValue;
use crate::lifecycle::{ExclusionReason, Interval, SloId, SloVerdict};
use crate::timestamp::Timestamp;
use crate::{computed_families, families, label_values};

/// A counter of events for each SLO and result, with the SLO labels.
#[derive(Debug)]
pub(super) struct EventsBySlo;

impl FamilyType for EventsBySlo {
    const KIND: Kind = Kind::Counter;
    const LABELS: usize = 2;
    const SLO_LABELS: bool = true;

    fn knows(labels: &[LabelText]) -> bool {
        matches!(labels, [_slo, result] if SloResult::from_text(result).is_some())
    }
}

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
        SLO_EVENTS: EventsBySlo =
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

#[derive(Debug)]
struct Counts {
    /// By place of the namespace; none where no pod has been met
    events: Box<[OnceLock<Box<Events>>]>,
    excluded: CounterVec<ExclusionReason>,
}

/// The events of one SLO in one namespace.
#[derive(Debug, Default)]
struct Events {
    good: Counter,
    /// The bad events: their sum is how many there are
    bad: BadCauses,
}

/// The same at one moment.
#[derive(Debug, Default)]
struct EventsSnapshot {
    good: u64,
    bad: BadCausesSnapshot,
}

impl EventsSnapshot {
    fn iter(&self) -> impl Iterator<Item = (SloResult, u64)> {
        let results = [
            (SloResult::Good, self.good),
            (SloResult::Bad, self.bad.sum()),
        ];
        results.into_iter()
    }
}

impl Counts {
    fn new(places: usize) -> Self {
        Self {
            events: (0..places).map(|_| OnceLock::new()).collect(),
            excluded: CounterVec::default(),
        }
    }

    fn at(&self, place: Place) -> &Events {
        self.events[place].get_or_init(Box::default)
    }

    fn snapshot(&self, place: Place) -> EventsSnapshot {
        let events = self.events[place].get();
        let snapshot = events.map(|events| EventsSnapshot {
            good: events.good.get(),
            bad: events.bad.snapshot(),
        });
        snapshot.unwrap_or_default()
    }
}

/// The SLOs in force. The recorder has its own reference to them, so that counting takes no lock;
/// a scrape locks for as long as it takes to copy a reference.
#[derive(Debug)]
pub(super) struct SloBoard {
    slos: RwLock<Arc<[Slo]>>,
    namespaces: Arc<NamespaceNames>,
}

impl SloBoard {
    /// No SLOs yet, whose events are counted by these namespaces.
    pub(super) fn new(namespaces: Arc<NamespaceNames>) -> Self {
        Self {
            slos: RwLock::default(),
            namespaces,
        }
    }

    fn current(&self) -> Arc<[Slo]> {
        Arc::clone(&self.slos.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The recorder's side of the board.
#[derive(Debug)]
pub(super) struct SloCounter {
    board: Arc<SloBoard>,
    slos: Arc<[Slo]>,
}

/// The place of saved series whose labels end with these: the namespace, if they have one.
fn place_of(rest: &[LabelText], namespaces: &mut Namespaces) -> Place {
    namespaces.place(rest.first().map_or("", |name| name))
}

impl Events {
    /// Adds what was saved. The bad ones are saved by cause.
    fn restore(&self, result: &str, value: u64) {
        if result == SloResult::Good.as_str() {
            self.good.add(value);
        }
    }
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
            let counts =
                kept.unwrap_or_else(|| Arc::new(Counts::new(self.board.namespaces.places())));
            Slo {
                doc: doc.clone(),
                counts,
            }
        });
        self.slos = slos.collect();
        let mut shown = self
            .board
            .slos
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *shown = Arc::clone(&self.slos);
    }

    /// Adds what was saved of the events. Of those that were counted by namespace all count together,
    /// where they no longer are. Those that were not keep a place of their own, where they now are.
    pub(super) fn restore(&self, saved: &SavedFamilies, namespaces: &mut Namespaces) {
        for Slo { doc, counts } in self.slos.iter() {
            for series in saved.series(&SLO_EVENTS) {
                if let [slo, result, rest @ ..] = &*series.labels
                    && **slo == *doc.name
                    && series.value > 0
                {
                    let place = place_of(rest, namespaces);
                    counts.at(place).restore(result, series.value);
                }
            }
            for series in saved.series(&SLO_BAD_CAUSES) {
                if let [slo, stage, cause, rest @ ..] = &*series.labels
                    && **slo == *doc.name
                {
                    let place = place_of(rest, namespaces);
                    counts.at(place).bad.restore(stage, cause, series.value);
                }
            }
        }
    }

    /// Counts the event of a pod. Events of an SLO that is not in force count for nothing.
    pub(super) fn count(&self, slo: SloId, verdict: SloVerdict, place: Place) {
        let Some(Slo { counts, .. }) = self.slos.get(usize::from(slo.0)) else {
            return;
        };
        match verdict {
            SloVerdict::Good => counts.at(place).good.increment(),
            SloVerdict::Bad(waiting) => counts.at(place).bad.count(waiting),
            SloVerdict::Excluded(reason) => counts.excluded.with(reason).increment(),
        }
    }
}

/// Writes the events and the causes of the bad ones, which are counted in one place and read once, so
/// that they add up.
fn collect_events(out: &mut dyn Encoder, slos: &[Slo], namespaces: &NamespaceNames) {
    let mut events = Vec::new();
    for Slo { doc, counts } in slos {
        for (place, namespace) in namespaces.shown() {
            events.push((&*doc.name, namespace, counts.snapshot(place)));
        }
    }
    let number = |labels: &[Label<'_>], namespace: Option<&str>, count, out: &mut dyn Encoder| {
        let namespace = namespace.map(|name| ("namespace", name));
        let labels = labels.iter().copied().chain(namespace);
        out.number(&labels.collect::<Vec<_>>(), Number::Integer(count));
    };
    out.family(Head::from(&SLO_EVENTS));
    for (slo, namespace, events) in &events {
        for (result, count) in events.iter() {
            let labels = [("slo", *slo), ("result", result.as_str())];
            number(&labels, *namespace, count, out);
        }
    }
    out.family(Head::from(&SLO_BAD_CAUSES));
    for (slo, namespace, events) in &events {
        for ([stage, cause], count) in events.bad.iter() {
            let labels = [("slo", *slo), ("stage", stage), ("cause", cause)];
            number(&labels, *namespace, count, out);
        }
    }
}

/// The series of one family to save: the labels, the namespace last where there is one.
fn saved_series<const N: usize>(
    labels: [&str; N],
    namespace: Option<&str>,
    value: u64,
) -> SavedSeries {
    let labels = labels.into_iter().chain(namespace);
    SavedSeries {
        labels: labels.map(|text| Cow::Owned(text.to_owned())).collect(),
        value,
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
        collect_events(out, &slos, &self.namespaces);
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
        let (mut saved_events, mut causes) = (Vec::new(), Vec::new());
        for Slo { doc, counts } in slos.iter() {
            for (place, namespace) in self.namespaces.shown() {
                let events = counts.snapshot(place);
                for (result, value) in events.iter() {
                    let labels = [&*doc.name, result.as_str()];
                    saved_events.push(saved_series(labels, namespace, value));
                }
                let counted = events.bad.iter().filter(|(_, value)| *value > 0);
                for ([stage, cause], value) in counted {
                    causes.push(saved_series([&*doc.name, stage, cause], namespace, value));
                }
            }
        }
        saved.put(&SLO_EVENTS, saved_events);
        saved.put(&SLO_BAD_CAUSES, causes);
        let excluded = slos.iter();
        let excluded = excluded.flat_map(|slo| named(&slo.doc.name, slo.counts.excluded.save()));
        saved.put(&SLO_EXCLUDED, excluded.collect());
    }

    /// What was saved of SLOs that are not in force is ignored. The events are restored by the
    /// recorder, which knows their namespaces.
    fn restore(&self, saved: &SavedFamilies) {
        for Slo { doc, counts } in self.current().iter() {
            let series = |family| series_of(&doc.name, saved.series(family));
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
        let board = Arc::new(SloBoard::new(Namespaces::new(None).names));
        let mut counter = SloCounter::new(Arc::clone(&board));
        counter.replace(&[doc("one"), doc("two")]);
        counter.count(SloId(1), SloVerdict::Bad(None), 0);
        counter.count(SloId(2), SloVerdict::Bad(None), 0);
        counter.replace(&[doc("two"), doc("three")]);
        counter.count(SloId(0), SloVerdict::Bad(None), 0);
        let bad: Vec<_> = board
            .current()
            .iter()
            .map(|slo| slo.counts.snapshot(0).bad.sum())
            .collect();
        assert_eq!(bad, [2, 0]);
    }
}
