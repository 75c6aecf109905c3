//! What the list-watches have counted as plain values: to be kept while no process runs.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};

use super::stats::{EventType, RelistReason, WatchErrorReason, WatchStats};

/// The counters of all list-watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedStats {
    /// Events by type
    pub events: [u64; EventType::ALL.len()],
    /// Faults by reason
    pub errors: [u64; WatchErrorReason::ALL.len()],
    /// Lists by reason
    pub relists: [u64; RelistReason::ALL.len()],
}

impl WatchStats {
    /// What has been counted so far.
    pub fn saved(&self) -> SavedStats {
        SavedStats {
            events: EventType::ALL.map(|kind| self.events(kind)),
            errors: WatchErrorReason::ALL.map(|reason| self.errors(reason)),
            relists: RelistReason::ALL.map(|reason| self.relists(reason)),
        }
    }

    /// Adds what was counted before.
    pub fn restore(&self, saved: &SavedStats) {
        add(&self.events, &saved.events);
        add(&self.errors, &saved.errors);
        add(&self.relists, &saved.relists);
    }
}

fn add(counters: &[AtomicU64], saved: &[u64]) {
    for (counter, saved) in counters.iter().zip(saved) {
        counter.fetch_add(*saved, Relaxed);
    }
}
