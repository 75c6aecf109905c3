//! What the list-watches count of themselves: lock-free, written by the reflectors, read by a
//! scrape.
//!
//! Every access is `Relaxed`: each value stands alone, no reader infers one from another, and a
//! scrape that sees an event one moment later is right as well. What must be exact together (the
//! accounting of pods, §5 rule 7) does not pass through here.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub use super::reasons::{EventType, RelistReason, WatchErrorReason};
use crate::lifecycle::SourceId;

/// The counters and the sync state of all list-watches of the process.
#[derive(Debug)]
pub struct WatchStats {
    pub(super) events: [AtomicU64; EventType::ALL.len()],
    pub(super) errors: [AtomicU64; WatchErrorReason::ALL.len()],
    pub(super) relists: [AtomicU64; RelistReason::ALL.len()],
    sources: Box<[SourceState]>,
    /// Contacts are stored as distances from here, since an `Instant` is not atomic.
    origin: Instant,
}

#[derive(Debug, Default)]
struct SourceState {
    synced: AtomicBool,
    /// Nanoseconds from the origin, plus one; 0 is never
    contact: AtomicU64,
}

impl WatchStats {
    /// Statistics of `sources` list-watches, numbered from `SourceId(0)`. All counters are 0 and
    /// nothing is in sync.
    pub fn new(sources: usize) -> Self {
        Self {
            events: Default::default(),
            errors: Default::default(),
            relists: Default::default(),
            sources: (0..sources).map(|_| SourceState::default()).collect(),
            origin: Instant::now(),
        }
    }

    /// Counts one watch event.
    pub fn count_event(&self, kind: EventType) {
        self.events[kind as usize].fetch_add(1, Relaxed);
    }

    /// Counts `count` errors of one reason.
    pub fn count_errors(&self, reason: WatchErrorReason, count: u64) {
        self.errors[reason as usize].fetch_add(count, Relaxed);
    }

    /// Counts one relist, when it is begun.
    pub fn count_relist(&self, reason: RelistReason) {
        self.relists[reason as usize].fetch_add(1, Relaxed);
    }

    /// States whether a source is in sync. Sources that were not announced are ignored.
    pub fn set_synced(&self, source: SourceId, synced: bool) {
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            state.synced.store(synced, Relaxed);
        }
    }

    /// States that the API server was heard from, on behalf of a source, at `at`.
    pub fn set_contact(&self, source: SourceId, at: Instant) {
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            let nanos = at.saturating_duration_since(self.origin).as_nanos();
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX - 1);
            state.contact.store(nanos + 1, Relaxed);
        }
    }

    /// How many events of a type were received (`podinit_watch_events_total`).
    pub fn events(&self, kind: EventType) -> u64 {
        self.events[kind as usize].load(Relaxed)
    }

    /// How many errors of a reason there were (`podinit_watch_errors_total`).
    pub fn errors(&self, reason: WatchErrorReason) -> u64 {
        self.errors[reason as usize].load(Relaxed)
    }

    /// How many relists of a reason were begun (`podinit_relists_total`).
    pub fn relists(&self, reason: RelistReason) -> u64 {
        self.relists[reason as usize].load(Relaxed)
    }

    /// Whether every source is in sync (`podinit_synced`); false without any source.
    pub fn synced(&self) -> bool {
        !self.sources.is_empty() && self.sources.iter().all(|state| state.synced.load(Relaxed))
    }

    /// When the API server was last heard from, on behalf of the source that has waited longest;
    /// `None` until every source has heard from it.
    pub fn last_contact(&self) -> Option<Instant> {
        let contacts = self.sources.iter().map(|state| state.contact.load(Relaxed));
        let nanos = contacts.min()?.checked_sub(1)?;
        self.origin.checked_add(Duration::from_nanos(nanos))
    }

    /// How long ago that was (`podinit_watch_last_contact_age_seconds`).
    pub fn last_contact_age(&self) -> Option<Duration> {
        let contact = tokio::time::Instant::from_std(self.last_contact()?);
        Some(contact.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_sync_only_when_every_source_is() {
        let stats = WatchStats::new(2);
        stats.set_synced(SourceId(0), true);
        assert!(!stats.synced());
        stats.set_synced(SourceId(1), true);
        assert!(stats.synced());
        stats.set_synced(SourceId(0), false);
        assert!(!stats.synced());
        stats.set_synced(SourceId(7), true);
        assert!(!WatchStats::new(0).synced());
    }

    #[test]
    fn the_last_contact_is_that_of_the_source_that_waited_longest() {
        let stats = WatchStats::new(2);
        let early = stats.origin + Duration::from_secs(1);
        stats.set_contact(SourceId(0), early + Duration::from_secs(5));
        assert_eq!(stats.last_contact(), None);
        stats.set_contact(SourceId(1), early);
        assert_eq!(stats.last_contact(), Some(early));
    }
}
