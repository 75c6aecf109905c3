//! The one loop of the program, as `serve` has it, with commits of the ledger in between.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podinit::lifecycle::delivery::Delivery;
use podinit::lifecycle::tracker::Tracker;
use podinit::sim::rng::Rng;
use podinit::watch::clock::Clock;
use podinit::watch::disciplined::DisciplinedClock;
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
    pub clock: Arc<DisciplinedClock>,
    pub stats: Arc<WatchStats>,
    /// Each delivery takes so long
    pub slow: Duration,
    /// Where the ledger is committed to, if there is one
    pub disk: Option<Disk>,
    pub rng: Rng,
    pub jumps: u64,
    /// The API server has to be heard of after this before time may pass
    pub disturbed: Option<Instant>,
}

impl Ingest {
    pub async fn run(mut self, stop: CancellationToken) -> Tally {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_tick = self.clock.elapsed();
        if self.tracker.is_ahead_of(self.clock.now()) {
            self.tracker.set_time(self.clock.now());
        }
        let mut commit = self.next_commit();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return self.tally,
                _ = ticks.tick() => {
                    let stalled = self.clock.elapsed().saturating_sub(last_tick) > STALL;
                    last_tick = self.clock.elapsed();
                    if !self.keeps_time() && stalled {
                        self.disturbed = Some(Instant::now());
                        self.tracker.catch_up(self.clock.now());
                    }
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
        let heard = self.stats.last_contact().map(Instant::from_std);
        let fresh = heard.is_some_and(|heard| {
            heard.elapsed() < FRESH && self.disturbed.is_none_or(|at| heard > at)
        });
        if self.deliveries.is_empty() && fresh {
            self.tracker.advance(self.clock.now(), &mut self.tally);
        }
    }

    /// Whether the clock has jumped, to which the accounting is then put.
    fn keeps_time(&mut self) -> bool {
        let jumps = self.clock.corrections().jumps;
        let jumped = std::mem::replace(&mut self.jumps, jumps) != jumps;
        if jumped {
            self.disturbed = Some(Instant::now());
            self.tracker.set_time(self.clock.now());
        }
        jumped
    }

    async fn account(&mut self, mut delivery: Delivery) {
        self.keeps_time();
        let present = self.clock.now();
        delivery.now = present.min(delivery.now);
        delivery.observed = delivery.observed.map(|observed| present.min(observed));
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
