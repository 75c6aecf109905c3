//! The events of one SLO, by namespace.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::metrics::bad_causes::{BadCauses, BadCausesSnapshot};
use crate::metrics::namespaces::NamespaceSlot;
use podinit_core::label_values;
use podinit_core::lifecycle::ExclusionReason;
use podinit_instruments::{Counter, CounterVec};

label_values! {
    /// The event of a pod that counts for an SLO.
    pub(super) enum CountedSloResult {
        Good => "good",
        Bad => "bad",
    }
}

/// The events of one SLO, by place of the namespace.
#[derive(Debug)]
pub(super) struct SloEventCounts {
    /// By place of the namespace; none where no pod has been met
    events: Box<[RwLock<Option<Arc<NamespaceSloEvents>>>]>,
    /// Those of namespaces whose series have ended: the good ones and the bad ones
    ended: [Counter; 2],
    pub(super) excluded: CounterVec<ExclusionReason>,
}

/// The events of one SLO in one namespace.
#[derive(Debug, Default)]
pub(super) struct NamespaceSloEvents {
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
    pub(super) fn iter(&self) -> impl Iterator<Item = (CountedSloResult, u64)> {
        let results =
            [(CountedSloResult::Good, self.good), (CountedSloResult::Bad, self.bad.sum())];
        results.into_iter()
    }
}

impl SloEventCounts {
    pub(super) fn new(places: usize) -> Self {
        Self {
            events: (0..places).map(|_| RwLock::new(None)).collect(),
            ended: Default::default(),
            excluded: CounterVec::default(),
        }
    }

    pub(super) fn at(&self, place: NamespaceSlot) -> Arc<NamespaceSloEvents> {
        if let Some(events) = self.get(place) {
            return events;
        }
        let events = &self.events[place];
        let mut events = events.write();
        Arc::clone(events.get_or_insert_default())
    }

    fn get(&self, place: NamespaceSlot) -> Option<Arc<NamespaceSloEvents>> {
        let events = self.events[place].read();
        events.clone()
    }

    /// The series of the namespace at `place` end. Its events count in the sum over all namespaces only.
    pub(super) fn end(&self, place: NamespaceSlot) {
        let EventsSnapshot { good, bad } = self.snapshot(place);
        self.add_ended([good, bad.sum()]);
        let events = &self.events[place];
        *events.write() = None;
    }

    /// Adds events of namespaces whose series have ended: the good ones and the bad ones.
    pub(super) fn add_ended(&self, events: [u64; 2]) {
        for (counter, events) in self.ended.iter().zip(events) {
            counter.add(events);
        }
    }

    /// The events of namespaces whose series have ended: the good ones and the bad ones.
    pub(super) fn ended(&self) -> [u64; 2] {
        self.ended.each_ref().map(Counter::get)
    }

    pub(super) fn snapshot(&self, place: NamespaceSlot) -> EventsSnapshot {
        let events = self.get(place);
        let snapshot = events
            .map(|events| EventsSnapshot { good: events.good.get(), bad: events.bad.snapshot() });
        snapshot.unwrap_or_default()
    }
}

impl NamespaceSloEvents {
    /// Adds what was saved. The bad ones are saved by cause.
    pub(super) fn restore(&self, result: &str, value: u64) {
        if result == CountedSloResult::Good.as_str() {
            self.good.add(value);
        }
    }
}
