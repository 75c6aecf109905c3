//! The one loop of the program, as `serve` has it, with commits of the ledger in between.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podinit::lifecycle::delivery::Delivery;
use podinit::lifecycle::tracker::Tracker;
use podinit::sim::rng::Rng;
use podinit::watch::clock::Clock;
use podinit::watch::disciplined::DisciplinedClock;
use podinit::watch::pace::{Pace, Passed};
use podinit::watch::stats::WatchStats;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, sleep};
use tokio_util::sync::CancellationToken;

use crate::ledger::{Accounted, Durable};
use crate::tally::Tally;

/// As in `serve`.
const TICK: Duration = Duration::from_millis(250);

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
}

impl Ingest {
    pub async fn run(mut self, stop: CancellationToken) -> Tally {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pace = Pace::new(&*self.clock);
        if self.tracker.is_ahead_of(self.clock.now()) {
            self.tracker.set_time(self.clock.now());
        }
        let mut commit = self.next_commit();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return self.tally,
                _ = ticks.tick() => {
                    let passed = pace.turn(&*self.clock);
                    self.keep(passed);
                    self.let_time_pass(&pace);
                }
                () = tokio::time::sleep_until(commit), if self.disk.is_some() => {
                    self.commit();
                    commit = self.next_commit();
                }
                Some(delivery) = self.deliveries.recv() => {
                    let passed = pace.look(&*self.clock);
                    self.keep(passed);
                    self.account(delivery).await;
                }
            }
        }
    }

    fn keep(&mut self, passed: Passed) {
        match passed {
            Passed::Evenly => {}
            Passed::Unattended(now) => self.tracker.catch_up(now),
            Passed::Jumped(now) => self.tracker.set_time(now),
        }
    }

    fn let_time_pass(&mut self, pace: &Pace) {
        let heard = self.stats.last_contact().map(Instant::from_std);
        if self.deliveries.is_empty() && heard.is_some_and(|at| pace.is_fresh(at)) {
            self.tracker.advance(self.clock.now(), &mut self.tally);
        }
    }

    async fn account(&mut self, mut delivery: Delivery) {
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
