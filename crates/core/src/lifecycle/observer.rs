//! The only way out of the tracker: what it observes, and the startups that it has followed to their end.

use super::label_hold::LabelHold;
use super::observation::{Observation, Observe, Reporter};
use super::record::{Amendment, EndedStartup};
use crate::pod::{PodInfo, PodUid};
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

    /// Takes what became of a startup after its end, after all observations of that.
    fn amended(&mut self, uid: PodUid, amendment: &Amendment) {
        let _ = (uid, amendment);
    }

    /// Names the label values under which `pod` is counted, which is remembered from now on or has become known
    /// better. They have a pod more until [`Observer::release`].
    fn hold(&mut self, now: Timestamp, pod: &PodInfo) -> LabelHold {
        let _ = (now, pod);
        LabelHold::UNKNOWN
    }

    /// The label values that were named so have a pod less, from `now` on.
    fn release(&mut self, now: Timestamp, hold: LabelHold) {
        let _ = (now, hold);
    }
}

/// A function takes observations alone.
impl<F: FnMut(Timestamp, Observation<'_>)> Observer for F {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self(now, observation);
    }
}

impl<O: Observer> Observe for O {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        Observer::observe(self, now, observation);
    }
}

impl<O: Observer> Reporter<'_, O> {
    /// Hands over a startup that has ended.
    pub(super) fn ended(&mut self, startup: EndedStartup) {
        self.observer.ended(startup);
    }

    /// Tells what became of a startup after its end.
    pub(super) fn amended(&mut self, uid: PodUid, amendment: &Amendment) {
        self.observer.amended(uid, amendment);
    }

    /// See [`Observer::hold`].
    pub(super) fn hold(&mut self, pod: &PodInfo) -> LabelHold {
        self.observer.hold(self.now(), pod)
    }

    /// See [`Observer::release`].
    pub(super) fn release(&mut self, hold: LabelHold) {
        self.observer.release(self.now(), hold);
    }
}
