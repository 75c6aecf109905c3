//! The only way out of the tracker: what it observes, and the startups that it has followed to their end.

use super::label_hold::LabelHold;
use super::observation::{Observation, Observer, Reporter};
use super::record::EndedStartup;
use crate::pod::PodInfo;
use crate::timestamp::Timestamp;

/// Receives everything that the tracker gives.
pub trait Sink: Observer {
    /// Takes a startup that podinit has followed to its end, after all observations of it.
    fn ended(&mut self, startup: EndedStartup);

    /// Names the label values under which `pod` is counted, which is remembered from now on or has become known
    /// better. They have a pod more until [`Sink::release`].
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
impl<F: FnMut(Timestamp, Observation<'_>)> Sink for F {
    fn ended(&mut self, _: EndedStartup) {}
}

impl<S: Sink> Reporter<'_, S> {
    /// Hands over a startup that has ended.
    pub(super) fn ended(&mut self, startup: EndedStartup) {
        self.sink.ended(startup);
    }

    /// See [`Sink::hold`].
    pub(super) fn hold(&mut self, pod: &PodInfo) -> LabelHold {
        self.sink.hold(self.now(), pod)
    }

    /// See [`Sink::release`].
    pub(super) fn release(&mut self, hold: LabelHold) {
        self.sink.release(self.now(), hold);
    }
}
