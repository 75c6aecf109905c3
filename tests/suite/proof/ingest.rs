//! The ingest loop as `serve` runs it, with commits of the checkpoint in between.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use podinit_core::lifecycle::{Delivery, Tracker};
use podinit_exporter::accounting_clock::AccountingClock;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::watch::stats::WatchStats;
use podinit_sim::rng::Rng;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, sleep};
use tokio_util::sync::CancellationToken;

use crate::proof::checkpoint::{Accounted, Durable};
use crate::proof::shard::ShardNumber;
use crate::proof::tally::Tally;

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
    pub clock: Arc<ApiServerClock>,
    pub stats: Arc<WatchStats>,
    /// Each delivery takes so long
    pub slow: Duration,
    /// Where the checkpoint is committed to, if there is one
    pub disk: Option<Disk>,
    /// The shard that the process is
    pub shard: Option<ShardNumber>,
    pub rng: Rng,
}

impl Ingest {
    pub async fn run(mut self, stop: CancellationToken) -> (Tally, Accounted) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut time = AccountingClock::start(&*self.clock, &mut self.tracker);
        let mut commit = self.next_commit();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return (self.tally, self.accounted),
                _ = ticks.tick() => {
                    time.tick(&*self.clock, &mut self.tracker);
                    if self.deliveries.is_empty() {
                        let (tracker, tally) = (&mut self.tracker, &mut self.tally);
                        time.let_deadlines_pass(&self.stats, tracker, tally);
                    }
                }
                () = tokio::time::sleep_until(commit), if self.disk.is_some() => {
                    self.commit();
                    commit = self.next_commit();
                }
                Some(mut delivery) = self.deliveries.recv() => {
                    time.receive(&*self.clock, &mut self.tracker);
                    time.stamp(&mut delivery);
                    self.account(delivery).await;
                }
            }
        }
    }

    async fn account(&mut self, delivery: Delivery) {
        if self.tally.injected.loses(&delivery.event) {
            return;
        }
        self.accounted.take(&delivery);
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
            let durable = Durable::of(&self.tracker, &self.tally, &self.accounted, self.shard);
            *disk.lock() = Some(durable);
        }
    }
}
