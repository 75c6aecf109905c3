//! What the list-watches count, and whether they are in sync: written by the reflectors without a
//! lock, read by scrapes.
//!
//! Only what people are told of the sync is behind locks that are held for a moment: it changes rarely.
//!
//! Every access is `Relaxed`: each value is independent of the others, and a scrape that sees an event one moment
//! later is right as well. What must be exact together (the accounting of pods,
//! [§5.7](crate::specification#s5-7)) does not pass through here.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use super::reasons::{EventType, RelistReason, WatchErrorReason};
use crate::instruments::{CounterVec, Encoder, FamilySource, Gauge, Head, Number, SavedFamilies};
use crate::{computed_families, families};
use podinit_core::lifecycle::SourceId;

families! {
    /// The counters of all list-watches.
    pub struct WatchCounters {
        events: CounterVec<EventType> =
            "podinit_watch_events_total", ["type"], experimental, saved,
            "Events that the watch delivered, by type.";
        errors: CounterVec<WatchErrorReason> =
            "podinit_watch_errors_total", ["reason"], experimental, saved,
            "Faults of the list-watch, by reason.";
        relists: CounterVec<RelistReason> =
            "podinit_relists_total", ["reason"], experimental, saved,
            "Lists made to begin or to repair the watch, by reason.";
    }
}

computed_families! {
    /// The state of all list-watches together.
    pub const WATCH_STATE {
        SYNCED: Gauge =
            "podinit_synced", [], stable, not_saved,
            "Whether the watch is in sync with the API server (1) or not (0).";
        LAST_CONTACT_AGE: Gauge =
            "podinit_watch_last_contact_age_seconds", [], experimental, not_saved,
            "Time since the API server was last heard, by the list-watch that has waited longest; absent before the first contact.";
    }
}

/// The counters and the sync state of all list-watches of the process.
#[derive(Debug)]
pub struct WatchStats {
    counters: WatchCounters,
    sources: Box<[SourceState]>,
    sync: Mutex<Sync>,
    /// Why a request failed last, until everything is in sync again
    trouble: Mutex<Option<Arc<str>>>,
    /// Contacts are stored as distances from here, since an `Instant` is not atomic.
    origin: Instant,
}

/// Whether every source is in sync, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    pub now: bool,
    /// When that changed last
    pub changed: Option<tokio::time::Instant>,
    /// When it was so first
    pub first: Option<tokio::time::Instant>,
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
            counters: WatchCounters::default(),
            sources: (0..sources).map(|_| SourceState::default()).collect(),
            sync: Mutex::default(),
            trouble: Mutex::default(),
            origin: Instant::now(),
        }
    }

    /// Counts one watch event.
    pub fn count_event(&self, kind: EventType) {
        self.counters.events.with(kind).increment();
    }

    /// Counts `count` errors of one reason.
    pub fn count_errors(&self, reason: WatchErrorReason, count: u64) {
        self.counters.errors.with(reason).add(count);
    }

    /// Counts one relist, when it is begun.
    pub fn count_relist(&self, reason: RelistReason) {
        self.counters.relists.with(reason).increment();
    }

    /// States whether a source is in sync. Sources that were not announced are ignored.
    pub fn set_synced(&self, source: SourceId, synced: bool) {
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            state.synced.store(synced, Relaxed);
        }
        let mut sync = lock(&self.sync);
        let before = std::mem::replace(&mut sync.now, self.synced());
        if sync.now != before {
            let now = tokio::time::Instant::now();
            sync.changed = Some(now);
            if sync.now {
                sync.first.get_or_insert(now);
                *lock(&self.trouble) = None;
            }
        }
    }

    /// States why a request failed, in one line.
    pub fn set_trouble(&self, why: &str) {
        *lock(&self.trouble) = Some(why.into());
    }

    /// Why a request failed last, where that was after everything was last in sync.
    pub fn trouble(&self) -> Option<Arc<str>> {
        lock(&self.trouble).clone()
    }

    /// Whether every source is in sync, and since when.
    pub fn sync(&self) -> Sync {
        *lock(&self.sync)
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
        self.counters.events.with(kind).get()
    }

    /// How many errors of a reason there were (`podinit_watch_errors_total`).
    pub fn errors(&self, reason: WatchErrorReason) -> u64 {
        self.counters.errors.with(reason).get()
    }

    /// How many relists of a reason were begun (`podinit_relists_total`).
    pub fn relists(&self, reason: RelistReason) -> u64 {
        self.counters.relists.with(reason).get()
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

/// Each change is a single assignment, so poison is ignored.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FamilySource for WatchStats {
    fn collect(&self, out: &mut dyn Encoder) {
        self.counters.collect(out);
        SYNCED.write(out, Number::Integer(self.synced().into()));
        out.family(Head::from(&LAST_CONTACT_AGE));
        if let Some(age) = self.last_contact_age() {
            out.number(&[], Number::Float(age.as_secs_f64()));
        }
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.counters.save(saved);
    }

    fn restore(&self, saved: &SavedFamilies) {
        self.counters.restore(saved);
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
