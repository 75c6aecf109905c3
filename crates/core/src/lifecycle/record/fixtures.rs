//! What tests of records and of traces need.

use super::EndedStartup;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::observation::{Observation, Observer};
use crate::lifecycle::sink::Sink;
use crate::lifecycle::tracker::Tracker;
use crate::timestamp::Timestamp;

/// So many seconds after the beginning.
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_700_000_000 + second)
}

/// Keeps what has ended.
#[derive(Default)]
pub struct Ends(pub Vec<EndedStartup>);

impl Observer for Ends {
    fn observe(&mut self, _now: Timestamp, _observation: Observation<'_>) {}
}

impl Sink for Ends {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.push(startup);
    }
}

/// Delivers an event that is part of no watch at this second.
pub fn deliver(tracker: &mut Tracker, sink: &mut impl Sink, second: i64, event: PodEvent) {
    let delivery = Delivery {
        source: SourceId(0),
        event,
        now: at(second),
        observed: None,
        version: None,
    };
    tracker.apply(delivery, sink);
}
