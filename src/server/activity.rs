//! What a connection is doing, as far as it decides whether the connection may be closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tokio::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What one connection is doing. Its own task writes, the accept loop reads. Each number stands for
/// itself, and a decision by slightly old numbers is as good, so every ordering is relaxed.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    /// Milliseconds from `opened` to when the last request began or ended
    last: AtomicU64,
    requests: AtomicUsize,
    scrapes: AtomicUsize,
    used: AtomicBool,
    evicted: CancellationToken,
}

impl Activity {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            opened: now,
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
    pub(super) fn answer(this: &Arc<Self>, now: Instant) -> Answering {
        this.touch(now);
        this.used.store(true, Ordering::Relaxed);
        this.requests.fetch_add(1, Ordering::Relaxed);
        Answering(Arc::clone(this))
    }

    /// Counts a scrape until the guard is dropped.
    pub(super) fn scrape(this: &Arc<Self>) -> Scraping {
        this.scrapes.fetch_add(1, Ordering::Relaxed);
        Scraping(Arc::clone(this))
    }

    fn touch(&self, now: Instant) {
        let millis = now.duration_since(self.opened).as_millis();
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        self.last.fetch_max(millis, Ordering::Relaxed);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct Answering(Arc<Activity>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}

/// A scrape in progress.
#[derive(Debug)]
pub(super) struct Scraping(Arc<Activity>);

impl Drop for Scraping {
    fn drop(&mut self) {
        self.0.scrapes.fetch_sub(1, Ordering::Relaxed);
        self.0.touch(Instant::now());
    }
}
