//! The ended startups of a recording or a list, as far as they are kept.

use std::cell::RefCell;
use std::rc::Rc;

use super::looks::EarlierLooks;
use super::question::PodQuestion;
use super::statuses::PodStatuses;
use crate::explain::{
    ExplainTarget, ExplanationContext, FleetDurations, NoStartup, WorkloadPods, Worst,
};
use crate::records::NewestRecords;
use crate::rollouts::EndedRollouts;
use podinit_core::lifecycle::{
    EndedRollout, EndedStartup, Interval, Observation, Observer, Outcome, PodObservation, PodState,
    RecordAmendment, Step,
};
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;
use podinit_recordings::probes::ProbeTimes;

/// The ended startups that a question needs.
pub(super) struct KeptStartups {
    question: PodQuestion,
    statuses: Rc<RefCell<PodStatuses>>,
    /// The newest, which affected pods are compared with
    pub newest: NewestRecords<EndedStartup>,
    /// The newest rollouts that ended
    pub rollouts: EndedRollouts,
    /// What was found out of problems before the end of a recording
    pub looks: EarlierLooks,
    /// The startups that ended as ready, but for those whose status had lost when they started up
    pub fleet: FleetDurations,
    pub(crate) probe_times: ProbeTimes,
    /// Of the startups of the target, the one to explain
    pub ended: Option<EndedStartup>,
    pub pods: WorkloadPods,
    /// Why a pod of the target has no startup
    pub excluded: Option<NoStartup>,
    pub worst: Worst,
}

impl KeptStartups {
    pub(super) fn new(question: &PodQuestion, statuses: &Rc<RefCell<PodStatuses>>) -> Self {
        Self {
            question: question.clone(),
            statuses: Rc::clone(statuses),
            newest: NewestRecords::default(),
            rollouts: EndedRollouts::default(),
            looks: EarlierLooks::default(),
            fleet: FleetDurations::default(),
            probe_times: ProbeTimes::default(),
            ended: None,
            pods: WorkloadPods::default(),
            excluded: None,
            worst: Worst::default(),
        }
    }

    /// The context of a pod by its statuses, which its record lacks.
    pub(super) fn context(&self, uid: PodUid) -> ExplanationContext {
        let statuses = self.statuses.borrow();
        let first = statuses.first(uid);
        ExplanationContext {
            lost: first.lost,
            is_set_aside: first.is_set_aside,
            ending: statuses.ending(uid),
            is_over_at_first_sight: first.has_ended,
            is_bound_at_first_sight: first.was_bound,
            ..ExplanationContext::default()
        }
    }

    /// Since when a pod crashes, where a list showed that first.
    pub(super) fn crashes_since(&self, uid: PodUid) -> Option<Timestamp> {
        self.statuses.borrow().first(uid).crashes_since
    }

    /// Whether there is a startup of the pod among the newest.
    pub(super) fn has(&self, uid: PodUid) -> bool {
        self.newest.iter().any(|startup| startup.uid() == uid)
    }

    /// Adds a startup with known times to those that others are compared with.
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

    /// Counts a startup of the target, and keeps it if it is to be explained rather than the one before.
    fn choose(&mut self, startup: EndedStartup, is_workload: bool) {
        match startup.outcome() {
            Outcome::Ready => self.pods.ready += 1,
            _ => self.pods.other += 1,
        }
        let statuses = self.statuses.borrow();
        let took = |startup: &EndedStartup| {
            let is_lost = statuses.first(startup.uid()).is_set_aside;
            (!is_lost, startup.duration(Interval::CreatedToReady))
        };
        let is_preferred = |other| !is_workload || took(&startup) > took(other);
        if self.ended.as_ref().is_none_or(is_preferred) {
            self.ended = Some(startup);
        }
    }

    fn fitting(&self, fits: impl FnOnce(&ExplainTarget) -> bool) -> Option<&ExplainTarget> {
        self.question.target().filter(|target| fits(target))
    }
}

impl Observer for KeptStartups {
    fn first_seen(&mut self, pod: &PodSnapshot, is_listed: bool) {
        if let Some(target) = self.question.target() {
            self.statuses.borrow_mut().add_first(pod, target, is_listed);
        }
    }

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
        if self.fitting(|target| target.fits(pod)).is_some() {
            self.excluded = Some(excluded);
        }
    }

    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        let all = self.newest.iter_mut().chain(&mut self.ended);
        for startup in all.filter(|startup| startup.uid() == uid) {
            startup.amend(amendment);
        }
    }

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.rollouts.push(rollout);
    }

    fn ended(&mut self, startup: EndedStartup) {
        let is_workload =
            self.fitting(|target| target.fits(startup.pod())).map(ExplainTarget::is_workload);
        match (&self.question, is_workload) {
            (PodQuestion::Stuck(_) | PodQuestion::Problems | PodQuestion::Rollouts(_), _) => {
                self.newest.push(startup.outcome(), startup);
            }
            (PodQuestion::Startup(_), is_workload) => {
                self.compare(&startup);
                if let Some(is_workload) = is_workload {
                    self.choose(startup, is_workload);
                }
            }
            (PodQuestion::Worst(_), Some(_)) => {
                let record = startup.record();
                self.worst.add(&record, self.context(record.uid), record.discovered);
            }
            (PodQuestion::Worst(_), None) => {}
        }
    }
}
