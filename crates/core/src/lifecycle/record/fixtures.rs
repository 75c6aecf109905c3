//! What tests of records and of traces need.

use crate::lifecycle::{
    Delivery, EndedStartup, Observer, PodEvent, Record, SourceId, Tracker, TrackerConfig,
};
use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// So many seconds after the beginning.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_700_000_000 + second)
}

/// Keeps what has ended.
#[derive(Default)]
pub struct Ends(pub Vec<EndedStartup>);

impl Observer for Ends {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.push(startup);
    }
}

/// Delivers an event that is part of no watch at this second.
pub fn deliver(tracker: &mut Tracker, sink: &mut impl Observer, second: i64, event: PodEvent) {
    let delivery =
        Delivery { source: SourceId(0), event, now: at(second), observed: None, version: None };
    tracker.apply(delivery, sink);
}

/// The record of a pod in flight that was just created, and of which nothing else is known.
#[allow(clippy::unwrap_used)]
pub fn record(namespace: &str, name: &str) -> Record {
    let mut tracker = Tracker::new(TrackerConfig::default());
    let mut pod = PodSnapshot::bare(PodUid::from_text(name), namespace, name);
    pod.created = Some(at(0));
    deliver(&mut tracker, &mut Ends::default(), 0, PodEvent::Applied(pod));
    let (_, pod) = tracker.in_flight_after(None).next().unwrap();
    pod.record()
}
