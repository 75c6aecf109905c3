//! An explanation from the documents of a recording.

use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use super::explanation::{Explanation, Others, WorkloadPods};
use super::fleet::Fleet;
use super::peers::Peers;
use super::recorded::choose_in_flight;
use super::target::Target;
use crate::lifecycle::{
    EndedStartup, Interval, LostStartup, Observation, Observer, Outcome, PodObservation, Progress,
    Record, Sink, Step, Tracker,
};
use crate::pod::{PodInfo, PodSnapshot};
use crate::recordings::reader::{Body, Document, RecordingError};
use crate::recordings::replay::{Replay, ReplayConfig};
use crate::recordings::report::ProbeTimes;
use crate::timestamp::Timestamp;
use crate::watch::stats::WatchStats;

/// Explains the startup of `target`. Of a workload it is the pod in flight that was created first, or else
/// the one that took longest; of several pods of one name, the newest. `None` if there is no such startup.
///
/// # Errors
/// If a document is malformed.
pub fn explain(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    target: &Target,
) -> Result<Option<Explanation>, RecordingError> {
    let lost = RefCell::default();
    let stats = Arc::new(WatchStats::new(1));
    let new_sink = || Ok::<_, Infallible>(Followed::new(target, &lost));
    let Ok(mut replay) = Replay::new(config, stats, new_sink);
    for document in documents {
        let document = document?;
        lost.borrow_mut().read(&document);
        let Ok(flow) = replay.read(document);
        if flow.is_break() {
            break;
        }
    }
    let (followed, tracker) = replay.finish_with_tracker();
    Ok(followed.explanation(&tracker, Vec::new()))
}

/// The pods of lists that have lost when they started up, by namespace and name.
#[derive(Default)]
pub(super) struct LostStartups(HashMap<(Arc<str>, Box<str>), LostStartup>);

impl LostStartups {
    fn read(&mut self, document: &Document) {
        if let Body::List { pods, .. } = &document.body {
            self.add(pods);
        }
    }

    /// Adds those of a list.
    pub(super) fn add(&mut self, pods: &[PodSnapshot]) {
        for pod in pods {
            if let Some(lost) = LostStartup::of(pod) {
                self.0.insert(name(&pod.info), lost);
            }
        }
    }

    fn get(&self, pod: &PodInfo) -> Option<LostStartup> {
        self.0.get(&name(pod)).copied()
    }
}

fn name(pod: &PodInfo) -> (Arc<str>, Box<str>) {
    (Arc::clone(&pod.namespace), pod.name.clone())
}

/// What is kept of a replay.
pub(super) struct Followed<'a> {
    target: &'a Target,
    /// Their times are not those of a startup, and they are not among the fleet
    lost: &'a RefCell<LostStartups>,
    fleet: Fleet,
    probe_times: ProbeTimes,
    /// Of the startups of the target that have ended, the one to explain
    ended: Option<EndedStartup>,
    pods: WorkloadPods,
}

impl<'a> Followed<'a> {
    pub(super) fn new(target: &'a Target, lost: &'a RefCell<LostStartups>) -> Self {
        Self {
            target,
            lost,
            fleet: Fleet::default(),
            probe_times: ProbeTimes::default(),
            ended: None,
            pods: WorkloadPods::default(),
        }
    }

    /// Whether `startup` is to be explained rather than `other`.
    fn is_preferred(&self, startup: &EndedStartup, other: &EndedStartup) -> bool {
        let took = |startup: &EndedStartup| startup.duration(Interval::CreatedToReady);
        !self.target.is_workload() || took(startup) > took(other)
    }

    /// The explanation, with what the source leaves in doubt.
    pub(super) fn explanation(
        mut self,
        tracker: &Tracker,
        doubts: Vec<String>,
    ) -> Option<Explanation> {
        let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod);
        let fitting = in_flight.filter(|pod| self.target.fits(pod.pod()));
        let records: Vec<Record> = fitting.map(|pod| pod.record()).collect();
        self.pods.in_flight = records.len() as u64;
        let chosen = choose_in_flight(self.target, records);
        let record = chosen.or_else(|| Some(self.ended.as_ref()?.record()))?;
        let others = Others {
            peers: peers(&record, tracker),
            fleet: self.fleet,
            probe_times: self.probe_times.of_workload(&record.pod),
            workload_pods: self.target.is_workload().then_some(self.pods),
            lost: self.lost.borrow().get(&record.pod),
            doubts,
        };
        let now = tracker.accounted_time().unwrap_or(record.discovered);
        Some(Explanation::new(&record, others, now))
    }
}

/// The other pods that wait for the same as a pod in flight.
fn peers(record: &Record, tracker: &Tracker) -> Option<Peers> {
    let Progress::InFlight { waiting, .. } = record.progress else {
        return None;
    };
    let mut peers = Peers::new(waiting);
    for (position, pod) in tracker.in_flight_after(None) {
        if position.uid != record.uid {
            peers.add(pod.waiting(), pod.pod());
        }
    }
    Some(peers)
}

impl Observer for Followed<'_> {
    fn observe(&mut self, _now: Timestamp, observation: Observation<'_>) {
        let Observation::Pod(pod, PodObservation::Measured { interval, latency }) = observation
        else {
            return;
        };
        if self.lost.borrow().get(pod).is_some() {
            return;
        }
        self.fleet.add(interval, latency);
        if interval == Interval::Step(Step::Probe) {
            self.probe_times.add(pod, latency);
        }
    }
}

impl Sink for Followed<'_> {
    fn ended(&mut self, startup: EndedStartup) {
        if !self.target.fits(startup.pod()) {
            return;
        }
        match startup.outcome() {
            Outcome::Ready => self.pods.ready += 1,
            _ => self.pods.other += 1,
        }
        let other = self.ended.as_ref();
        if other.is_none_or(|other| self.is_preferred(&startup, other)) {
            self.ended = Some(startup);
        }
    }
}
