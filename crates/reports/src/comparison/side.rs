//! One side of a comparison: the pods of a recording, or the startups that a running exporter has kept, each as
//! small as a comparison allows.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::mix::untagged;
use super::pod_parts::PodParts;
use super::row::LEAST_PODS;
use super::start::StartupCourse;
use super::start_images::StartImages;
use super::startup_pulls::StartupPulls;
use super::statistics::{DurationSample, ObservedDuration};
use super::timed::PodDuration;
use podinit_core::dimension::{Dimension, PodValues};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Backfill, Cause, EndedStartup, Interval, IntervalResult, Latency, Milestone, NetworkTime,
    Observation, Observer, Outcome, Progress, Record, RecordAmendment, SloInterval, Stage,
    TrackerObservation,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::{PodInfo, PodUid, Workload};
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_decode::{DecodeOptions, SpecField, rfc3339};
use podinit_recordings::reader::{RecordingDocument, RecordingError};
use podinit_recordings::replay::{ReplayConfig, replayed};

/// The images of a pod.
type PodImages = Arc<[Arc<str>]>;

/// What a comparison knows of a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedPod {
    /// The durations that were observed, by [`Interval::index`]
    durations: [Option<Latency>; Interval::COUNT],
    /// The stages that apply to it and were not observed, a bit for each [`Stage::index`]
    unobserved_stages: u8,
    /// How long its images were pulled
    pub(super) pulls: StartupPulls,
    /// The minute in which it was created, where that is known
    pub(super) minute: Option<i64>,
    /// Its network time may include the pull of an image
    network_may_include_pulls: bool,
    /// The durations that have names of their own
    named: Box<[(PodDuration, Latency)]>,
    /// How its startup went
    pub(super) start: StartupCourse,
    /// What that tells of images
    pub(super) start_images: Option<Box<StartImages>>,
    pub namespace: Arc<str>,
    pub node: Option<Arc<str>>,
    /// What its node states; `None` where nodes are not known
    pub node_labels: Option<Arc<NodeLabels>>,
    /// Its controller, a Deployment instead of its ReplicaSet
    pub workload: Option<Arc<Workload>>,
    /// Of a pod of a Job what its tries have in common: the Job's name, and an index where it has one
    pub(super) job: Option<Box<str>>,
    /// What its spec names
    pub(super) parts: Arc<PodParts>,
    /// The images of all its containers, init containers too
    pub images: PodImages,
    /// The same without tags and digests, which a release changes; in order
    pub(super) untagged: PodImages,
}

impl ComparedPod {
    /// How long an interval took, where it was observed.
    pub(crate) fn duration(&self, interval: Interval) -> Option<Latency> {
        self.durations[interval.index()]
    }

    /// The durations with names of their own that were observed.
    pub(super) fn named(&self) -> &[(PodDuration, Latency)] {
        &self.named
    }

    /// How long this took, where it was observed.
    pub(super) fn duration_of(&self, timed: &PodDuration) -> Option<Latency> {
        match timed {
            PodDuration::Interval(SloInterval::Standard(interval)) => self.duration(*interval),
            PodDuration::OrZero { stage, whole, .. } => {
                self.duration(*whole)?;
                self.stage_or_zero(*stage)
            }
            PodDuration::Pulls { from: None } => self.pulls.all,
            PodDuration::Pulls { from: Some(registry) } => self.pulls.from(registry),
            _ => self.named.iter().find(|(own, _)| own == timed).map(|(_, took)| *took),
        }
    }

    /// How long a stage took, 0 where it does not apply to the pod; `None` where it was not observed.
    pub(super) fn stage_or_zero(&self, stage: Stage) -> Option<Latency> {
        let lacks = || (!self.is_unobserved(stage)).then(|| Latency::from_nanos(0));
        self.duration(Interval::Stage(stage)).or_else(lacks)
    }

    /// Whether a stage applies to it and was not observed.
    pub(super) fn is_unobserved(&self, stage: Stage) -> bool {
        self.unobserved_stages & (1 << stage.index()) != 0
    }

    /// Whether anything of its startup was observed.
    pub(crate) fn is_observed(&self) -> bool {
        self.durations.iter().any(Option::is_some) || !self.named.is_empty()
    }

    /// The values of the pod in a dimension, each once. Image names come without tags. An empty name of a pool means that
    /// the node has no pool.
    pub(super) fn values(&self, dimension: Dimension) -> impl Iterator<Item = Cow<'_, str>> {
        self.values_with(dimension, &self.untagged)
    }

    /// The same, where the pod has these images.
    pub(super) fn values_with<'a>(
        &'a self,
        dimension: Dimension,
        images: &'a [Arc<str>],
    ) -> impl Iterator<Item = Cow<'a, str>> {
        let has = PodValues {
            namespace: &self.namespace,
            node: self.node.as_deref(),
            workload: self.workload.as_deref(),
            labels: self.node_labels.as_deref(),
            images,
            gate: None,
        };
        let is_stated = move |value: &Cow<'_, str>| match dimension {
            Dimension::Nodepool => !value.is_empty(),
            _ => true,
        };
        has.values(dimension).filter(is_stated)
    }

    fn value(&self, took: Latency, weight: f64) -> ObservedDuration {
        ObservedDuration { nanos: took.as_nanos(), minute: self.minute, weight }
    }
}

/// A pod of which an interval was observed, and its duration as one value of a sample.
pub(super) type ObservedPod<'a> = (&'a ComparedPod, ObservedDuration);

/// The durations of these pods.
pub(super) fn sample<'a>(pods: impl IntoIterator<Item = ObservedPod<'a>>) -> DurationSample {
    DurationSample::new(pods.into_iter().map(|(_, observed)| observed))
}

/// The pods of one side.
#[derive(Debug, Default)]
pub struct ComparisonSide {
    pods: Vec<ComparedPod>,
    /// Pods that were followed and of which nothing was observed
    unobserved: Vec<ComparedPod>,
    /// From when to when
    span: Option<(Timestamp, Timestamp)>,
    /// Since when it shows every new pod; `None` where it shows all pods that there are
    complete_since: Option<Timestamp>,
    /// When the newest pod was created
    newest: Option<Timestamp>,
    /// How many pods ended in which way, of those whose startup was followed; `in_flight` is one of them
    outcomes: BTreeMap<&'static str, u64>,
    /// How many pods ever waited for each cause
    causes: BTreeMap<&'static str, u64>,
    /// Only the startups that a running exporter has kept
    only_kept: bool,
    /// A lone list, which does not tell what a pod waited for before it was bound
    is_lone_list: bool,
    /// What specs name, which most pods of a workload share, each with the images and the same without tags
    parts: HashMap<Arc<PodParts>, [PodImages; 2]>,
    /// Lists of images, of which most pods share one, each with the same without tags and digests
    images: HashMap<PodImages, PodImages>,
    /// The names of milestones of your own
    milestones: BTreeSet<Arc<str>>,
    /// Startups that ended as ready, of a recording with milestones: they may still come
    followed: BTreeMap<PodUid, EndedStartup>,
}

/// A side in figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideSummary {
    /// The time of the first document that was counted (RFC 3339)
    pub from: Option<String>,
    /// The time of the last one (RFC 3339)
    pub to: Option<String>,
    /// Pods of whose startup anything was observed
    pub observed: usize,
    /// How many pods ended in which way, of those whose startup was followed; `in_flight` is one of them
    pub outcomes: BTreeMap<&'static str, u64>,
    /// How many pods ever waited for each cause
    pub causes: BTreeMap<&'static str, u64>,
    /// Only startups that running exporters have kept: the newest of each, and the pods in flight. Those that are kept
    /// because they were slow are left out, since they would be compared with startups of every kind
    pub(crate) only_kept: bool,
    /// A lone list: `scheduling` is all the time before a pod was bound, on both sides
    pub lone_list: bool,
}

impl ComparisonSide {
    /// What is to be read of a recording, beside what a report on it shows: the schedulers of pods.
    pub fn decode_options(options: DecodeOptions) -> DecodeOptions {
        DecodeOptions { spec_fields: vec![SpecField::Scheduler], ..options }
    }

    /// The pods of a recording, read with [`Self::decode_options`].
    ///
    /// # Errors
    /// If a document is malformed: nothing is compared with a part of a recording.
    pub fn of_recording(
        documents: impl IntoIterator<Item = Result<RecordingDocument, RecordingError>>,
        config: ReplayConfig,
    ) -> Result<Self, RecordingError> {
        let milestones = Arc::clone(&config.tracker.milestones);
        let is_backfilled = config.tracker.backfill != Backfill::Nothing;
        let milestones = milestones.iter().map(|one| Arc::clone(&one.name));
        let milestones: BTreeSet<Arc<str>> = milestones.collect();
        let new_side = |_: &_| Ok(Self { milestones: milestones.clone(), ..Self::default() });
        let end = replayed(documents, config.observed(), new_side, |_, _| {})?;
        let (mut side, is_lone_list) = (end.sink, end.lone_list.is_some());
        side.is_lone_list = is_lone_list;
        side.complete_since =
            side.span.map(|(from, _)| from).filter(|_| !is_lone_list && !is_backfilled);
        for startup in std::mem::take(&mut side.followed).into_values() {
            side.add(&startup.record());
        }
        for (_, pod) in end.tracker.in_flight_after(None) {
            side.add(&pod.record());
        }
        Ok(side)
    }

    /// The startups that a running exporter has kept.
    pub fn of_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut side = Self { only_kept: true, ..Self::default() };
        for record in records {
            let created = record.reached(Milestone::Created);
            side.advanced(created.unwrap_or(record.discovered));
            // Of those that ended before the oldest that is kept, only the ones that did not are known.
            if let Progress::Ended { at, .. } = record.progress {
                side.complete_since = Some(side.complete_since.map_or(at, |oldest| oldest.min(at)));
            }
            side.add(record);
        }
        side
    }

    /// Whether it is a lone list, which does not tell what a pod waited for before it was bound.
    pub(super) const fn is_lone_list(&self) -> bool {
        self.is_lone_list
    }

    /// The pods of whose startup anything was observed.
    pub fn pods(&self) -> &[ComparedPod] {
        &self.pods
    }

    /// The pods whose startup was followed.
    pub(super) fn followed(&self) -> impl Iterator<Item = &ComparedPod> {
        self.pods.iter().chain(&self.unobserved)
    }

    /// Since when it shows every new pod, to the second; `None` where it shows all pods that there are.
    pub(super) fn complete_since(&self) -> Option<Timestamp> {
        self.complete_since.map(Timestamp::truncate_to_second)
    }

    /// Until when it shows pods. Where clocks are ahead, that is when its newest pod was created.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.span.map(|(_, to)| to).max(self.newest)
    }

    /// The pods of which a duration was observed.
    pub(super) fn observed<'a>(
        &'a self,
        timed: &'a PodDuration,
    ) -> impl Iterator<Item = ObservedPod<'a>> + Clone {
        self.pods.iter().filter_map(|pod| Some((pod, pod.value(pod.duration_of(timed)?, 1.0))))
    }

    /// Whether a duration was observed for enough pods for a row.
    pub(super) fn has_enough(&self, timed: &PodDuration) -> bool {
        self.observed(timed).nth(LEAST_PODS - 1).is_some()
    }

    /// The sample of a duration, of the pods that `weight` gives one.
    pub(super) fn sample_of(
        &self,
        timed: &PodDuration,
        weight: impl Fn(usize) -> Option<f64>,
    ) -> DurationSample {
        let pods = self.pods.iter().enumerate();
        DurationSample::new(
            pods.filter_map(|(index, pod)| {
                Some(pod.value(pod.duration_of(timed)?, weight(index)?))
            }),
        )
    }

    /// Whether a milestone of your own has this name, as it is configured or as a record says.
    pub fn has_milestone(&self, name: &str) -> bool {
        self.milestones.contains(name)
    }

    /// The share of the observed network times that may include the pull of an image; 0 without any.
    pub(super) fn network_with_pulls(&self) -> f64 {
        let network = Interval::Stage(Stage::Network);
        let pods = || self.pods.iter().filter(|pod| pod.duration(network).is_some());
        let with_pulls = pods().filter(|pod| pod.network_may_include_pulls);
        with_pulls.count() as f64 / pods().count().max(1) as f64
    }

    /// The side in figures.
    pub fn summary(&self) -> SideSummary {
        SideSummary {
            from: self.span.map(|(from, _)| rfc3339::format(from)),
            to: self.span.map(|(_, to)| rfc3339::format(to)),
            observed: self.pods.len(),
            outcomes: self.outcomes.clone(),
            causes: self.causes.clone(),
            only_kept: self.only_kept,
            lone_list: self.is_lone_list,
        }
    }

    /// The same, with all the time before a pod was bound as `scheduling`: what a lone list tells, to compare it with.
    pub(super) fn as_a_list_tells(&self) -> Self {
        const BEFORE_BINDING: [Stage; 3] = [Stage::Gated, Stage::Scheduling, Stage::Unschedulable];
        let [gated, scheduling, unschedulable] =
            BEFORE_BINDING.map(|stage| Interval::Stage(stage).index());
        let pods = self.pods.iter().cloned().map(|mut pod| {
            let is_unobserved = BEFORE_BINDING.into_iter().any(|stage| pod.is_unobserved(stage));
            for stage in BEFORE_BINDING {
                pod.unobserved_stages &= !(1 << stage.index());
            }
            let waited = pod.durations[scheduling].or(pod.durations[unschedulable].take());
            let nanos = pod.durations[gated].take().map_or(0, Latency::as_nanos);
            pod.durations[scheduling] =
                waited.map(|waited| Latency::from_nanos(waited.as_nanos().saturating_add(nanos)));
            if is_unobserved && waited.is_none() {
                pod.unobserved_stages |= 1 << Stage::Scheduling.index();
            }
            pod
        });
        Self {
            pods: pods.collect(),
            unobserved: self.unobserved.clone(),
            outcomes: self.outcomes.clone(),
            causes: self.causes.clone(),
            parts: HashMap::new(),
            images: HashMap::new(),
            milestones: self.milestones.clone(),
            followed: BTreeMap::new(),
            ..*self
        }
    }

    fn add(&mut self, record: &Record) {
        let outcome = record.outcome().map_or("in_flight", LabelValue::as_str);
        *self.outcomes.entry(outcome).or_default() += 1;
        let causes: HashSet<Cause> = record.causes.iter().map(|one| one.waiting.cause()).collect();
        for cause in causes {
            *self.causes.entry(cause.as_str()).or_default() += 1;
        }
        for milestone in &record.custom_milestones {
            if !self.milestones.contains(&milestone.milestone) {
                self.milestones.insert(Arc::clone(&milestone.milestone));
            }
        }
        let mut durations = [None; Interval::COUNT];
        for interval in Interval::ALL {
            durations[interval.index()] = record.duration(interval);
        }
        let created = record.reached(Milestone::Created);
        let (parts, [images, untagged]) = self.parts_of(record);
        let start_images =
            StartImages::from_record(record, |pulled| self.images(pulled)[1].clone());
        let pod = ComparedPod {
            durations,
            unobserved_stages: unobserved_stages(record),
            pulls: StartupPulls::from_record(record),
            minute: created.map(|at| at.as_nanos().div_euclid(60 * NANOS_PER_SECOND)),
            network_may_include_pulls: (record.network_time)
                .is_some_and(NetworkTime::may_include_pulls),
            named: PodDuration::of_record(record),
            start: StartupCourse::from_record(record),
            start_images: start_images.map(Box::new),
            namespace: Arc::clone(&record.pod.namespace),
            node: record.pod.node.clone(),
            node_labels: record.node_labels.clone(),
            workload: record.pod.workload.clone(),
            job: job(&record.pod).map(Box::from),
            parts,
            images,
            untagged,
        };
        self.newest = self.newest.max(Some(pod.start.created));
        match pod.is_observed() {
            true => self.pods.push(pod),
            false => self.unobserved.push(pod),
        }
    }

    fn parts_of(&mut self, record: &Record) -> (Arc<PodParts>, [PodImages; 2]) {
        // Of exporters schedulers are not known.
        let parts = PodParts::new(record, !self.only_kept);
        if let Some((parts, images)) = self.parts.get_key_value(&parts) {
            return (Arc::clone(parts), images.clone());
        }
        let images = self.images(parts.images().map(|(_, image)| Arc::clone(image)).collect());
        let parts = Arc::new(parts);
        self.parts.insert(Arc::clone(&parts), images.clone());
        (parts, images)
    }

    /// These images as a list that pods share, and the same without tags and digests, in order.
    fn images(&mut self, images: Vec<Arc<str>>) -> [PodImages; 2] {
        if let Some((images, untagged)) = self.images.get_key_value(images.as_slice()) {
            return [images, untagged].map(Arc::clone);
        }
        let mut names: Vec<Arc<str>> = images.iter().map(|image| untagged(image).into()).collect();
        names.sort_unstable();
        let (images, untagged) = (PodImages::from(images), PodImages::from(names));
        self.images.insert(Arc::clone(&images), Arc::clone(&untagged));
        [images, untagged]
    }

    fn advanced(&mut self, now: Timestamp) {
        if now > Timestamp::EPOCH {
            let (from, to) = self.span.unwrap_or((now, now));
            self.span = Some((from.min(now), to.max(now)));
        }
    }
}

/// The stages that apply to a pod and were not observed, a bit for each.
fn unobserved_stages(record: &Record) -> u8 {
    let unobserved = record.intervals.iter().filter_map(|one| match (one.interval, one.result) {
        (Interval::Stage(stage), IntervalResult::Open | IntervalResult::Unobserved { .. }) => {
            Some(stage)
        }
        _ => None,
    });
    unobserved.fold(0, |bits, stage| bits | 1 << stage.index())
}

/// The name of a pod of a Job without the word that each try gets anew.
fn job(pod: &PodInfo) -> Option<&str> {
    let is_of_job = pod.workload.as_deref().is_some_and(|workload| workload.is_of_kind("Job"));
    let name = pod.name.rsplit_once('-').map_or(&*pod.name, |(name, _)| name);
    is_of_job.then_some(name)
}

impl Observer for ComparisonSide {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        if let Observation::Tracker(TrackerObservation::Advanced { .. }) = observation {
            self.advanced(now);
        }
    }

    fn ended(&mut self, startup: EndedStartup) {
        match startup.outcome() {
            Outcome::Ready if !self.milestones.is_empty() => {
                self.followed.insert(startup.uid(), startup);
            }
            _ => self.add(&startup.record()),
        }
    }

    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        if let Some(startup) = self.followed.get_mut(&uid) {
            startup.amend(amendment);
        }
    }
}
