//! The only way out of the tracker: what it observes, and the startups that it has followed to their end.

use std::sync::Arc;

use super::label_hold::LabelHold;
use super::observation::{Observation, ObservePod, TimedObserver};
use super::record::{EndedStartup, RecordAmendment};
use super::rollouts::{EndedRollout, ObserveRollouts, RolloutObservation, RolloutWorkload};
use crate::pod::{PodInfo, PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// Receives everything that the tracker gives, in the order in which it happened. What an observer has no use for is
/// dropped.
pub trait Observer {
    /// Takes one observation, made at the accounted time `now`.
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        let _ = (now, observation);
    }

    /// Takes a startup that podinit has followed to its end, after all observations of it.
    fn ended(&mut self, startup: EndedStartup) {
        let _ = startup;
    }

    /// Takes the first snapshot of a pod, of a list or not, before all observations of the pod.
    fn first_seen(&mut self, pod: &PodSnapshot, is_listed: bool) {
        let _ = (pod, is_listed);
    }

    /// Takes what became of a startup after its end, after all observations of that.
    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        let _ = (uid, amendment);
    }

    /// Takes a rollout that has ended, after all observations of it.
    fn rollout_ended(&mut self, rollout: EndedRollout) {
        let _ = rollout;
    }

    /// What counts pods by labels, if something does.
    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        None
    }
}

/// Counts pods by labels, and so has to know which values of these have a pod ([§7.5](crate::specification#s7-5)).
pub trait LabelObserver {
    /// Names the label values under which `pod` is counted, which is remembered from now on or has become known
    /// better. They have a pod more until [`LabelObserver::release`].
    fn hold(&mut self, now: Timestamp, pod: &PodInfo) -> LabelHold;

    /// From `now` on, one pod less has these label values.
    fn release(&mut self, now: Timestamp, hold: LabelHold);

    /// Whether one of these label values is that of the rest. The pod in flight may have got one of its own since.
    fn is_of_rest(&self, hold: LabelHold) -> bool;

    /// Which pods in flight that were counted under the rest may have got a value of their own. Each move is given once.
    fn next_move(&mut self) -> Option<LabelMove>;
}

/// A value has got a place, so that pods in flight move to it from the rest ([§7.5](crate::specification#s7-5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelMove {
    /// A value of the label set: pods under the rest get another [`LabelHold`]
    Held,
    /// A value of the label `gate`: its pods are reported as [`GateEvent::Moved`](super::GateEvent::Moved)
    Gate(Arc<str>),
}

/// A function takes observations alone.
impl<F: FnMut(Timestamp, Observation<'_>)> Observer for F {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self(now, observation);
    }
}

impl<O: Observer> ObservePod for O {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        Observer::observe(self, now, observation);
    }
}

impl<O: Observer> ObserveRollouts for TimedObserver<'_, O> {
    fn rollout(&mut self, workload: &RolloutWorkload, observation: RolloutObservation) {
        let now = self.now();
        self.observer.observe(now, Observation::Rollout(workload, observation));
    }

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.observer.rollout_ended(rollout);
    }
}

impl<O: Observer> TimedObserver<'_, O> {
    /// Hands over a startup that has ended.
    pub(super) fn ended(&mut self, startup: EndedStartup) {
        self.observer.ended(startup);
    }

    /// Hands over the first snapshot of a pod.
    pub(super) fn first_seen(&mut self, pod: &PodSnapshot, is_listed: bool) {
        self.observer.first_seen(pod, is_listed);
    }

    /// Reports what became of a startup after its end.
    pub(super) fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        self.observer.amended(uid, amendment);
    }

    /// See [`LabelObserver::hold`].
    pub(super) fn hold(&mut self, pod: &PodInfo) -> LabelHold {
        let now = self.now();
        self.observer.labels().map_or(LabelHold::UNKNOWN, |labels| labels.hold(now, pod))
    }

    /// See [`LabelObserver::release`].
    pub(super) fn release(&mut self, hold: LabelHold) {
        let now = self.now();
        if let Some(labels) = self.observer.labels() {
            labels.release(now, hold);
        }
    }

    /// See [`LabelObserver::is_of_rest`].
    pub(super) fn is_of_rest(&mut self, hold: LabelHold) -> bool {
        self.observer.labels().is_some_and(|labels| labels.is_of_rest(hold))
    }

    /// See [`LabelObserver::next_move`].
    pub(super) fn next_move(&mut self) -> Option<LabelMove> {
        self.observer.labels()?.next_move()
    }
}
