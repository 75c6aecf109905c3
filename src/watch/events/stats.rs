//! What the watches of Events count, and whether Events are read: written without a lock, read by
//! scrapes. Every access is `Relaxed`, since each value stands for itself.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::instruments::{CounterVec, Encoder, FamilySource, GaugeVec, Number, SavedFamilies};
use crate::{computed_families, families};
use podinit_core::label_values;

label_values! {
    /// The sources of evidence that can be watched: the values of `source`.
    pub enum EvidenceSource {
        Events => "events",
    }
}

label_values! {
    /// Why an Event that arrived was lost before it could be accounted for.
    pub enum EventLossReason {
        /// The queue was full
        QueueFull => "queue_full",
        /// It could not be decoded
        Decode => "decode",
        /// It was longer than the limit
        TooLong => "too_long",
    }
}

families! {
    /// The counters of all watches of Events.
    pub struct EventCounters {
        lost: CounterVec<EventLossReason> =
            "podinit_events_lost_total", ["reason"], experimental, saved,
            "Events that arrived and were lost before podinit looked at their pods, by reason.";
    }
}

computed_families! {
    /// The state of all watches of Events together.
    pub const EVIDENCE_STATE {
        EVIDENCE_UP: GaugeVec<EvidenceSource> =
            "podinit_evidence_up", ["source"], experimental, not_saved,
            "Whether the source of evidence is read (1) or not (0).";
    }
}

/// The counters and the state of all watches of Events of the process.
#[derive(Debug)]
pub struct EventStats {
    counters: EventCounters,
    /// By scope, whether its Events are read
    up: Box<[AtomicBool]>,
}

impl EventStats {
    /// Statistics of `scopes` watches. All counters are 0, and nothing is up.
    pub fn new(scopes: usize) -> Self {
        Self {
            counters: EventCounters::default(),
            up: (0..scopes).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// States whether the Events of a scope are read.
    pub(super) fn set_up(&self, scope: usize, up: bool) {
        if let Some(state) = self.up.get(scope) {
            state.store(up, Relaxed);
        }
    }

    pub(super) fn count_lost(&self, reason: EventLossReason) {
        self.counters.lost.with(reason).increment();
    }

    /// Whether the Events of every scope are read (`podinit_evidence_up`).
    pub fn up(&self) -> bool {
        !self.up.is_empty() && self.up.iter().all(|up| up.load(Relaxed))
    }

    /// How many Events were lost for a reason (`podinit_events_lost_total`).
    pub fn lost(&self, reason: EventLossReason) -> u64 {
        self.counters.lost.with(reason).get()
    }
}

impl FamilySource for EventStats {
    fn collect(&self, out: &mut dyn Encoder) {
        let up = Number::Integer(self.up().into());
        EVIDENCE_UP.write_by_label(out, [(EvidenceSource::Events.as_str(), up)]);
        self.counters.collect(out);
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.counters.save(saved);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.counters.restore(saved);
    }
}
