//! Everything that is counted of pods: written by the recorder, read by scrapes, shared by both.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::Relaxed};

use parking_lot::RwLock;

use super::capped::CappedFamilies;
use super::cold_starts::ColdStarts;
use super::custom_milestones::{MILESTONE_DURATION, MilestoneCounts, MilestoneDurations};
use super::event_families::{EventMetrics, STARTUP_SLI};
use super::gates::GateSeries;
use super::in_place::InPlaceFamilies;
use super::labels::{LabelSpec, SeriesLabel, WHOLE_SET};
use super::namespaces::{NamespaceNames, NamespaceSlot};
use super::node_families::{NODE_POOL, NodeMetrics};
use super::pod_counts::{PodCounts, StuckCounts};
use super::pod_families::{
    CREATED_TO_READY, DISCOVERED, DeliveryFamilies, FINISHED, INFLIGHT, LABEL_VALUES_DROPPED,
    LABEL_VALUES_EXPIRED, OLDEST_INFLIGHT, PodFamilies, SCHEDULED_TO_READY, STAGE_DURATION,
    STEP_DURATION, STUCK, TrackerFamilies, UNSCHEDULABLE, WAITING,
};
use super::rollouts::RolloutSeries;
use super::start_times::{StartTime, StartTimes, start_in_set};
use podinit_core::kube_event::CapacityState;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, Outcome, Stage, Step, WaitReason};
use podinit_core::timestamp::Timestamp;
use podinit_instruments::{
    Counter, ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, Histogram, HistogramSnapshot,
    LabelPair, SampleNumber, SavedFamilies, SavedSeries, SeriesStart, TimestampGauge,
};

/// The histograms of one label set.
#[derive(Debug)]
pub(super) struct SeriesSet {
    pub(super) values: Box<[Arc<str>]>,
    /// Since when its histograms count, where their families do not begin later
    pub(super) start: StartTime,
    intervals: [Histogram; Interval::ALL.len()],
    pub(super) milestones: MilestoneDurations,
    /// The conditional stages that apply to a pod of the set: a bit for each
    conditional: AtomicU8,
    /// While Events are a source
    startup_sli: Option<Histogram>,
}

impl SeriesSet {
    pub(super) fn interval(&self, interval: Interval) -> &Histogram {
        &self.intervals[interval.index()]
    }

    /// Exposes the histogram of a conditional stage from now on ([§7.2](crate::specification#s7-2)).
    pub(super) fn expose(&self, stage: Stage) {
        self.conditional.fetch_or(bit(stage), Relaxed);
    }

    /// The conditional stages that apply to a pod of the set.
    pub(super) fn conditional(&self) -> impl Iterator<Item = Stage> {
        let stages = self.conditional.load(Relaxed);
        Stage::ALL.into_iter().filter(move |stage| stages & bit(*stage) != 0)
    }

    /// Whether `interval` is exposed without an observation, too.
    fn is_exposed_at_zero(&self, interval: Interval) -> bool {
        match interval {
            Interval::Stage(stage) if stage.is_conditional() => {
                self.conditional.load(Relaxed) & bit(stage) != 0
            }
            _ => true,
        }
    }

    pub(super) const fn startup_sli(&self) -> Option<&Histogram> {
        self.startup_sli.as_ref()
    }
}

/// The bit of a stage in [`SeriesSet::conditional`].
const fn bit(stage: Stage) -> u8 {
    1 << stage as u8
}

/// What is counted only while there are other sources than pods.
#[derive(Debug, Default)]
pub(super) struct EvidenceMetrics {
    pub(super) cold_starts: Option<ColdStarts>,
    pub(super) nodes: Option<NodeMetrics>,
    pub(super) events: Option<EventMetrics>,
}

/// What is counted by names that pods and the configuration give.
#[derive(Debug, Default)]
pub(super) struct NamedMetrics {
    pub(super) gates: GateSeries,
    pub(super) milestones: MilestoneCounts,
    /// Without shards
    pub(super) rollouts: Option<RolloutSeries>,
}

/// All state.
#[derive(Debug)]
pub(super) struct MetricStore {
    pub(super) starts: StartTimes,
    pub(super) pod_counts: PodCounts,
    pub(super) stuck: StuckCounts,
    pub(super) oldest: [TimestampGauge; Stage::ALL.len()],
    pub(super) pods: PodFamilies,
    pub(super) tracker: TrackerFamilies,
    pub(super) deliveries: DeliveryFamilies,
    pub(super) in_place: InPlaceFamilies,
    pub(super) gates: GateSeries,
    pub(super) milestones: MilestoneCounts,
    /// While Events are a source
    pub(super) events: Option<EventMetrics>,
    /// While nodes are a source
    pub(super) nodes: Option<NodeMetrics>,
    /// While one of them is
    pub(super) cold_starts: Option<ColdStarts>,
    /// Without shards
    pub(super) rollouts: Option<RolloutSeries>,
    /// By position of the label in `dropped_labels`; the whole set comes last.
    pub(super) dropped: Box<[Counter]>,
    /// Likewise: values and sets that gave their places back
    expired: Box<[Counter]>,
    labels: Box<[String]>,
    dropped_labels: Box<[String]>,
    namespaces: Arc<NamespaceNames>,
    /// One slot for each label set: a scrape sees a set whole or not at all, and holds a slot for as long as it takes
    /// to copy a reference. As many as the caps allow (16 bytes a slot).
    sets: Box<[RwLock<Option<Arc<SeriesSet>>>]>,
    /// How many slots from the front have ever had a set
    used: AtomicUsize,
}

impl MetricStore {
    pub(super) fn new(
        specs: &[LabelSpec],
        max_sets: usize,
        namespaces: Arc<NamespaceNames>,
        named: NamedMetrics,
        evidence: EvidenceMetrics,
        starts: StartTimes,
    ) -> Self {
        let NamedMetrics { gates, milestones, rollouts } = named;
        let EvidenceMetrics { cold_starts, nodes, events } = evidence;
        let labels: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        let namespace = SeriesLabel::Namespace.key();
        let more = namespaces.labelled && labels.iter().all(|label| label != namespace);
        let more = more.then(|| namespace.to_owned());
        let dropped_labels: Box<[String]> = labels.iter().cloned().chain(more).collect();
        let counters = || (0..=dropped_labels.len()).map(|_| Counter::default()).collect();
        // One more for the set of those past the cap.
        let slots = max_sets.saturating_add(1);
        Self {
            starts,
            pod_counts: PodCounts::new(namespaces.places()),
            stuck: StuckCounts::new(namespaces.places()),
            oldest: Default::default(),
            pods: PodFamilies::default(),
            tracker: TrackerFamilies::default(),
            deliveries: DeliveryFamilies::default(),
            in_place: InPlaceFamilies::new(),
            gates,
            milestones,
            events,
            nodes,
            cold_starts,
            rollouts,
            dropped: counters(),
            expired: counters(),
            dropped_labels,
            labels: labels.into(),
            namespaces,
            sets: (0..slots).map(|_| RwLock::new(None)).collect(),
            used: AtomicUsize::new(0),
        }
    }

    /// Exposes a new label set, all of whose histograms are at zero and count from `start` on.
    pub(super) fn add_set(&self, set: usize, values: Box<[Arc<str>]>, start: Option<Timestamp>) {
        let added = Arc::new(SeriesSet {
            values,
            // A recording has times of its own, and states none.
            start: StartTime::in_seconds(start.filter(|_| self.starts.process().is_some())),
            intervals: Default::default(),
            milestones: MilestoneDurations::new(&self.milestones.milestones),
            conditional: AtomicU8::default(),
            startup_sli: self.events.as_ref().map(|_| Histogram::default()),
        });
        self.put_set(set, Some(added));
        self.used.fetch_max(set + 1, Relaxed);
    }

    /// Ends the series of a label set.
    pub(super) fn end_set(&self, set: usize) {
        self.put_set(set, None);
    }

    fn put_set(&self, set: usize, new: Option<Arc<SeriesSet>>) {
        if let Some(slot) = self.sets.get(set) {
            *slot.write() = new;
        }
    }

    /// The intervals that are counted.
    pub(super) fn intervals(&self) -> &'static [Interval] {
        match self.nodes {
            Some(_) => &Interval::ALL,
            None => &Interval::ALL[..Interval::WITHOUT_NODES],
        }
    }

    pub(super) fn set(&self, set: usize) -> Option<Arc<SeriesSet>> {
        let slot = self.sets.get(set)?.read();
        slot.clone()
    }

    /// The label sets that are exposed, sorted by their values.
    pub(super) fn sorted_sets(&self) -> Vec<Arc<SeriesSet>> {
        let used = 0..self.used.load(Relaxed);
        let mut sets: Vec<_> = used.filter_map(|set| self.set(set)).collect();
        sets.sort_unstable_by(|a, b| a.values.cmp(&b.values));
        sets
    }

    /// The labels whose values may be dropped, and how often they were.
    pub(super) fn dropped(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.dropped_labels.iter().map(String::as_str);
        let of_sets = names.chain([WHOLE_SET]).zip(self.dropped.iter());
        let others = self.other_labels().filter(|label| label.is_shown);
        let others = others.map(|label| (label.name, label.dropped));
        of_sets.chain(others).map(|(label, dropped)| (label, dropped.get()))
    }

    /// The capped labels that are in no label set.
    fn other_labels(&self) -> impl Iterator<Item = OtherLabel<'_>> {
        let GateSeries { by_name, .. } = &self.gates;
        let gate = OtherLabel { is_shown: by_name.is_met(), ..OtherLabel::from_label(by_name) };
        let registry =
            self.events.as_ref().map(|events| OtherLabel::from_label(&events.pulls.by_registry));
        let pool = self.nodes.as_ref().map(|nodes| OtherLabel::from_label(&nodes.pools));
        let pool = pool.filter(|pool| !self.labels.iter().any(|label| label == pool.name));
        registry.into_iter().chain(pool).chain([gate])
    }

    /// Counts a pod whose whole label set was dropped.
    pub(super) fn drop_whole_set(&self) {
        self.dropped[self.dropped_labels.len()].increment();
    }

    /// The labels whose values may be dropped, and how many gave their places back.
    pub(super) fn expired(&self) -> impl Iterator<Item = (&str, u64)> {
        let names = self.dropped_labels.iter().map(String::as_str);
        let of_sets = names.chain([WHOLE_SET]).zip(self.expired.iter().map(Counter::get));
        let others = self.other_labels().filter(|label| label.is_shown);
        let others = others.map(|label| (label.name, label.expired.get()));
        // Where label sets have the label of the pools, one series counts both.
        let pools = self.nodes.as_ref().map_or(0, |nodes| nodes.pools.expired.get());
        let of_sets = of_sets.map(move |(label, expired)| match label {
            NODE_POOL => (label, expired + pools),
            _ => (label, expired),
        });
        of_sets.chain(others)
    }

    /// Counts a value of the label at this position that has given its place back; `None` for a label set.
    pub(super) fn expire(&self, label: Option<usize>) {
        self.expired[label.unwrap_or(self.dropped_labels.len())].increment();
    }

    /// Counts a namespace that has given its place back.
    pub(super) fn expire_namespace(&self) {
        if let Some(position) = self.namespace_position() {
            self.expired[position].increment();
        }
    }

    fn namespace_position(&self) -> Option<usize> {
        let mut labels = self.dropped_labels.iter();
        let namespace = SeriesLabel::Namespace.key();
        labels.position(|label| label == namespace)
    }

    /// Counts a pod whose namespace was dropped.
    pub(super) fn drop_namespace(&self) {
        if let Some(position) = self.namespace_position() {
            self.dropped[position].increment();
        }
    }

    /// Adds the families that outlive the process. Histograms of label sets are saved by the recorder, which knows the
    /// sets.
    pub(super) fn save(&self, saved: &mut SavedFamilies) {
        let finished = self.pod_counts.snapshot().finished;
        let finished = Outcome::ALL.iter().zip(finished);
        let finished = finished
            .map(|(outcome, value)| SavedSeries::new(vec![Cow::Borrowed(outcome.as_str())], value));
        saved.put(&FINISHED, finished.collect());
        self.pods.save(saved);
        self.milestones.save(saved);
        self.gates.by_name.save(saved);
        self.in_place.save(saved);
        self.deliveries.save(saved);
        if let Some(events) = &self.events {
            events.families.save(saved);
            events.pulls.by_registry.save(saved);
        }
        if let Some(cold_starts) = &self.cold_starts {
            cold_starts.save(saved);
        }
        if let Some(nodes) = &self.nodes {
            nodes.save(saved);
        }
        if let Some(rollouts) = &self.rollouts {
            rollouts.by_workload.save(saved);
            rollouts.totals.save(saved);
        }
        let series = |(label, value): (&str, u64)| {
            SavedSeries::new(vec![Cow::Owned(label.to_owned())], value)
        };
        saved.put(&LABEL_VALUES_DROPPED, self.dropped().map(series).collect());
        saved.put(&LABEL_VALUES_EXPIRED, self.expired().map(series).collect());
        self.tracker.save(saved);
    }

    /// Adds what was saved. Of the values dropped, those of labels that there still are.
    pub(super) fn restore(
        &self,
        saved: &SavedFamilies,
        in_flight: impl IntoIterator<Item = (NamespaceSlot, WaitReason, CapacityState)>,
    ) {
        let mut finished = [0; Outcome::ALL.len()];
        for series in saved.series(&FINISHED) {
            let outcome = series.labels.first();
            if let Some(outcome) = outcome.and_then(|text| Outcome::from_text(text)) {
                finished[outcome.index()] += series.value;
            }
        }
        self.pod_counts.restore(in_flight, finished);
        self.pods.restore(saved);
        self.milestones.restore(saved);
        self.gates.restore(saved);
        self.in_place.restore(saved);
        self.deliveries.restore(saved);
        if let Some(events) = &self.events {
            events.families.restore(saved);
            events.pulls.by_registry.restore(saved);
        }
        if let Some(cold_starts) = &self.cold_starts {
            cold_starts.restore(saved);
        }
        if let Some(rollouts) = &self.rollouts {
            rollouts.restore(saved);
        }
        let names = self.dropped_labels.iter().map(String::as_str);
        let names = names.chain([WHOLE_SET]);
        let add = |family, name: &str, counter: &Counter| {
            let series = saved.series(family).iter();
            let of_label = series.filter(|series| series.labels.iter().eq([name]));
            of_label.for_each(|series| counter.add(series.value));
        };
        for ((name, dropped), expired) in names.zip(&self.dropped).zip(&self.expired) {
            add(&LABEL_VALUES_DROPPED, name, dropped);
            add(&LABEL_VALUES_EXPIRED, name, expired);
        }
        for OtherLabel { name, dropped, expired, .. } in self.other_labels() {
            add(&LABEL_VALUES_DROPPED, name, dropped);
            add(&LABEL_VALUES_EXPIRED, name, expired);
        }
        self.tracker.restore(saved);
    }
}

/// What is counted of a capped label that is in no label set.
struct OtherLabel<'a> {
    name: &'static str,
    dropped: &'a Counter,
    expired: &'a Counter,
    /// Its series are known from the start, or a value of it was met
    is_shown: bool,
}

impl<'a> OtherLabel<'a> {
    const fn from_label<T>(label: &'a CappedFamilies<T>) -> Self {
        let CappedFamilies { label: name, dropped, expired, .. } = label;
        Self { name, dropped, expired, is_shown: true }
    }
}

/// The histograms of all label sets, as a scrape writes them.
struct DurationHistograms<'a> {
    labels: &'a [String],
    sets: &'a [Arc<SeriesSet>],
    /// Since when the present family counts
    family_start: Option<Timestamp>,
    buffer: HistogramSnapshot,
}

impl<'a> DurationHistograms<'a> {
    /// Writes the histograms of `interval`, which have the labels `first` and those of their sets.
    fn write_interval(
        &mut self,
        out: &mut dyn ExpositionEncoder,
        interval: Interval,
        first: &[LabelPair<'a>],
    ) {
        let of = |set: &'a SeriesSet| {
            let histogram = set.interval(interval);
            (set.is_exposed_at_zero(interval) || histogram.is_used()).then_some(histogram)
        };
        self.write(out, of, first);
    }

    fn write(
        &mut self,
        out: &mut dyn ExpositionEncoder,
        of: impl Fn(&'a SeriesSet) -> Option<&'a Histogram>,
        first: &[LabelPair<'a>],
    ) {
        let with_exemplars = out.wants_exemplars();
        let mut labels: Vec<LabelPair<'a>> = Vec::with_capacity(first.len() + self.labels.len());
        for set in self.sets {
            let Some(histogram) = of(set) else { continue };
            labels.clear();
            labels.extend_from_slice(first);
            let names = self.labels.iter().map(String::as_str);
            labels.extend(names.zip(set.values.iter().map(AsRef::as_ref)));
            self.buffer.start = SeriesStart::Own(start_in_set(self.family_start, set.start.get()));
            histogram.read(&mut self.buffer, with_exemplars, |snapshot| {
                out.histogram(&labels, snapshot);
            });
        }
    }
}

/// What a scrape reads.
impl MetricStore {
    pub(super) fn collect(&self, out: &mut dyn ExpositionEncoder) {
        self.collect_durations(out);
        self.milestones.collect_unobserved(out);
        self.gates.by_name.collect(out);
        // Before the counts of pods, so that no scrape has more of these than of pods.
        if let Some(events) = &self.events {
            events.families.collect(out);
            events.pulls.by_registry.collect(out);
        }
        if let Some(cold_starts) = &self.cold_starts {
            cold_starts.collect(out);
        }
        if let Some(nodes) = &self.nodes {
            nodes.collect(out);
        }
        if let Some(rollouts) = &self.rollouts {
            rollouts.by_workload.collect(out);
            rollouts.totals.collect(out);
        }
        self.collect_pod_counts(out);
        self.pods.collect(out);
        self.in_place.collect(out);
        self.deliveries.collect(out);
        let dropped = self.dropped();
        let dropped = dropped.map(|(label, count)| (label, SampleNumber::Integer(count)));
        LABEL_VALUES_DROPPED.write_by_label(out, dropped);
        let expired = self.expired();
        let expired = expired.map(|(label, count)| (label, SampleNumber::Integer(count)));
        LABEL_VALUES_EXPIRED.write_by_label(out, expired);
        self.tracker.collect(out);
    }

    fn collect_durations(&self, out: &mut dyn ExpositionEncoder) {
        let sets = self.sorted_sets();
        let mut durations = DurationHistograms {
            labels: &self.labels,
            sets: &sets,
            family_start: None,
            buffer: HistogramSnapshot::default(),
        };
        let begin = |out: &mut dyn ExpositionEncoder, family: &FamilyDoc| {
            out.family(FamilyHead::from(family));
            self.starts.get(family.name)
        };
        durations.family_start = begin(out, &STAGE_DURATION);
        for stage in Stage::ALL {
            let labels = [("stage", stage.as_str())];
            durations.write_interval(out, Interval::Stage(stage), &labels);
        }
        durations.family_start = begin(out, &STEP_DURATION);
        for step in Step::ALL {
            if step.is_of_node() && self.nodes.is_none() {
                continue;
            }
            let labels = [("step", step.as_str())];
            durations.write_interval(out, Interval::Step(step), &labels);
        }
        durations.family_start = begin(out, &SCHEDULED_TO_READY);
        durations.write_interval(out, Interval::ScheduledToReady, &[]);
        durations.family_start = begin(out, &CREATED_TO_READY);
        durations.write_interval(out, Interval::CreatedToReady, &[]);
        if self.events.is_some() {
            durations.family_start = begin(out, &STARTUP_SLI);
            durations.write(out, SeriesSet::startup_sli, &[]);
        }
        if !self.milestones.milestones.is_empty() {
            durations.family_start = begin(out, &MILESTONE_DURATION);
            for (interval, name) in self.milestones.intervals() {
                let labels = [("milestone", name), ("from", interval.from.as_str())];
                durations.write(out, |set| set.milestones.used(interval), &labels);
            }
        }
    }

    /// The pods of each stage and cause, by namespace where that is a label.
    fn write_by_waiting(
        &self,
        out: &mut dyn ExpositionEncoder,
        pods_at: impl Fn(NamespaceSlot) -> [u64; WaitReason::COUNT],
    ) {
        for (place, namespace) in self.namespaces.shown() {
            let pods = pods_at(place);
            // Another namespace may just have got the place.
            if !self.namespaces.is_still(place, namespace.as_ref()) {
                continue;
            }
            for (waiting, pods) in WaitReason::ALL.into_iter().zip(pods) {
                let (stage, cause) = (waiting.stage().as_str(), waiting.cause().as_str());
                let labels = [("stage", stage), ("cause", cause)].into_iter();
                let namespace = namespace.as_deref();
                let labels = labels.chain(namespace.map(|name| ("namespace", name)));
                out.number(&labels.collect::<Vec<_>>(), SampleNumber::Integer(pods));
            }
        }
    }

    /// The families that add up come from one consistent snapshot.
    fn collect_pod_counts(&self, out: &mut dyn ExpositionEncoder) {
        let counts = self.pod_counts.snapshot();
        let stages = || Stage::ALL.into_iter().map(Stage::as_str);
        let in_flight = counts.in_flight().map(SampleNumber::Integer);
        INFLIGHT.write_by_label(out, stages().zip(in_flight));
        out.family(FamilyHead::from(&WAITING));
        self.write_by_waiting(out, |place| counts.waiting_at(place));
        if self.events.is_some() {
            let states = CapacityState::ALL.map(CapacityState::as_str).into_iter();
            let pods = counts.unschedulable.map(SampleNumber::Integer);
            UNSCHEDULABLE.write_by_label(out, states.zip(pods));
        }
        out.family(FamilyHead::from(&STUCK));
        self.write_by_waiting(out, |place| self.stuck.snapshot_at(place));
        let oldest = stages().zip(&self.oldest).filter_map(|(stage, oldest)| {
            Some((stage, SampleNumber::Float(oldest.get()?.as_seconds_f64())))
        });
        OLDEST_INFLIGHT.write_by_label(out, oldest);
        DISCOVERED.write(out, SampleNumber::Integer(counts.discovered));
        let finished = Outcome::ALL.into_iter().zip(counts.finished);
        let exposed = finished.filter(|(outcome, pods)| *pods > 0 || outcome.is_exposed_at_zero());
        let exposed =
            exposed.map(|(outcome, pods)| (outcome.as_str(), SampleNumber::Integer(pods)));
        FINISHED.write_by_label(out, exposed);
    }
}

#[cfg(test)]
mod tests;
