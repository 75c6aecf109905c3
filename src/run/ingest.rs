//! The one loop: deliveries into the tracker, what it says into the recorder.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::ledger::Snapshots;
use super::slos::Slos;
use crate::lifecycle::delivery::{Delivery, PodEvent};
use crate::lifecycle::tracker::Tracker;
use crate::metrics::Recorder;
use crate::server::{Heartbeat, SourceHealth};
use crate::watch::clock::Clock;
use crate::watch::pace::{Pace, Passed};
use crate::watch::stats::WatchStats;

/// How often time passes for deadlines while nothing is delivered.
const TICK: Duration = Duration::from_millis(250);

/// Everything the ingest task owns.
pub(super) struct Ingest {
    pub(super) tracker: Tracker,
    pub(super) recorder: Recorder,
    pub(super) deliveries: mpsc::Receiver<Delivery>,
    pub(super) clock: Arc<dyn Clock>,
    /// By source
    pub(super) sources: Vec<SourceHealth>,
    pub(super) heartbeat: Heartbeat,
    /// The SLOs that are to be in force from now on; closed when they never change
    pub(super) slos: mpsc::Receiver<Slos>,
    pub(super) stats: Arc<WatchStats>,
    /// Where the state is asked for that is to outlive the process
    pub(super) snapshots: Snapshots,
}

impl Ingest {
    /// Accounts for what is delivered until `shutdown`, or until nothing can be delivered any
    /// more.
    pub(super) async fn run(mut self, shutdown: CancellationToken) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pace = Pace::new(&*self.clock);
        // What was restored may be of a time when the clock was wrong.
        if self.tracker.is_ahead_of(self.clock.now()) {
            self.tracker.set_time(self.clock.now());
        }
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                _ = ticks.tick() => {
                    let passed = pace.turn(&*self.clock);
                    self.keep(passed);
                    self.let_time_pass(&pace);
                    self.heartbeat.beat();
                }
                Some(request) = self.snapshots.requested() => {
                    let Self { tracker, recorder, stats, snapshots, .. } = &mut self;
                    snapshots.answer(request, tracker, recorder, stats);
                }
                Some(slos) = self.slos.recv() => {
                    self.tracker.set_slos(slos.rules);
                    self.recorder.set_slos(&slos.docs);
                    self.snapshots.changed();
                }
                delivery = self.deliveries.recv() => match delivery {
                    Some(delivery) => {
                        let passed = pace.look(&*self.clock);
                        self.keep(passed);
                        self.account(delivery);
                    }
                    None => break,
                },
            }
        }
        self.heartbeat.finish();
    }

    fn keep(&mut self, passed: Passed) {
        match passed {
            Passed::Evenly => {}
            Passed::Unattended(now) => self.tracker.catch_up(now),
            Passed::Jumped(now) => self.tracker.set_time(now),
        }
    }

    /// Lets time pass, unless the API server has not been heard of for a while: a process that was
    /// stopped has time to make up for, but first what was delivered meanwhile.
    fn let_time_pass(&mut self, pace: &Pace) {
        let heard = self.stats.last_contact().map(Instant::from_std);
        if self.deliveries.is_empty() && heard.is_some_and(|at| pace.is_fresh(at)) {
            self.tracker.advance(self.clock.now(), &mut self.recorder);
        }
    }

    /// Nothing has arrived after the present: a time that says so is of before a jump of the clock.
    fn account(&mut self, mut delivery: Delivery) {
        let present = self.clock.now();
        delivery.now = present.min(delivery.now);
        delivery.observed = delivery.observed.map(|observed| present.min(observed));
        let listed = matches!(delivery.event, PodEvent::Listed { .. } | PodEvent::Resumed);
        let source = usize::from(delivery.source.0);
        self.tracker.apply(delivery, &mut self.recorder);
        self.snapshots.changed();
        if let (true, Some(source)) = (listed, self.sources.get(source)) {
            source.listed();
        }
    }
}
