//! The barrier that makes durable what a scrape is about to show.
//!
//! A scrape encodes its body and then asks for a commit; the commit takes a snapshot of what the
//! ingest task knows, which is at least what the body shows, and writes it; only then is the body
//! sent. So what a scrape has shown is never newer than what is durable, wherever the process is
//! killed.
//!
//! Commits are numbered as they are requested, and one that begins serves all requests until then:
//! at most one is under way and at most one more is wanted, however many scrapes there are. If the disk fails or hangs, a scrape waits for a bounded time, and
//! `podinit_checkpoint_durable`, a counter and the log report it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::CheckpointGauges;

/// How long a scrape waits for the disk. Scrapers give up after ten seconds by default.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the committer looks whether the directory is still in its place while nothing is written.
const IDLE: Duration = Duration::from_secs(15);

/// Where scrapes ask for commits and wait for the committer.
pub(crate) struct CommitRequests {
    state: Mutex<CommitNumbers>,
    /// Notified whenever a commit is over
    ended: Notify,
    wanted: Notify,
    pub(super) gauges: Arc<CheckpointGauges>,
    patience: Duration,
    /// See [`IDLE`]
    pub(super) idle: Duration,
}

/// Numbers of commits.
#[derive(Default)]
struct CommitNumbers {
    /// The last commit that was requested
    asked: u64,
    /// The last one that is over
    over: u64,
    /// The last one that became durable
    durable: u64,
    /// The last one after which a scrape was sent, durable or not
    shown: u64,
}

impl CommitRequests {
    pub(super) fn new(gauges: Arc<CheckpointGauges>) -> Self {
        Self::with_times(gauges, PATIENCE, IDLE)
    }

    pub(super) fn with_times(
        gauges: Arc<CheckpointGauges>,
        patience: Duration,
        idle: Duration,
    ) -> Self {
        Self {
            state: Mutex::default(),
            ended: Notify::new(),
            wanted: Notify::new(),
            gauges,
            patience,
            idle,
        }
    }

    /// Whether everything that was shown is durable, as far as is known.
    pub(crate) fn are_durable(&self) -> bool {
        self.gauges.is_durable()
    }

    /// Asks for a commit, at once. The future completes when everything that was counted before
    /// this call is durable, the disk has failed, or the wait has timed out. It is false where
    /// everything was durable before, as far as was known or `said`, and is not any more. Where it was not, what is
    /// shown says so, and nobody waits for the disk.
    pub(crate) fn commit(self: &Arc<Self>, said: bool) -> impl Future<Output = bool> + use<> {
        let was_durable = said || self.are_durable();
        let number = {
            let mut state = self.state.lock();
            state.asked += 1;
            state.asked
        };
        self.want();
        let deadline = Instant::now() + self.patience;
        let commits = Arc::clone(self);
        async move {
            let waited = match was_durable {
                true => timeout_at(deadline, commits.until_over(number)).await,
                false => Ok(()),
            };
            let mut state = commits.state.lock();
            state.shown = state.shown.max(number);
            let why = waited.is_err().then_some("the disk does not answer");
            commits.report(&state, why);
            !was_durable || commits.gauges.is_durable()
        }
    }

    async fn until_over(&self, number: u64) {
        loop {
            // It listens before it checks, so that it misses no commit that ends in between.
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.state.lock().over >= number {
                return;
            }
            ended.await;
        }
    }

    /// Wants a commit that nobody waits for.
    pub(super) fn want(&self) {
        self.wanted.notify_one();
    }

    /// Waits until a commit is wanted.
    pub(super) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Begins a commit, which serves all requests so far, and returns its number.
    pub(super) fn begin(&self) -> u64 {
        self.state.lock().asked
    }

    /// The commit `number` is over.
    pub(super) fn end(&self, number: u64, result: Result<(), String>) {
        let mut state = self.state.lock();
        state.over = state.over.max(number);
        let why = match result {
            Ok(()) => {
                state.durable = state.durable.max(number);
                None
            }
            Err(why) => {
                state.shown = state.shown.max(number);
                Some(why)
            }
        };
        self.report(&state, why.as_deref());
        self.ended.notify_waiters();
    }

    /// Sets the gauge that says whether everything shown is durable, and logs when it changes.
    fn report(&self, state: &CommitNumbers, why: Option<&str>) {
        let durable = state.durable >= state.shown;
        match (self.gauges.set_durable(durable), durable) {
            (true, false) => {
                let why = why.unwrap_or("it failed");
                tracing::error!(
                    why,
                    "podinit cannot write the checkpoint; it answers scrapes, but a restart now may lower counters"
                );
            }
            (false, true) => tracing::info!("podinit writes the checkpoint again"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The disk takes longer than a scrape waits.
    #[tokio::test(start_paused = true)]
    async fn a_scrape_waits_once_for_a_slow_disk_and_not_at_all_once_it_says_so() {
        let gauges = Arc::new(CheckpointGauges::new());
        let commits = Arc::new(CommitRequests::new(Arc::clone(&gauges)));
        let began = Instant::now();
        assert!(!commits.commit(commits.are_durable()).await);
        assert_eq!(began.elapsed(), PATIENCE);
        // The body is encoded again, and says that it is not durable.
        assert!(commits.commit(commits.are_durable()).await);
        assert_eq!(began.elapsed(), PATIENCE, "the whole scrape");
        // One whose body was encoded before that waits as long as any.
        assert!(!commits.commit(true).await);
        assert_eq!(began.elapsed(), PATIENCE * 2);
        commits.end(commits.begin(), Ok(()));
        assert!(gauges.is_durable());
    }
}
