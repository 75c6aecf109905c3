//! Deliveries and SLOs for tests of the tracker.

use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::interval::Interval;
use crate::lifecycle::slo::{Namespaces, Selection, SloRule};
use crate::timestamp::Timestamp;
use std::time::Duration;

/// So many seconds after the beginning.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_000_000 + second)
}

pub(super) fn delivery(source: SourceId, second: i64, event: PodEvent) -> Delivery {
    Delivery { source, event, now: at(second), observed: None, version: None }
}

/// An SLO of all pods: ready within so many seconds of their creation.
pub(super) fn rule(name: &str, seconds: u64) -> SloRule {
    SloRule {
        name: name.into(),
        interval: Interval::CreatedToReady.into(),
        threshold: Duration::from_secs(seconds),
        grace: Duration::ZERO,
        namespaces: Namespaces::All,
        owner_kinds: Vec::new(),
        selection: Selection::default(),
    }
}
