//! An explanation from the documents of a recording.

use std::cell::RefCell;

use super::explanation::{Context, Explanation, WorkloadPods};
use super::fleet::Fleet;
use super::peers::Peers;
use super::recorded::choose_in_flight;
use super::statuses::Statuses;
use super::target::{NoStartup, Target};
use crate::inspect::node_clocks;
use crate::reports::lone_list::replayed_to_end;
use crate::reports::reader::{Document, RecordingError};
use crate::reports::replay::ReplayConfig;
use crate::reports::report::ProbeTimes;
use podinit_core::lifecycle::{
    Cause, EndedStartup, Interval, Observation, Observer, Outcome, PodObservation, PodState,
    Progress, Record, Sink, Step, Tracker,
};
use podinit_core::timestamp::Timestamp;

/// Explains the startup of `target`. Of a workload it is the pod in flight that was created first, or else
/// the one that took longest, those whose times are known first; of several pods of one name, the newest.
///
/// # Errors
/// If a document is malformed, or there is no such startup.
pub fn explain(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    target: &Target,
) -> Result<Result<Explanation, NoStartup>, RecordingError> {
    let statuses = RefCell::<Statuses>::default();
    let new_sink = || Followed::new(target, &statuses);
    let see = |document: &Document, _| statuses.borrow_mut().read(document, target);
    let end = replayed_to_end(documents, config, new_sink, see)?;
    Ok(end.sink.explanation(&end.tracker, Vec::new()))
}

/// What is kept of a replay.
pub(super) struct Followed<'a> {
    target: &'a Target,
    statuses: &'a RefCell<Statuses>,
    /// The startups that ended as ready, but for those whose status had lost when they started up
    fleet: Fleet,
    probe_times: ProbeTimes,
    /// Of the startups of the target that have ended, the one to explain
    ended: Option<EndedStartup>,
    pods: WorkloadPods,
    /// Why a pod of the target has no startup
    excluded: Option<NoStartup>,
}

impl<'a> Followed<'a> {
    pub(super) fn new(target: &'a Target, statuses: &'a RefCell<Statuses>) -> Self {
        Self {
            target,
            statuses,
            fleet: Fleet::default(),
            probe_times: ProbeTimes::default(),
            ended: None,
            pods: WorkloadPods::default(),
            excluded: None,
        }
    }

    /// Whether `startup` is to be explained rather than `other`.
    fn is_preferred(&self, startup: &EndedStartup, other: &EndedStartup) -> bool {
        let statuses = self.statuses.borrow();
        let took = |startup: &EndedStartup| {
            let is_lost = statuses.first(startup.uid()).is_set_aside;
            (!is_lost, startup.duration(Interval::CreatedToReady))
        };
        !self.target.is_workload() || took(startup) > took(other)
    }

    /// The explanation, with what the source leaves in doubt.
    pub(super) fn explanation(
        mut self,
        tracker: &Tracker,
        mut doubts: Vec<String>,
    ) -> Result<Explanation, NoStartup> {
        let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod);
        let fitting = in_flight.filter(|pod| self.target.fits(pod.pod()));
        let records: Vec<Record> = fitting.map(|pod| pod.record()).collect();
        self.pods.in_flight = records.len() as u64;
        let chosen = choose_in_flight(self.target, records);
        let record = chosen.or_else(|| Some(tracker.record_of(self.ended.as_ref()?)));
        let Some(mut record) = record else {
            return Err(self.excluded.unwrap_or(NoStartup::Unknown));
        };
        let clock = record.pod.node.as_deref();
        let clock = clock.and_then(|node| tracker.clock_off(node));
        doubts.extend(clock.as_ref().map(node_clocks::doubt));
        let statuses = self.statuses.borrow();
        let first = statuses.first(record.uid);
        // As a list shows it: what came before its crash was another run.
        if let ([only], Some(since)) = (&mut record.causes[..], first.crashes_since)
            && only.waiting.cause() == Cause::Crash
        {
            only.began = since;
        }
        if record.outcome() == Some(Outcome::Ready) && first.lost.is_none() {
            self.fleet.remove(&record);
        }
        let context = Context {
            peers: peers(&record, tracker),
            fleet: self.fleet,
            probe_times: self.probe_times.of_version(&record.pod),
            workload_pods: self.target.is_workload().then_some(self.pods),
            lost: first.lost,
            is_set_aside: first.is_set_aside,
            ending: statuses.ending(record.uid),
            is_over_at_first_sight: first.has_ended,
            is_bound_at_first_sight: first.was_bound,
            doubts,
        };
        let now = tracker.accounted_time().unwrap_or(record.discovered);
        Ok(Explanation::new(&record, context, now))
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
        let Observation::Pod(
            pod,
            PodObservation::Moved { from: PodState::Undiscovered, to: PodState::Finished(outcome) },
        ) = observation
        else {
            return;
        };
        let excluded = match outcome {
            Outcome::Static => NoStartup::Static,
            Outcome::Preexisting => NoStartup::Preexisting,
            _ => return,
        };
        if self.target.fits(pod) {
            self.excluded = Some(excluded);
        }
    }
}

impl Sink for Followed<'_> {
    fn ended(&mut self, startup: EndedStartup) {
        self.compare(&startup);
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

impl Followed<'_> {
    /// Counts what others are compared with: startups whose times are known.
    fn compare(&mut self, startup: &EndedStartup) {
        if self.statuses.borrow().first(startup.uid()).lost.is_some() {
            return;
        }
        for (interval, latency) in startup.measured() {
            if startup.outcome() == Outcome::Ready {
                self.fleet.add(interval, latency);
            }
            if interval == Interval::Step(Step::Probe) {
                self.probe_times.add(startup.pod(), latency);
            }
        }
    }
}
