//! The time of a replay, which the recording states ([§8.7](crate::specification#s8-7)).

use std::ops::ControlFlow;

use crate::reader::{DocumentBody, RecordingDocument};
use podinit_core::pod::PodSnapshot;
use podinit_core::timestamp::Timestamp;
use podinit_decode::WatchEventKind;

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
    /// API time seen so far. Events and nodes have no
    /// time ([§9.5](crate::specification#s9-5), [§14.1](crate::specification#s14-1)).
    fn time_of(&mut self, document: &RecordingDocument) -> Option<Timestamp> {
        if let DocumentBody::Events(_) | DocumentBody::Nodes { .. } | DocumentBody::NodeEvent(_) =
            document.body
        {
            return None;
        }
        let stated = api_time(&document.body);
        self.latest_api_time = self.latest_api_time.max(stated);
        document.observed_at.or(match document.body {
            DocumentBody::Event(_) => self.latest_api_time,
            _ => stated,
        })
    }
}

/// The greatest API time of `pods`.
pub(super) fn latest_api_time(pods: &[PodSnapshot]) -> Option<Timestamp> {
    pods.iter().filter_map(|pod| pod.latest_api_time).max()
}

/// The greatest API time in a document.
fn api_time(body: &DocumentBody) -> Option<Timestamp> {
    match body {
        DocumentBody::List { pods, .. } => latest_api_time(pods),
        DocumentBody::Pod(pod)
        | DocumentBody::Event(
            WatchEventKind::Added(pod)
            | WatchEventKind::Modified(pod)
            | WatchEventKind::Deleted(pod),
        ) => pod.latest_api_time,
        DocumentBody::Event(
            WatchEventKind::OtherShard { .. }
            | WatchEventKind::Bookmark { .. }
            | WatchEventKind::Error(_),
        )
        | DocumentBody::Events(_)
        | DocumentBody::Nodes { .. }
        | DocumentBody::NodeEvent(_) => None,
    }
}
