//! The single pods of a report in little memory, each as bytes: about 80 for one that became ready. Of a record it
//! keeps what a report shows of single pods; [`ReportedPods::iter`] makes records of that again.

use std::sync::Arc;

use super::ReportedPod;
use super::packed_values::{
    Numbered, bits, latency, put_latency, put_time, put_value, put_waiting, set, time, value,
    waiting,
};
use podinit_core::kube_event::CapacityState;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Interval, IntervalKind, IntervalResult, Latency, LostStartup, Milestone, Needed, NetworkTime,
    NodeAge, Outcome, Progress, Record, RecordedCapacity, RecordedCause, RecordedCustomMilestone,
    RecordedGate, RecordedImage, RecordedInterval, RecordedMilestone, RecordedPull, Stage,
    StartupImages, Step, UnobservedReason, WaitReason,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::packed::bytes::{ByteReader, put_number};
use podinit_core::pod::{Claims, PodInfo, PodUid, Workload};
use podinit_core::timestamp::Timestamp;

/// Pods by namespace and name, once they are in order.
#[derive(Debug, Default)]
pub struct ReportedPods {
    bytes: Vec<u8>,
    /// Where each begins
    places: Vec<usize>,
    namespaces: Numbered<str>,
    nodes: Numbered<str>,
    workloads: Numbered<Workload>,
    images: Numbered<[Arc<str>]>,
    node_labels: Numbered<NodeLabels>,
    containers: Numbered<str>,
    registries: Numbered<str>,
    /// When pods were first seen: all of a list at once
    discovered: Vec<Timestamp>,
    /// Of the pods that have any
    named: Vec<(Vec<RecordedGate>, Vec<RecordedCustomMilestone>)>,
}

impl ReportedPods {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it has no pod.
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The pods, one at a time.
    pub fn iter(&self) -> impl Iterator<Item = ReportedPod> {
        self.places.iter().map(|place| self.at(*place))
    }

    /// The pod at a position.
    pub(super) fn get(&self, position: usize) -> Option<ReportedPod> {
        self.places.get(position).map(|place| self.at(*place))
    }

    /// The names of the milestones of your own that a pod has had.
    pub(super) fn custom_milestones(&self) -> impl Iterator<Item = &Arc<str>> {
        self.named.iter().flat_map(|(_, all)| all).map(|one| &one.milestone)
    }

    /// Puts the pods in order.
    pub(super) fn sort(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.sort_by(|one, other| {
            let [name, other_name] = [one, other].map(|place| self.name_at(*place));
            let discovered = |place: &usize| self.at(*place).record.map(|record| record.discovered);
            name.cmp(&other_name).then_with(|| discovered(one).cmp(&discovered(other)))
        });
        self.places = places;
    }

    /// The positions of the pods whose startup is known, by node.
    pub(super) fn by_node(&self) -> Vec<(Option<Arc<str>>, Vec<usize>)> {
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.values.len() + 1];
        for (position, place) in self.places.iter().enumerate() {
            let mut reader = self.reader(*place);
            let _ = self.name(&mut reader);
            let (has_record, node) = (reader.byte() & HAS_RECORD != 0, reader.number() as usize);
            if let Some(pods) = nodes.get_mut(node).filter(|_| has_record) {
                pods.push(position);
            }
        }
        let names =
            [None].into_iter().chain(self.nodes.values.iter().map(|name| Some(Arc::clone(name))));
        let mut nodes: Vec<_> = names.zip(nodes).filter(|(_, pods)| !pods.is_empty()).collect();
        nodes.sort_unstable();
        nodes
    }

    /// Adds a pod behind the others.
    pub(super) fn push(&mut self, pod: &ReportedPod) {
        self.places.push(self.bytes.len());
        let ReportedPod { uid, info, images, outcome, set_aside, record } = pod;
        let namespace = self.namespaces.number(&info.namespace);
        let node = info.node.as_ref().map(|node| self.nodes.number(node));
        let workload = info.workload.as_ref().map(|workload| self.workloads.number(workload));
        let images = self.images.number(images);
        let out = &mut self.bytes;
        put_number(out, namespace);
        put_number(out, info.name.len() as u64);
        out.extend_from_slice(info.name.as_bytes());
        out.push((u8::from(record.is_some()) * HAS_RECORD) | (u8::from(uid.is_some()) * HAS_UID));
        put_number(out, node.map_or(0, |node| node + 1));
        put_number(out, workload.map_or(0, |workload| workload + 1));
        put_number(out, images);
        if let Some(uid) = uid {
            for word in uid.words() {
                out.extend_from_slice(&word.to_le_bytes());
            }
        }
        put_value(out, *outcome);
        put_value(out, *set_aside);
        if let Some(record) = record {
            self.push_record(record);
        }
    }

    fn push_record(&mut self, record: &Record) {
        let labels = record.node_labels.as_ref().map(|labels| self.node_labels.number(labels));
        let base = record.reached(Milestone::Created).unwrap_or(record.discovered);
        let out = &mut self.bytes;
        put_number(out, labels.map_or(0, |labels| labels + 1));
        if self.discovered.last() != Some(&record.discovered) {
            self.discovered.push(record.discovered);
        }
        put_number(out, self.discovered.len() as u64);
        put_time(out, record.discovered, Some(base));
        let (waiting, at) = match &record.progress {
            Progress::InFlight { waiting, entered, .. } => (Some(*waiting), *entered),
            Progress::Ended { at, .. } => (record.causes.last().map(|cause| cause.waiting), *at),
        };
        put_waiting(out, waiting);
        put_time(out, record.discovered, Some(at));
        let milestones = bits(record.milestones.iter().map(|one| one.milestone.index()));
        put_number(out, milestones);
        for milestone in set(milestones, &Milestone::ALL) {
            put_time(out, base, record.reached(milestone));
        }
        put_value(out, record.network_time);
        put_value(out, record.needed.capacity);
        put_value(out, Some(record.needed.images));
        put_value(out, record.unschedulable.as_ref().map(|capacity| capacity.state));
        let intervals = bits(record.intervals.iter().map(|one| one.interval.index()));
        let found = set(intervals, &Interval::ALL).filter_map(|interval| {
            let one = record.intervals.iter().find(|one| one.interval == interval)?;
            Some((one, *one == usual(record, interval)))
        });
        let are_usual = found.clone().filter(|(_, is_usual)| *is_usual);
        put_number(out, intervals);
        put_number(out, bits(are_usual.map(|(one, _)| one.interval.index())));
        for (one, _) in found.filter(|(_, is_usual)| !is_usual) {
            let RecordedInterval { began, ended, result, .. } = one;
            put_time(out, base, *began);
            put_time(out, base, *ended);
            match result {
                IntervalResult::Open => out.push(OPEN),
                IntervalResult::Measured { seconds } if took(*began, *ended) == Some(*seconds) => {
                    out.push(MEASURED);
                }
                IntervalResult::Measured { seconds } => {
                    out.push(MEASURED_OTHERWISE);
                    put_latency(out, Some(*seconds));
                }
                IntervalResult::Unobserved { reason } => out.push(UNOBSERVED + *reason as u8),
            }
        }
        put_number(out, record.pulls.len() as u64);
        for pull in &record.pulls {
            let RecordedPull { container, init, registry, has_failed, image } = pull;
            put_number(out, self.containers.number(container));
            put_number(out, self.registries.number(registry));
            out.push(u8::from(*init) | (u8::from(*has_failed) << 1));
            match image {
                RecordedImage::Unknown => out.push(0),
                RecordedImage::Present => out.push(1),
                RecordedImage::Pulled { ended, with_wait } => {
                    out.push(2);
                    put_time(out, base, *ended);
                    put_latency(out, Some(*with_wait));
                }
            }
        }
        let named = (&record.gates, &record.custom_milestones);
        match named.0.is_empty() && named.1.is_empty() {
            true => put_number(out, 0),
            false => {
                self.named.push((named.0.clone(), named.1.clone()));
                put_number(out, self.named.len() as u64);
            }
        }
    }

    fn reader(&self, place: usize) -> ByteReader<'_> {
        ByteReader(self.bytes.get(place..).unwrap_or_default())
    }

    /// The namespace and the name with which a pod begins.
    fn name<'a>(&'a self, reader: &mut ByteReader<'a>) -> (&'a Arc<str>, &'a [u8]) {
        let namespace = reader.number() as usize;
        let length = reader.number();
        (&self.namespaces.values[namespace], reader.bytes(length))
    }

    fn name_at(&self, place: usize) -> (&str, &[u8]) {
        let (namespace, name) = self.name(&mut self.reader(place));
        (namespace, name)
    }

    fn at(&self, place: usize) -> ReportedPod {
        let reader = &mut self.reader(place);
        let (namespace, name) = self.name(reader);
        let has = reader.byte();
        let info = PodInfo {
            namespace: Arc::clone(namespace),
            name: String::from_utf8_lossy(name).into(),
            node: self.nodes.optional(reader.number()),
            workload: self.workloads.optional(reader.number()),
            ..PodInfo::default()
        };
        let images = self.images.values.get(reader.number() as usize).cloned();
        let uid = (has & HAS_UID != 0)
            .then(|| PodUid::from_words([(); 2].map(|()| u64::from_le_bytes(reader.array()))));
        let (outcome, set_aside) = (value::<Outcome>(reader), value::<LostStartup>(reader));
        let record = (has & HAS_RECORD != 0)
            .then(|| self.record(reader, (uid.unwrap_or_default(), outcome), info.clone()));
        ReportedPod { uid, info, images: images.unwrap_or_default(), outcome, set_aside, record }
    }

    fn record(
        &self,
        reader: &mut ByteReader<'_>,
        (uid, outcome): (PodUid, Option<Outcome>),
        pod: PodInfo,
    ) -> Record {
        let node_labels = self.node_labels.optional(reader.number());
        let discovered = (reader.number() as usize).checked_sub(1);
        let discovered = discovered.and_then(|number| self.discovered.get(number)).copied();
        let discovered = discovered.unwrap_or_default();
        let base = time(reader, discovered).unwrap_or_default();
        let waiting = waiting(reader);
        let at = time(reader, discovered).unwrap_or_default();
        let progress = match outcome {
            None => Progress::InFlight {
                waiting: waiting.unwrap_or(WaitReason::otherwise(Stage::Gated)),
                entered: at,
                stuck_at: at,
                is_stuck: false,
                is_never_ready: false,
            },
            Some(outcome) => Progress::Ended { outcome, at, ending: None },
        };
        let last = waiting.filter(|_| outcome.is_some());
        let cause = |waiting| RecordedCause { waiting, began: discovered, container: None };
        let milestones = set(reader.number(), &Milestone::ALL).map(|milestone| {
            let time = time(reader, base);
            RecordedMilestone { milestone, time, source: None }
        });
        let milestones = milestones.collect();
        let network_time = value::<NetworkTime>(reader);
        let capacity = value::<NodeAge>(reader);
        let images = value::<StartupImages>(reader).unwrap_or_default();
        let unschedulable = value::<CapacityState>(reader).map(|state| RecordedCapacity {
            state,
            by: None,
            since: None,
            message: None,
            choices: None,
        });
        let mut record = Record {
            uid,
            pod,
            discovered,
            progress,
            milestones,
            gates: Vec::new(),
            custom_milestones: Vec::new(),
            node_labels,
            needed: Needed { capacity, images },
            network_time,
            intervals: Vec::new(),
            containers: Vec::new(),
            image: None,
            message: None,
            unschedulable,
            pulls: Vec::new(),
            causes: last.map(cause).into_iter().collect(),
            slos: Vec::new(),
            claims: Claims::default(),
            relapse: None,
        };
        let (intervals, are_usual) = (reader.number(), reader.number());
        let intervals = set(intervals, &Interval::ALL).map(|interval| {
            match are_usual >> interval.index() & 1 {
                0 => unusual(reader, base, interval),
                _ => usual(&record, interval),
            }
        });
        record.intervals = intervals.collect();
        let pulls = (0..reader.number()).map(|_| {
            let container = self.containers.at(reader.number());
            let registry = self.registries.at(reader.number());
            let flags = reader.byte();
            let image = match reader.byte() {
                0 => RecordedImage::Unknown,
                1 => RecordedImage::Present,
                _ => RecordedImage::Pulled {
                    ended: time(reader, base),
                    with_wait: latency(reader).unwrap_or(NO_TIME),
                },
            };
            let (init, has_failed) = (flags & 1 != 0, flags & 2 != 0);
            RecordedPull { container, init, registry, has_failed, image }
        });
        record.pulls = pulls.collect();
        let named = (reader.number() as usize).checked_sub(1);
        (record.gates, record.custom_milestones) =
            named.and_then(|number| self.named.get(number)).cloned().unwrap_or_default();
        record
    }
}

impl FromIterator<ReportedPod> for ReportedPods {
    fn from_iter<I: IntoIterator<Item = ReportedPod>>(pods: I) -> Self {
        let mut packed = Self::default();
        pods.into_iter().for_each(|pod| packed.push(&pod));
        packed.sort();
        packed
    }
}

const HAS_RECORD: u8 = 1;
const HAS_UID: u8 = 1 << 1;

/// What became of an interval. One that was measured mostly took as long as its times say.
const OPEN: u8 = 0;
const MEASURED: u8 = 1;
const MEASURED_OTHERWISE: u8 = 2;
const UNOBSERVED: u8 = 3;

/// What only a fault of the program would leave out.
const NO_TIME: Latency = Latency::from_nanos(0);

/// What most pods have of an interval: it began and ended with milestones, and was measured.
fn usual(record: &Record, interval: Interval) -> RecordedInterval {
    use Milestone::{
        Acknowledged, ContainersReady, ContainersStarted, Created, Initialized, NetworkReady,
        Ready, Scheduled, Ungated,
    };
    let (from, to) = match interval {
        Interval::Stage(Stage::Gated) => (Created, Ungated),
        Interval::Stage(Stage::Scheduling | Stage::Unschedulable) => (Created, Scheduled),
        Interval::Stage(Stage::Network) => (Scheduled, NetworkReady),
        Interval::Stage(Stage::Init) => (NetworkReady, Initialized),
        Interval::Stage(Stage::Containers) => (NetworkReady, ContainersReady),
        Interval::Stage(Stage::Readiness) => (ContainersReady, Ready),
        Interval::ScheduledToReady => (Scheduled, Ready),
        Interval::CreatedToReady => (Created, Ready),
        Interval::Step(Step::Acknowledge) => (Scheduled, Acknowledged),
        Interval::Step(Step::Sandbox) => (Acknowledged, NetworkReady),
        Interval::Step(Step::Start) => (NetworkReady, ContainersStarted),
        Interval::Step(Step::Probe) => (ContainersStarted, ContainersReady),
        Interval::Step(Step::NodeLaunch | Step::NodeReady | Step::NodeJoin) => (Created, Scheduled),
    };
    let (began, ended) = (record.reached(from), record.reached(to));
    let result = took(began, ended).map(|seconds| IntervalResult::Measured { seconds });
    let kind = IntervalKind::from_interval(interval);
    let result = result.unwrap_or(IntervalResult::Open);
    RecordedInterval { interval, kind, began, ended, result }
}

/// What [`ReportedPods::push_record`] has written of an interval that is not as usual.
fn unusual(reader: &mut ByteReader<'_>, base: Timestamp, interval: Interval) -> RecordedInterval {
    let (began, ended) = (time(reader, base), time(reader, base));
    let result = match reader.byte() {
        OPEN => IntervalResult::Open,
        MEASURED => IntervalResult::Measured { seconds: took(began, ended).unwrap_or(NO_TIME) },
        MEASURED_OTHERWISE => {
            IntervalResult::Measured { seconds: latency(reader).unwrap_or(NO_TIME) }
        }
        reason => {
            let reason = UnobservedReason::ALL.get(usize::from(reason - UNOBSERVED));
            let reason = reason.copied().unwrap_or(UnobservedReason::NotSeen);
            IntervalResult::Unobserved { reason }
        }
    };
    let kind = IntervalKind::from_interval(interval);
    RecordedInterval { interval, kind, began, ended, result }
}

fn took(began: Option<Timestamp>, ended: Option<Timestamp>) -> Option<Latency> {
    let nanos = ended?.as_nanos().checked_sub(began?.as_nanos())?;
    Some(Latency::from_nanos(u64::try_from(nanos).ok()?))
}

#[cfg(test)]
#[path = "reported_pods_tests.rs"]
mod tests;
