//! What the list-watches count, and whether they are in sync: written by the reflectors without a
//! lock, read by scrapes.
//!
//! Only what people are told of the sync is behind locks that are held for a moment: it changes rarely.
//!
//! Every access is `Relaxed`: each value is independent of the others, and a scrape that sees an event one moment
//! later is right as well. What must be exact together (the accounting of pods,
//! [§5.7](crate::specification#s5-7)) does not pass through here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub use super::reasons::{EventType, RelistReason, WatchErrorReason};
use super::requests::PodScope;
use crate::cluster::api_error::ApiError;
use crate::cluster::clock::{DeliveryClock, SystemClock};
use podinit_core::lifecycle::SourceId;
use podinit_instruments::{
    AnyText, CounterVec, ExpositionEncoder, FamilyDoc, FamilyHead, FamilySource, Gauge, GaugeVec,
    SampleNumber, SavedFamilies, SecondsCounter, computed_families, families,
};

families! {
    /// The counters of all list-watches.
    pub struct WatchCounters {
        events: CounterVec<EventType> =
            "podinit_watch_events_total", ["event"], experimental, saved,
            "Events that the watch delivered, by their type.";
        errors: CounterVec<WatchErrorReason> =
            "podinit_watch_errors_total", ["reason"], experimental, saved,
            "Faults of the list-watch, by reason.";
        relists: CounterVec<RelistReason> =
            "podinit_relists_total", ["reason"], experimental, saved,
            "Lists made to begin or to repair the watch, by reason.";
        out_of_sync: SecondsCounter =
            "podinit_out_of_sync_seconds_total", [], experimental, saved,
            "Time in which the watch was not in sync with the API server, or that of any namespace where several are watched.";
    }
}

computed_families! {
    /// The state of all list-watches together.
    pub const WATCH_STATE {
        SYNCED: Gauge =
            "podinit_synced", [], stable, not_saved,
            "Whether the watch is in sync with the API server (1) or not (0); where namespaces are chosen, whether those of all are.";
        NAMESPACE_SYNCED: GaugeVec<AnyText> =
            "podinit_namespace_synced", ["namespace"], experimental, not_saved,
            "Whether the watch of a namespace is in sync (1) or not (0); only for namespaces that were chosen with --namespace.";
        LAST_CONTACT: Gauge =
            "podinit_watch_last_contact_timestamp_seconds", [], experimental, not_saved,
            "Unix time at which the API server was last heard, by the list-watch in sync that has waited longest; absent before the first contact.";
    }
}

/// The counters and the sync state of all list-watches of the process.
#[derive(Debug)]
pub struct WatchStats {
    counters: WatchCounters,
    sources: Box<[SyncSourceState]>,
    sync: Mutex<SourceSync>,
    /// Until when the time out of sync is counted; `None` where it is not, as of a recording
    counted: Mutex<Option<tokio::time::Instant>>,
    /// Contacts are stored as distances from here, since an `Instant` is not atomic.
    origin: Instant,
}

/// How many sources are in sync, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSync {
    /// How many are
    pub now: usize,
    /// Of how many
    pub of: usize,
    /// When none, some or all of them became so
    pub changed: Option<tokio::time::Instant>,
    /// When some were so first
    pub first: Option<tokio::time::Instant>,
}

impl SourceSync {
    /// Whether every source is in sync; false without any.
    pub const fn all(&self) -> bool {
        self.now == self.of && self.now > 0
    }

    /// Whether one is, and not every.
    pub const fn some(&self) -> bool {
        self.now > 0 && self.now < self.of
    }
}

/// Why a source is not in sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncTrouble {
    pub reason: WatchErrorReason,
    /// What the API server or the connection reported, in one line
    pub detail: Arc<str>,
}

#[derive(Debug, Default)]
struct SyncSourceState {
    /// Where it was chosen
    namespace: Option<Box<str>>,
    synced: AtomicBool,
    /// Why a request failed last, until the source is in sync again
    trouble: Mutex<Option<SyncTrouble>>,
    /// Nanoseconds from the origin, plus one; 0 is never
    contact: AtomicU64,
    /// A deletion was not delivered, and the pods were not listed since
    lost_deletion: AtomicBool,
}

impl WatchStats {
    /// Statistics of `sources` list-watches, numbered from `SourceId(0)`. All counters are 0 and
    /// nothing is in sync.
    pub fn new(sources: usize) -> Self {
        Self {
            counters: WatchCounters::default(),
            sources: (0..sources).map(|_| SyncSourceState::default()).collect(),
            sync: Mutex::new(SourceSync { of: sources, ..SourceSync::default() }),
            counted: Mutex::default(),
            origin: Instant::now(),
        }
    }

    /// Statistics of the list-watches of these scopes, which begin now: time counts.
    pub fn of_scopes(scopes: &[PodScope]) -> Self {
        let mut stats = Self::new(scopes.len());
        for (state, scope) in stats.sources.iter_mut().zip(scopes) {
            if let PodScope::Namespace(name) = scope {
                state.namespace = Some(name.as_str().into());
            }
        }
        stats.counted = Mutex::new(Some(tokio::time::Instant::now()));
        stats
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

    /// States that a source has not delivered a deletion: its pods are listed again.
    pub fn lose_deletion(&self, source: SourceId) {
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            state.lost_deletion.store(true, Relaxed);
        }
    }

    /// Whether that was stated since this was last asked.
    pub(super) fn take_lost_deletion(&self, source: SourceId) -> bool {
        let state = self.sources.get(usize::from(source.0));
        state.is_some_and(|state| state.lost_deletion.swap(false, Relaxed))
    }

    /// States whether a source is in sync. Sources that were not announced are ignored.
    pub fn set_synced(&self, source: SourceId, synced: bool) {
        let mut sync = self.sync.lock();
        self.count_time();
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            state.synced.store(synced, Relaxed);
            if synced {
                *state.trouble.lock() = None;
            }
        }
        let before = *sync;
        sync.now = self.in_sync().count();
        if (sync.all(), sync.some()) != (before.all(), before.some()) {
            let now = tokio::time::Instant::now();
            sync.changed = Some(now);
            if sync.now > 0 {
                sync.first.get_or_insert(now);
            }
        }
    }

    /// States why a request on behalf of a source failed.
    pub fn set_trouble(&self, source: SourceId, failure: &ApiError) {
        if let Some(state) = self.sources.get(usize::from(source.0)) {
            *state.trouble.lock() = Some(SyncTrouble {
                reason: failure.kind.into(),
                detail: failure.detail.as_str().into(),
            });
        }
    }

    /// Why a request on behalf of a source failed last; `None` while it is in sync, or where none did.
    pub fn trouble_of(&self, source: SourceId) -> Option<SyncTrouble> {
        let state = self.sources.get(usize::from(source.0))?;
        let out_of_sync = !state.synced.load(Relaxed);
        let trouble = state.trouble.lock();
        out_of_sync.then(|| trouble.clone()).flatten()
    }

    /// The first source that is not in sync and had a request that failed: its namespace, where it was chosen, and
    /// why.
    pub fn trouble(&self) -> Option<(Option<&str>, SyncTrouble)> {
        let mut all = (0..=u16::MAX).zip(&self.sources);
        all.find_map(|(index, state)| {
            let trouble = self.trouble_of(SourceId(index))?;
            Some((state.namespace.as_deref(), trouble))
        })
    }

    fn in_sync(&self) -> impl Iterator<Item = &SyncSourceState> {
        let all = self.sources.iter();
        all.filter(|state| state.synced.load(Relaxed))
    }

    /// Counts the time until now, if it was out of sync.
    fn count_time(&self) {
        let mut counted = self.counted.lock();
        if let Some(counted) = &mut *counted {
            let now = tokio::time::Instant::now();
            let passed = now.saturating_duration_since(std::mem::replace(counted, now));
            if !self.synced() {
                let nanos = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
                self.counters.out_of_sync.add_nanos(nanos);
            }
        }
    }

    /// How many sources are in sync, and since when.
    pub fn sync(&self) -> SourceSync {
        *self.sync.lock()
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

    /// When the API server was last heard from, on behalf of the source that has waited longest of those in sync,
    /// or of all where none is; `None` until it has been heard.
    pub fn last_contact(&self) -> Option<Instant> {
        let contact = |state: &SyncSourceState| state.contact.load(Relaxed);
        let of_all = || self.sources.iter().map(contact).min();
        let nanos = (self.in_sync().map(contact).min()).or_else(of_all)?;
        let nanos = nanos.checked_sub(1)?;
        self.origin.checked_add(Duration::from_nanos(nanos))
    }

    /// How long ago that was.
    pub fn last_contact_age(&self) -> Option<Duration> {
        let contact = tokio::time::Instant::from_std(self.last_contact()?);
        Some(contact.elapsed())
    }
}

impl FamilySource for WatchStats {
    fn families(&self) -> Vec<FamilyDoc> {
        [&WatchCounters::FAMILIES[..], &WATCH_STATE].concat()
    }

    fn collect(&self, out: &mut dyn ExpositionEncoder) {
        self.count_time();
        self.counters.collect(out);
        SYNCED.write(out, SampleNumber::Integer(self.synced().into()));
        let namespaces = self.sources.iter().filter_map(|state| {
            let synced = state.synced.load(Relaxed);
            Some((state.namespace.as_deref()?, SampleNumber::Integer(synced.into())))
        });
        let mut namespaces = namespaces.peekable();
        if namespaces.peek().is_some() {
            NAMESPACE_SYNCED.write_by_label(out, namespaces);
        }
        out.family(FamilyHead::from(&LAST_CONTACT));
        if let Some(age) = self.last_contact_age() {
            let now = SystemClock.now().as_seconds_f64();
            out.number(&[], SampleNumber::Float(now - age.as_secs_f64()));
        }
    }

    fn save(&self, saved: &mut SavedFamilies) {
        self.count_time();
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

    #[tokio::test(start_paused = true)]
    async fn the_time_counts_in_which_not_every_source_is_in_sync() {
        let scopes = ["a", "b"].map(|name| PodScope::Namespace(name.to_owned()));
        let stats = WatchStats::of_scopes(&scopes);
        let out_of_sync = |stats: &WatchStats| {
            stats.count_time();
            format!("{:?}", stats.counters.out_of_sync)
        };
        let wait = |seconds| tokio::time::advance(Duration::from_secs(seconds));
        wait(2).await;
        stats.set_synced(SourceId(0), true);
        assert!(stats.sync().some() && !stats.sync().all());
        wait(3).await;
        stats.set_synced(SourceId(1), true);
        assert!(stats.sync().all() && !stats.sync().some());
        wait(100).await;
        let before = out_of_sync(&stats);
        assert!(before.contains("5000000000"), "{before}");
        stats.set_synced(SourceId(0), false);
        wait(1).await;
        let after = out_of_sync(&stats);
        assert!(after.contains("6000000000"), "{after}");
    }

    #[test]
    fn the_last_contact_is_that_of_the_source_that_waited_longest() {
        let stats = WatchStats::new(2);
        let early = stats.origin + Duration::from_secs(1);
        stats.set_contact(SourceId(0), early + Duration::from_secs(5));
        assert_eq!(stats.last_contact(), None);
        stats.set_contact(SourceId(1), early);
        assert_eq!(stats.last_contact(), Some(early));
        // One that is not in sync keeps nobody waiting while another is.
        stats.set_synced(SourceId(0), true);
        assert_eq!(stats.last_contact(), Some(early + Duration::from_secs(5)));
    }
}
