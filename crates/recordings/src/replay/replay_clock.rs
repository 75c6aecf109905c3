//! The time of a replay, which the recording states ([§8.7](crate::specification#s8-7)).

use std::ops::ControlFlow;

use crate::reader::RecordingDocument;
use podinit_core::timestamp::Timestamp;

/// A clock that each document sets. It never goes back.
pub(super) struct ReplayClock {
    now: Timestamp,
    /// The greatest API time seen so far
    latest_api_time: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl ReplayClock {
    /// A clock at [`Timestamp::EPOCH`].
    pub(super) fn new(until: Option<Timestamp>) -> Self {
        Self { now: Timestamp::EPOCH, latest_api_time: None, until }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Moves to the time of `document`. Breaks, and does not move, if that is later than `until`.
    pub(super) fn advance_to(&mut self, document: &RecordingDocument) -> ControlFlow<()> {
        let time = self.time_of(document).unwrap_or(self.now).max(self.now);
        if self.until.is_some_and(|until| time > until) {
            return ControlFlow::Break(());
        }
        self.now = time;
        ControlFlow::Continue(())
    }

    /// Moves to `until`, if there is one, and returns the time.
    pub(super) fn advance_to_end(&mut self) -> Option<Timestamp> {
        let end = self.now.max(self.until?);
        self.now = end;
        Some(end)
    }

    /// `observedAt`. Without it: for a list the greatest API time in it, and for an event the greatest
    /// API time seen so far. Evidence has no time ([§9.5](crate::specification#s9-5),
    /// [§14.1](crate::specification#s14-1)).
    fn time_of(&mut self, document: &RecordingDocument) -> Option<Timestamp> {
        let stated = document.pods.as_ref()?.latest_api_time();
        self.latest_api_time = self.latest_api_time.max(stated);
        document.observed_at.or(if document.is_list() { stated } else { self.latest_api_time })
    }
}
