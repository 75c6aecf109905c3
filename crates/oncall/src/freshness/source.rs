//! The source of [`Freshness`] in an exporter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{Freshness, FreshnessState};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_exporter::{ExporterViews, WaitsFor};
use podinit_http::ProcessHealth;
use podinit_kube::cluster::clock::{ClockReading, DeliveryClock};
use podinit_kube::watch::stats::{SourceSync, WatchStats};

/// How long after its first sync, by its own clock, an exporter counts as just started. It is the longest limit of a
/// working cause without comparison ([§13.2](crate::specification#s13-2)).
const JUST_STARTED: Duration = Duration::from_secs(120);
/// How many ready startups are enough to compare with, of all workloads ([§13.2](crate::specification#s13-2)), however
/// soon they come.
const ENOUGH_TO_COMPARE: u64 = 20;

/// Derives how far the answers of an exporter can be trusted. It never waits.
pub struct FreshnessSource {
    stats: Arc<WatchStats>,
    health: ProcessHealth,
    clock: Arc<dyn DeliveryClock>,
    shard: Option<Shard>,
    started: Timestamp,
    /// When the sync last came or went, and the time of the clock then, which a corrected clock must not move
    changed: Mutex<Option<(Instant, Timestamp)>>,
    /// How long ago the first sync was by the clock, and its last reading
    first: Mutex<Option<(Duration, ClockReading)>>,
    /// How many startups have ended as ready
    ready: Box<dyn Fn() -> u64 + Send + std::marker::Sync>,
    /// What the exporter waits for before its watches begin
    waits_for: Arc<WaitsFor>,
    /// Whether a pod was seen to start from its beginning
    saw_new: Arc<AtomicBool>,
    kubeconfig: Option<String>,
}

impl FreshnessSource {
    /// The source of an exporter that begins now. `saw_new` is whether a pod was seen to start from its beginning.
    /// `waits_for` is what the exporter waits for before its watches begin.
    pub fn new(
        (stats, health): (Arc<WatchStats>, ProcessHealth),
        clock: Arc<dyn DeliveryClock>,
        shard: Option<Shard>,
        saw_new: Arc<AtomicBool>,
        waits_for: Arc<WaitsFor>,
    ) -> Self {
        Self {
            stats,
            health,
            started: clock.now(),
            clock,
            shard,
            changed: Mutex::default(),
            first: Mutex::default(),
            ready: Box::new(|| 0),
            waits_for,
            saw_new,
            kubeconfig: None,
        }
    }

    /// The source of the exporter of `views`. `kubeconfig` is the path of the file with which kubectl reaches its
    /// cluster; only a demo names one.
    pub fn of_exporter(views: &ExporterViews, kubeconfig: Option<String>) -> Self {
        let ExporterViews { stats, health, clock, shard, saw_new, waits_for, exposition, .. } =
            views.clone();
        let source = Self::new((stats, health), clock, shard, saw_new, waits_for);
        Self { kubeconfig, ready: Box::new(move || exposition.figures().ready()), ..source }
    }

    /// How far the answers of the exporter can be trusted now.
    pub fn now(&self) -> Freshness {
        let sync = self.stats.sync();
        let adopted_everything = !self.saw_new.load(Relaxed);
        Freshness {
            state: match (sync.all(), sync.first) {
                (_, None) => FreshnessState::Waiting,
                (false, Some(_)) if sync.some() => FreshnessState::Partial,
                (false, Some(_)) => FreshnessState::Blind,
                (true, Some(first)) if self.has_just_started(first) => FreshnessState::JustStarted,
                (true, Some(_)) if adopted_everything => FreshnessState::Adopted,
                (true, Some(_)) => FreshnessState::Current,
            },
            in_sync: sync.all(),
            started: self.started,
            since: match sync.changed.filter(|_| sync.first.is_some()) {
                Some(changed) => self.time_of(changed),
                None => self.started,
            },
            waits_for: (!sync.all()).then(|| self.what(sync)),
            age_seconds: self.stats.last_contact_age().map(|age| age.as_secs_f64()),
            adopted_everything,
            shard: self.shard.map(|shard| shard.to_string()),
            kubeconfig: self.kubeconfig.clone(),
            // Before the first answer there is nothing to check it by.
            clock_unchecked: sync.first.is_some() && self.clock.corrections().unchecked,
        }
    }

    /// Whether its first sync was lately, and there is hardly any startup to compare with.
    fn has_just_started(&self, first: Instant) -> bool {
        let reading = self.clock.read();
        let mut known = self.first.lock();
        let (passed, last) = known.get_or_insert_with(|| (first.elapsed(), reading));
        // After the clock was set, the difference is not elapsed time.
        if last.jumps == reading.jumps {
            let nanos = reading.now.nanos_since(last.now).max(0);
            *passed += Duration::from_nanos(nanos.unsigned_abs());
        }
        *last = reading;
        *passed < JUST_STARTED && (self.ready)() < ENOUGH_TO_COMPARE
    }

    /// The time of the clock when the sync came or went.
    fn time_of(&self, changed: Instant) -> Timestamp {
        let mut known = self.changed.lock();
        match *known {
            Some((instant, time)) if instant == changed => time,
            _ => {
                let passed = i64::try_from(changed.elapsed().as_nanos()).unwrap_or(i64::MAX);
                let time = self.clock.now().plus_nanos(-passed);
                *known = Some((changed, time));
                time
            }
        }
    }

    /// What the exporter waits for, in one line.
    fn what(&self, sync: SourceSync) -> String {
        if let Some(what) = self.waits_for.what() {
            return what;
        }
        let trouble = self.stats.trouble();
        if sync.some() {
            let how_many = format!("{} of {} are in sync", sync.now, sync.of);
            return match trouble {
                Some((Some(namespace), why)) => format!("{how_many}; {namespace}: {}", why.detail),
                _ => how_many,
            };
        }
        let source = match self.health.readiness() {
            Ok(()) => "the watch of pods".to_owned(),
            Err(waiting) => waiting.trim_start_matches("waiting for ").to_owned(),
        };
        match trouble {
            Some((_, why)) => format!("{source}: {}", why.detail),
            None => source,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicU64};

    use super::*;
    use podinit_core::lifecycle::SourceId;
    use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
    use podinit_kube::watch::requests::PodScope;

    struct Exporter {
        stats: Arc<WatchStats>,
        saw_new: Arc<AtomicBool>,
        seconds: Arc<AtomicI64>,
        source: FreshnessSource,
    }

    /// An exporter with one watch, which begins at second 1,000.
    fn exporter() -> Exporter {
        let (stats, saw_new) = (Arc::new(WatchStats::new(1)), Arc::default());
        let seconds = Arc::new(AtomicI64::new(1_000));
        let clock = Arc::clone(&seconds);
        let health = ProcessHealth::new();
        health.register_source("all namespaces");
        Exporter {
            source: FreshnessSource::new(
                (Arc::clone(&stats), health),
                Arc::new(move || Timestamp::from_seconds(clock.load(Relaxed))),
                None,
                Arc::clone(&saw_new),
                Arc::default(),
            ),
            stats,
            saw_new,
            seconds,
        }
    }

    impl Exporter {
        async fn wait(&self, seconds: u32) {
            self.seconds.fetch_add(seconds.into(), Relaxed);
            tokio::time::advance(Duration::from_secs(seconds.into())).await;
        }

        fn state(&self) -> (FreshnessState, i64) {
            let found = self.source.now();
            (found.state, found.since.as_nanos() / 1_000_000_000)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_waits_has_just_started_and_adopted_everything_and_goes_blind() {
        let exporter = exporter();
        exporter.wait(5).await;
        exporter.source.waits_for.set(Some("the API server".to_owned()));
        assert_eq!(exporter.state(), (FreshnessState::Waiting, 1_000));
        assert_eq!(exporter.source.now().waits_for.as_deref(), Some("the API server"));
        exporter.source.waits_for.set(None);
        exporter.wait(5).await;
        let refused = ApiError::new(ApiErrorKind::Transport, "connection refused");
        exporter.stats.set_trouble(SourceId(0), &refused);
        assert_eq!(
            exporter.source.now().waits_for.as_deref(),
            Some("the first list of all namespaces: connection refused")
        );
        exporter.stats.set_synced(SourceId(0), true);
        assert_eq!(exporter.state(), (FreshnessState::JustStarted, 1_010));
        exporter.wait(120).await;
        assert_eq!(exporter.state(), (FreshnessState::Adopted, 1_010));
        exporter.saw_new.store(true, Relaxed);
        assert_eq!(exporter.state(), (FreshnessState::Current, 1_010));
        assert_eq!(exporter.source.now().waits_for, None);
        exporter.stats.set_synced(SourceId(0), false);
        exporter.wait(7).await;
        assert_eq!(exporter.state(), (FreshnessState::Blind, 1_130));
        exporter.stats.set_synced(SourceId(0), true);
        assert_eq!(exporter.state(), (FreshnessState::Current, 1_137));
    }

    /// A demo's clock runs faster than that of the machine: its own decides.
    #[tokio::test(start_paused = true)]
    async fn it_has_just_started_until_two_minutes_of_its_own_clock_or_twenty_startups() {
        let fast = exporter();
        fast.stats.set_synced(SourceId(0), true);
        assert_eq!(fast.state(), (FreshnessState::JustStarted, 1_000));
        fast.seconds.store(1_119, Relaxed);
        tokio::time::advance(Duration::from_secs(12)).await;
        assert_eq!(fast.state().0, FreshnessState::JustStarted);
        fast.seconds.store(1_120, Relaxed);
        assert_eq!(fast.state().0, FreshnessState::Adopted);
        let ready = Arc::new(AtomicU64::new(19));
        let (Exporter { source, stats, .. }, counted) = (exporter(), Arc::clone(&ready));
        let busy = FreshnessSource { ready: Box::new(move || counted.load(Relaxed)), ..source };
        stats.set_synced(SourceId(0), true);
        assert_eq!(busy.now().state, FreshnessState::JustStarted);
        ready.store(20, Relaxed);
        assert_eq!(busy.now().state, FreshnessState::Adopted);
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_that_is_forbidden_is_named_and_the_others_are_known() {
        let scopes = ["a", "b", "c"].map(|name| PodScope::Namespace(name.to_owned()));
        let stats = Arc::new(WatchStats::of_scopes(&scopes));
        let source = FreshnessSource::new(
            (Arc::clone(&stats), ProcessHealth::new()),
            Arc::new(|| Timestamp::from_seconds(1_000)),
            None,
            Arc::default(),
            Arc::default(),
        );
        let forbidden = ApiError::new(ApiErrorKind::Forbidden, "HTTP 403: pods is forbidden");
        stats.set_trouble(SourceId(1), &forbidden);
        for other in [0, 2] {
            stats.set_synced(SourceId(other), true);
        }
        let found = source.now();
        assert_eq!(found.state, FreshnessState::Partial);
        assert!(found.is_fresh() && !found.in_sync);
        let expected = "2 of 3 are in sync; b: HTTP 403: pods is forbidden";
        assert_eq!(found.waits_for.as_deref(), Some(expected));
        stats.set_synced(SourceId(1), true);
        assert_eq!(source.now().state, FreshnessState::JustStarted);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_set_right_moves_no_time_that_was_told() {
        let exporter = exporter();
        exporter.stats.set_synced(SourceId(0), true);
        let told = exporter.source.now();
        exporter.seconds.fetch_add(3_600, Relaxed);
        let since = |found: Freshness| (found.started, found.since);
        assert_eq!(since(exporter.source.now()), since(told));
    }
}
