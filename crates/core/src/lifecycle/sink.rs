//! The only way out of the tracker: what it observes, and the startups that it has followed to their end.

use super::observation::{Observation, Observer, Reporter};
use super::record::EndedStartup;
use crate::timestamp::Timestamp;

/// Receives everything that the tracker gives.
pub trait Sink: Observer {
    /// Takes a startup that podinit has followed to its end, after all observations of it.
    fn ended(&mut self, startup: EndedStartup);
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
}
