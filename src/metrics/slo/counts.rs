//! The events of one SLO, by namespace.

use std::sync::OnceLock;

use crate::instruments::{Counter, CounterVec};
use crate::metrics::bad_causes::{BadCauses, BadCausesSnapshot};
use crate::metrics::namespaces::NamespaceSlot;
use podinit_core::label_values;
use podinit_core::lifecycle::ExclusionReason;

label_values! {
    /// The event of a pod that counts for an SLO.
    pub(super) enum SloResult {
        Good => "good",
        Bad => "bad",
    }
}

/// The events of one SLO, by place of the namespace.
#[derive(Debug)]
pub(super) struct Counts {
    /// By place of the namespace; none where no pod has been met
    events: Box<[OnceLock<Box<Events>>]>,
    pub(super) excluded: CounterVec<ExclusionReason>,
}

/// The events of one SLO in one namespace.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) good: Counter,
    /// The bad events: their sum is how many there are
    pub(super) bad: BadCauses,
}

/// The same at one moment.
#[derive(Debug, Default)]
pub(super) struct EventsSnapshot {
    pub(super) good: u64,
    pub(super) bad: BadCausesSnapshot,
}

impl EventsSnapshot {
    pub(super) fn iter(&self) -> impl Iterator<Item = (SloResult, u64)> {
        let results = [
            (SloResult::Good, self.good),
            (SloResult::Bad, self.bad.sum()),
        ];
        results.into_iter()
    }
}

impl Counts {
    pub(super) fn new(places: usize) -> Self {
        Self {
            events: (0..places).map(|_| OnceLock::new()).collect(),
            excluded: CounterVec::default(),
        }
    }

    pub(super) fn at(&self, place: NamespaceSlot) -> &Events {
        self.events[place].get_or_init(Box::default)
    }

    pub(super) fn snapshot(&self, place: NamespaceSlot) -> EventsSnapshot {
        let events = self.events[place].get();
        let snapshot = events.map(|events| EventsSnapshot {
            good: events.good.get(),
            bad: events.bad.snapshot(),
        });
        snapshot.unwrap_or_default()
    }
}

impl Events {
    /// Adds what was saved. The bad ones are saved by cause.
    pub(super) fn restore(&self, result: &str, value: u64) {
        if result == SloResult::Good.as_str() {
            self.good.add(value);
        }
    }
}
