//! The one loop: deliveries into the tracker, what it says into the recorder.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::lifecycle::delivery::{Delivery, PodEvent};
use crate::lifecycle::tracker::Tracker;
use crate::metrics::Recorder;
use crate::server::{Heartbeat, SourceHealth};
use crate::watch::clock::Clock;

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
}

impl Ingest {
    /// Accounts for what is delivered until `shutdown`, or until nothing can be delivered any
    /// more.
    pub(super) async fn run(mut self, shutdown: CancellationToken) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                _ = ticks.tick() => {
                    self.tracker.advance(self.clock.now(), &mut self.recorder);
                    self.heartbeat.beat();
                }
                delivery = self.deliveries.recv() => match delivery {
                    Some(delivery) => self.account(delivery),
                    None => break,
                },
            }
        }
        self.heartbeat.finish();
    }

    fn account(&mut self, delivery: Delivery) {
        let listed = matches!(delivery.event, PodEvent::Listed { .. });
        let source = usize::from(delivery.source.0);
        self.tracker.apply(delivery, &mut self.recorder);
        if let (true, Some(source)) = (listed, self.sources.get(source)) {
            source.listed();
        }
    }
}
