//! What a connection is doing, as far as it decides whether the connection may be closed.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What one connection is doing. Its own task writes, the accept loop reads. Each number stands for
/// itself, and a decision by slightly old numbers is as good, so every ordering is relaxed.
#[derive(Debug)]
pub(super) struct ConnectionActivity {
    opened: Instant,
    client: IpAddr,
    /// Milliseconds from `opened` to when the last request began or ended
    last: AtomicU64,
    requests: AtomicUsize,
    scrapes: AtomicUsize,
    used: AtomicBool,
    /// Milliseconds from `opened` to when the client stopped to read what is written, plus one; 0 while
    /// it reads
    stalled: AtomicU64,
    evicted: CancellationToken,
}

impl ConnectionActivity {
    /// What a connection of `client` does that is opened `now`.
    pub(super) fn new(now: Instant, client: IpAddr) -> Self {
        Self {
            opened: now,
            client,
            stalled: AtomicU64::new(0),
            last: AtomicU64::new(0),
            requests: AtomicUsize::new(0),
            scrapes: AtomicUsize::new(0),
            used: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        }
    }

    /// Closes the connection, to make room.
    pub(super) fn evict(&self) {
        self.evicted.cancel();
    }

    /// Whether the connection is to be closed.
    #[cfg(test)]
    pub(super) fn is_evicted(&self) -> bool {
        self.evicted.is_cancelled()
    }

    /// Whose connection it is.
    pub(super) fn client(&self) -> IpAddr {
        self.client
    }

    /// The client reads nothing since `now`.
    pub(super) fn stalls(&self, now: Instant) {
        self.stalled.store(self.millis_at(now) + 1, Ordering::Relaxed);
    }

    /// The client has read something.
    pub(super) fn reads(&self) {
        self.stalled.store(0, Ordering::Relaxed);
    }

    /// Since when the client has read nothing, though there is something for it.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        let millis = self.stalled.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.opened + Duration::from_millis(millis))
    }

    /// Waits until the connection is to be closed.
    pub(super) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }

    /// Whether the connection has never had a request.
    pub(super) fn is_unused(&self) -> bool {
        !self.used.load(Ordering::Relaxed)
    }

    /// When the connection was opened, or its last request began or ended.
    pub(super) fn last(&self) -> Instant {
        self.opened + Duration::from_millis(self.last.load(Ordering::Relaxed))
    }

    /// Whether the connection waits for an exposition or is being sent one.
    pub(super) fn is_scraping(&self) -> bool {
        self.scrapes.load(Ordering::Relaxed) > 0
    }

    /// Whether a request is in progress.
    pub(super) fn is_answering(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0 || self.is_scraping()
    }

    /// Counts a request until the guard is dropped.
    pub(super) fn answer(this: &Arc<Self>, now: Instant) -> AnsweringGuard {
        this.touch(now);
        this.used.store(true, Ordering::Relaxed);
        this.requests.fetch_add(1, Ordering::Relaxed);
        AnsweringGuard(Arc::clone(this))
    }

    /// Counts a scrape until the guard is dropped.
    pub(super) fn scrape(this: &Arc<Self>) -> ScrapingGuard {
        this.scrapes.fetch_add(1, Ordering::Relaxed);
        ScrapingGuard(Arc::clone(this))
    }

    fn touch(&self, now: Instant) {
        self.last.fetch_max(self.millis_at(now), Ordering::Relaxed);
    }

    fn millis_at(&self, now: Instant) -> u64 {
        let millis = now.saturating_duration_since(self.opened).as_millis();
        u64::try_from(millis).unwrap_or(u64::MAX - 1)
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct AnsweringGuard(Arc<ConnectionActivity>);

impl Drop for AnsweringGuard {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}

/// A scrape in progress.
#[derive(Debug)]
pub(super) struct ScrapingGuard(Arc<ConnectionActivity>);

impl Drop for ScrapingGuard {
    fn drop(&mut self) {
        self.0.scrapes.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}
