//! The one loop of the program, as `serve` has it, with commits of the ledger in between.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podinit::lifecycle::delivery::Delivery;
use podinit::lifecycle::tracker::Tracker;
use podinit::sim::rng::Rng;
use podinit::timestamp::Timestamp;
use podinit::watch::stats::WatchStats;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, sleep};
use tokio_util::sync::CancellationToken;

use crate::ledger::{Accounted, Durable};
use crate::tally::Tally;

/// As in `serve`.
const TICK: Duration = Duration::from_millis(250);
const FRESH: Duration = Duration::from_secs(30);
const STALL: Duration = Duration::from_secs(2);

/// Longest time between two commits, in milliseconds. There is one for each scrape.
const COMMITS: u64 = 15_000;

/// The disk; empty before the first commit.
pub type Disk = Arc<Mutex<Option<Durable>>>;

pub struct Ingest {
    pub tracker: Tracker,
    pub tally: Tally,
    pub deliveries: mpsc::Receiver<Delivery>,
    pub accounted: Accounted,
    pub clock: Box<dyn Fn() -> Timestamp + Send>,
    pub stats: Arc<WatchStats>,
    /// Each delivery takes so long
    pub slow: Duration,
    /// Where the ledger is committed to, if there is one
    pub disk: Option<Disk>,
    pub rng: Rng,
}

impl Ingest {
    pub async fn run(mut self, stop: CancellationToken) -> Tally {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_tick = Instant::now();
        let mut commit = self.next_commit();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return self.tally,
                _ = ticks.tick() => {
                    if last_tick.elapsed() > STALL {
                        self.tracker.catch_up((self.clock)());
                    }
                    last_tick = Instant::now();
                    self.let_time_pass();
                }
                () = tokio::time::sleep_until(commit), if self.disk.is_some() => {
                    self.commit();
                    commit = self.next_commit();
                }
                Some(delivery) = self.deliveries.recv() => self.account(delivery).await,
            }
        }
    }

    fn let_time_pass(&mut self) {
        let now = Instant::now().into_std();
        let heard = self.stats.last_contact();
        let fresh = heard.is_some_and(|at| now.saturating_duration_since(at) < FRESH);
        if self.deliveries.is_empty() && fresh {
            self.tracker.advance((self.clock)(), &mut self.tally);
        }
    }

    async fn account(&mut self, delivery: Delivery) {
        if self.tally.planted.loses(&delivery.event) {
            return;
        }
        self.accounted.count(&delivery);
        self.tracker.apply(delivery, &mut self.tally);
        if !self.slow.is_zero() {
            sleep(self.slow).await;
        }
    }

    fn next_commit(&mut self) -> Instant {
        Instant::now() + Duration::from_millis(self.rng.below(COMMITS))
    }

    fn commit(&self) {
        if let Some(disk) = &self.disk {
            let durable = Durable::of(&self.tracker, &self.tally, &self.accounted);
            *disk.lock().unwrap_or_else(PoisonError::into_inner) = Some(durable);
        }
    }
}
