//! Collects what the tracker observes, for a report.

use std::collections::{BTreeMap, HashSet};

use super::cold_startups::ColdStartups;
use super::durations::IntervalDurations;
use super::gates::PodGates;
use super::network_durations::NetworkDurations;
use super::own_milestones::OwnMilestones;
use super::pods::PodCollector;
use super::rollouts::RolloutCounts;
use super::slowest_pods::SlowestPods;
use super::summary::{InFlightSummary, IntervalSummary, Report, ReportedPodName};
use super::waiting::WaitingCosts;
use podinit_core::kube_event::CapacityState;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    AnomalyKind, CustomMilestone, EndedRollout, EndedStartup, GatesEvent, Interval, IntervalResult,
    Latency, LostStartup, Milestone, Observation, Observer, Outcome, PodObservation, PodState,
    Progress, Record, RecordAmendment, Stage, StageOrStep, Step, TimestampMode, Tracker,
    TrackerObservation, UnobservedReason,
};
use podinit_core::pod::{PodInfo, PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use podinit_histogram::layout::ClassicBuckets;
use podinit_recordings::probes::ProbeTimes;

/// The pod that entered each stage first, of those that are in it.
type OldestPods = [Option<ReportedPodName>; Stage::ALL.len()];

/// What a report on records says instead of the mode of timestamps.
const OF_EXPORTER: &str = "of the exporter";

/// Counts everything that a report shows.
pub(super) struct ReportSink {
    span: Option<(Timestamp, Timestamp)>,
    discovered: u64,
    finished: [u64; Outcome::ALL.len()],
    in_flight: [u64; Stage::ALL.len()],
    oldest: [Option<Timestamp>; Stage::ALL.len()],
    durations: [IntervalDurations; Interval::ALL.len()],
    network: NetworkDurations,
    milestones: OwnMilestones,
    gates: PodGates,
    startups: ColdStartups,
    waiting: WaitingCosts,
    rollouts: RolloutCounts,
    /// Those that are in flight of the pods that were set aside
    lost: HashSet<PodUid>,
    buckets: [u64; ClassicBuckets::Startups.count()],
    unobserved: [[u64; UnobservedReason::ALL.len()]; StageOrStep::ALL.len()],
    anomalies: [u64; AnomalyKind::ALL.len()],
    set_aside: [u64; LostStartup::ALL.len()],
    reentries: BTreeMap<&'static str, u64>,
    slowest: SlowestPods,
    probes: ProbeTimes,
    top: usize,
    /// The single pods, for formats that show them
    pods: Option<PodCollector>,
}

impl ReportSink {
    /// With at most `top` of the slowest pods, and these milestones.
    pub(super) fn new(top: usize, milestones: &[CustomMilestone]) -> Self {
        Self {
            span: None,
            discovered: 0,
            finished: Default::default(),
            in_flight: Default::default(),
            oldest: Default::default(),
            durations: Default::default(),
            network: NetworkDurations::default(),
            milestones: OwnMilestones::new(milestones),
            gates: PodGates::default(),
            startups: ColdStartups::default(),
            waiting: WaitingCosts::new(),
            rollouts: RolloutCounts::default(),
            lost: HashSet::new(),
            buckets: [0; ClassicBuckets::Startups.count()],
            unobserved: Default::default(),
            anomalies: Default::default(),
            set_aside: Default::default(),
            reentries: Milestone::REENTERABLE.map(|milestone| (milestone.as_str(), 0)).into(),
            slowest: SlowestPods::new(top),
            probes: ProbeTimes::default(),
            top,
            pods: None,
        }
    }

    /// With every single pod.
    pub(super) fn with_pods(self, milestones: &[CustomMilestone]) -> Self {
        Self { pods: Some(PodCollector::new(milestones)), ..self }
    }

    /// Takes the single pods, which were collected.
    pub(super) fn take_pods(&mut self) -> PodCollector {
        self.pods.take().unwrap_or_default()
    }

    /// When the recording ends.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.span.map(|(_, to)| to)
    }

    fn moved(&mut self, from: PodState, to: PodState) {
        match from {
            PodState::Undiscovered => self.discovered += 1,
            PodState::InFlight(waiting, _) => self.in_flight[waiting.stage() as usize] -= 1,
            PodState::Finished(outcome) => self.finished[outcome as usize] -= 1,
        }
        match to {
            PodState::Undiscovered => {}
            PodState::InFlight(waiting, _) => self.in_flight[waiting.stage() as usize] += 1,
            PodState::Finished(outcome) => self.finished[outcome as usize] += 1,
        }
    }

    fn measured(&mut self, pod: &PodInfo, interval: Interval, latency: Latency) {
        self.durations[interval.index()].add(latency);
        if interval == Interval::Stage(Stage::Network) {
            self.network.add(latency);
        }
        if interval == Interval::Step(Step::Probe) {
            self.probes.add(pod, latency);
        }
        if interval == Interval::ScheduledToReady {
            let seconds = latency.as_seconds_f64();
            let bounds = ClassicBuckets::Startups.bounds();
            self.buckets[bounds.partition_point(|bound| *bound < seconds)] += 1;
            self.slowest.add(pod, latency);
        }
    }

    /// The rows of `interval`: the stage `network` is split.
    fn summaries(&self, interval: Interval) -> Vec<IntervalSummary> {
        let whole = self.durations[interval.index()].summary(interval.as_str());
        let parts = match interval {
            Interval::Stage(Stage::Network) => self.network.summaries().to_vec(),
            _ => Vec::new(),
        };
        [vec![whole], parts].concat()
    }

    /// The report at the end of the recording, when `tracker` holds the pods in flight.
    pub(super) fn report(
        mut self,
        timestamps: TimestampMode,
        tracker: &Tracker,
        lone_list: bool,
    ) -> Report {
        let mut oldest: OldestPods = Default::default();
        // By stage, in each the one that entered it first.
        let end = self.end();
        for (position, pod) in tracker.in_flight_after(None) {
            let record = pod.record();
            oldest[position.stage as usize]
                .get_or_insert_with(|| ReportedPodName::from_pod(&record.pod));
            match self.lost.contains(&record.uid) {
                true => self.waiting.leave_out(),
                false => self.waiting.add(&record, end, true),
            }
        }
        let now = tracker.accounted_time().unwrap_or(Timestamp::EPOCH);
        let rollouts = std::mem::take(&mut self.rollouts).report(tracker.rollouts(), now);
        Report { lone_list, rollouts, ..self.with_oldest(timestamps.as_str(), oldest) }
    }

    /// The report on records that were added. They do not say how their times were found, and nothing of
    /// anomalies, re-entries and probes.
    pub(super) fn report_on_records(self, oldest: OldestPods) -> Report {
        Report {
            only_kept: true,
            clock_anomalies: BTreeMap::new(),
            set_aside: BTreeMap::new(),
            reentries: BTreeMap::new(),
            ..self.with_oldest(OF_EXPORTER, oldest)
        }
    }

    fn with_oldest(self, timestamps: &'static str, oldest: OldestPods) -> Report {
        let stages = Stage::ALL.into_iter().zip(oldest);
        let in_flight = stages.zip(self.in_flight).zip(self.oldest);
        let in_flight = in_flight.filter(|((_, pods), _)| *pods > 0).map(
            |(((stage, oldest), pods), entered)| {
                (
                    stage.as_str(),
                    InFlightSummary { pods, oldest_entered: entered.map(rfc3339::format), oldest },
                )
            },
        );
        let bounds = ClassicBuckets::Startups.bounds().iter().copied().map(Some).chain([None]);
        let unobserved =
            StageOrStep::ALL.into_iter().zip(self.unobserved).flat_map(|(stage, reasons)| {
                let reasons = UnobservedReason::ALL.into_iter().zip(reasons);
                reasons.map(move |(reason, count)| (stage.as_str().into(), reason.as_str(), count))
            });
        let mut set_aside = by_name::<LostStartup>(&self.set_aside);
        set_aside.retain(|_, pods| *pods > 0);
        Report {
            from: self.span.map(|(from, _)| rfc3339::format(from)),
            to: self.span.map(|(_, to)| rfc3339::format(to)),
            timestamps,
            only_kept: false,
            lone_list: false,
            discovered: self.discovered,
            finished: by_name::<Outcome>(&self.finished),
            in_flight: in_flight.collect(),
            intervals: rows()
                .flat_map(|interval| self.summaries(interval))
                .filter(|row| row.count > 0 || !is_of_node(&row.interval))
                .chain(self.milestones.summaries())
                .collect(),
            gates: self.gates.summaries(),
            startups: self.startups.summaries(),
            waiting: self.waiting.report(),
            rollouts: None,
            scheduled_to_ready: bounds.zip(self.buckets).collect(),
            unobserved: unobserved
                .chain(self.milestones.unobserved_counts())
                .filter(|(_, _, count)| *count > 0)
                .collect(),
            clocks_ahead: Vec::new(),
            clock_anomalies: by_name::<AnomalyKind>(&self.anomalies),
            set_aside,
            reentries: self.reentries,
            slowest: self.slowest.into_pods(),
            probes: self.probes.report(self.top),
        }
    }
}

/// Counts by the names of what is counted.
fn by_name<T: LabelValue>(counts: &[u64]) -> BTreeMap<&'static str, u64> {
    T::ALL.iter().map(|one| one.as_str()).zip(counts.iter().copied()).collect()
}

/// Whether a row is of an interval that few clusters have: it is left out where nothing was observed.
fn is_of_node(name: &str) -> bool {
    let mut steps = Step::ALL.into_iter();
    steps.any(|step| step.is_of_node() && step.as_str() == name)
}

/// Every interval of all pods in the order of the report: each stage with its steps, then the end-to-end durations.
pub(crate) fn rows() -> impl Iterator<Item = Interval> {
    let stages = Stage::ALL.into_iter().flat_map(|stage| {
        let steps = Step::ALL.into_iter().filter(move |step| step.stage() == stage);
        [Interval::Stage(stage)].into_iter().chain(steps.map(Interval::Step))
    });
    stages.chain([Interval::ScheduledToReady, Interval::CreatedToReady])
}

impl Observer for ReportSink {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(pod, observation),
            Observation::Gate(_, gate) => self.gates.observe(gate),
            Observation::Gates(_, gates) if gates.event == GatesEvent::Met => {
                self.gates.meet(gates);
            }
            Observation::Gates(..) => {}
            Observation::Tracker(TrackerObservation::Advanced { .. }) => self.advanced(now),
            // A recording is read without a cap on pods, so none is evicted; a report does not show
            // gaps and changes in place, which `replay` counts.
            Observation::Pull(..)
            | Observation::Node(_)
            | Observation::Rollout(..)
            | Observation::Tracker(_) => {}
        }
    }

    fn ended(&mut self, startup: EndedStartup) {
        let record = startup.record();
        match self.lost.remove(&record.uid) {
            true => self.waiting.leave_out(),
            false => self.waiting.add(&record, None, true),
        }
        if let Some(pods) = &mut self.pods {
            pods.ended(startup, record);
        }
    }

    fn first_seen(&mut self, pod: &PodSnapshot, _is_listed: bool) {
        if let Some(pods) = &mut self.pods {
            pods.first_seen(pod);
        }
    }

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.rollouts.add(&rollout);
    }

    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        if let Some(pods) = &mut self.pods {
            pods.amended(uid, amendment);
        }
    }
}

impl ReportSink {
    /// The report also covers this instant. Time never goes back in a recording, but records come in any order.
    pub(super) fn advanced(&mut self, now: Timestamp) {
        if now > Timestamp::EPOCH {
            let (from, to) = self.span.unwrap_or((now, now));
            self.span = Some((from.min(now), to.max(now)));
        }
    }

    /// Adds a startup by its record.
    pub(super) fn add(&mut self, record: &Record) {
        let state = match record.progress {
            Progress::InFlight { waiting, entered, .. } => {
                let oldest = &mut self.oldest[waiting.stage() as usize];
                *oldest = Some(oldest.map_or(entered, |since| since.min(entered)));
                let capacity = record.unschedulable.as_ref();
                let capacity = capacity.map_or(CapacityState::Unknown, |capacity| capacity.state);
                PodState::InFlight(waiting, capacity)
            }
            Progress::Ended { outcome, .. } => PodState::Finished(outcome),
        };
        self.moved(PodState::Undiscovered, state);
        self.advanced(record.reached(Milestone::Created).unwrap_or(record.discovered));
        self.network.ready(record.network_time);
        if let Some(latency) = record.duration(Interval::CreatedToReady) {
            let capacity = record.needed.capacity.unwrap_or_default();
            self.startups.add(capacity, record.needed.images, latency);
        }
        record.custom_milestones.iter().for_each(|one| self.milestones.add(one));
        self.gates.add(record);
        for found in &record.intervals {
            match (found.result, found.interval) {
                (IntervalResult::Measured { seconds: latency }, interval) => {
                    self.measured(&record.pod, interval, latency);
                }
                (IntervalResult::Unobserved { reason }, Interval::Stage(stage)) => {
                    self.unobserved[StageOrStep::Stage(stage).index()][reason as usize] += 1;
                }
                (IntervalResult::Unobserved { reason }, Interval::Step(step)) => {
                    self.unobserved[StageOrStep::Step(step).index()][reason as usize] += 1;
                }
                (IntervalResult::Unobserved { .. } | IntervalResult::Open, _) => {}
            }
        }
    }

    /// Adds what a startup costs, once all were added that say how far the records go. Records have no probes.
    pub(super) fn add_waiting(&mut self, record: &Record) {
        let end = self.end();
        self.waiting.add(record, end, false);
    }

    /// Names a startup among the slowest, if it is one of them, and counts it in nothing.
    pub(super) fn name_if_slow(&mut self, record: &Record) {
        if let Some(latency) = record.duration(Interval::ScheduledToReady) {
            self.slowest.add(&record.pod, latency);
        }
    }

    fn observe_pod(&mut self, pod: &PodInfo, observation: PodObservation) {
        match observation {
            PodObservation::Moved { from, to } => {
                self.moved(from, to);
                if let (Some(pods), PodState::Undiscovered, PodState::Finished(outcome)) =
                    (&mut self.pods, from, to)
                {
                    pods.excluded(pod, outcome);
                }
            }
            PodObservation::OldestInFlight { stage, entered } => {
                self.oldest[stage as usize] = entered;
            }
            PodObservation::Measured { interval, latency } => self.measured(pod, interval, latency),
            PodObservation::Startup { node_age, images, latency } => {
                self.startups.add(node_age, images, latency)
            }
            PodObservation::Unobserved { stage, reason } => {
                self.unobserved[stage.index()][reason as usize] += 1;
            }
            PodObservation::CustomMeasured { interval, latency } => {
                self.milestones.measured(interval, latency);
            }
            PodObservation::CustomUnobserved { milestone, reason } => {
                self.milestones.unobserved(milestone, reason);
            }
            PodObservation::NetworkReady { time, .. } => self.network.ready(time),
            PodObservation::Reentered(milestone) => {
                *self.reentries.entry(milestone.as_str()).or_default() += 1;
            }
            PodObservation::SetAside { uid, lost } => {
                self.set_aside[lost as usize] += 1;
                self.lost.insert(uid);
                if let Some(pods) = &mut self.pods {
                    pods.set_aside(uid, lost);
                }
            }
            PodObservation::Anomaly(kind) => self.anomalies[kind as usize] += 1,
            // A report shows the observations above. It has no labels, SLOs or delivery delays; a
            // recording is read without a cap on pods, so no snapshot is refused.
            _ => {}
        }
    }
}
