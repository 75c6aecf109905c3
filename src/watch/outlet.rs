//! Where a list-watch delivers to, and what it has told of its sync.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::stats::WatchStats;
use crate::cluster::clock::Clock;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::version::Version;
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

/// Nobody receives deliveries any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// Sends the deliveries of one source, and keeps two things true: the statistics say in sync
/// exactly when the receiver has been told so, and it is told only of changes.
pub(super) struct Outlet {
    source: SourceId,
    deliveries: mpsc::Sender<Delivery>,
    clock: Arc<dyn Clock>,
    stats: Arc<WatchStats>,
    synced: bool,
    contact: Instant,
}

impl Outlet {
    pub(super) fn new(
        source: SourceId,
        deliveries: mpsc::Sender<Delivery>,
        clock: Arc<dyn Clock>,
        stats: Arc<WatchStats>,
    ) -> Self {
        Self {
            source,
            deliveries,
            clock,
            stats,
            synced: false,
            contact: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn stats(&self) -> &WatchStats {
        &self.stats
    }

    pub(super) const fn synced(&self) -> bool {
        self.synced
    }

    /// The API server was heard from.
    pub(super) fn heard(&mut self) {
        self.contact = Instant::now();
        self.stats.set_contact(self.source, self.contact.into_std());
    }

    /// An event of the watch that arrived at `arrived`, and with which it stands at `version`.
    pub(super) async fn event(
        &self,
        event: PodEvent,
        arrived: Timestamp,
        version: Version,
    ) -> Result<(), Closed> {
        self.send(event, Some(arrived), Some(version)).await
    }

    /// A list of `version` that completed. The watch is in sync with it.
    pub(super) async fn listed(
        &mut self,
        pods: Vec<PodSnapshot>,
        began: Timestamp,
        version: Version,
    ) -> Result<(), Closed> {
        let listed = PodEvent::Listed { pods, began };
        self.send(listed, None, Some(version)).await?;
        self.synced = true;
        self.stats.set_synced(self.source, true);
        Ok(())
    }

    /// The API server was restored from a backup: the versions told so far are of another history.
    pub(super) async fn rolled_back(&self) -> Result<(), Closed> {
        self.send(PodEvent::RolledBack, None, None).await
    }

    /// The watch is not, or no longer, in sync.
    pub(super) async fn lose_sync(&mut self) -> Result<(), Closed> {
        if self.synced {
            self.synced = false;
            self.stats.set_synced(self.source, false);
            self.send(PodEvent::SyncLost, None, None).await?;
        }
        Ok(())
    }

    /// The watch has gone on from where it had stopped, and what was missed has been delivered.
    pub(super) async fn regain_sync(&mut self) -> Result<(), Closed> {
        if !self.synced {
            self.send(PodEvent::Resumed, None, None).await?;
            self.synced = true;
            self.stats.set_synced(self.source, true);
        }
        Ok(())
    }

    /// Waits for `work` while no watch is open: sync is lost when that has lasted for `grace`
    /// since the API server was last heard from.
    pub(super) async fn while_closed<W: Future>(
        &mut self,
        grace: Duration,
        work: W,
    ) -> Result<W::Output, Closed> {
        let mut work = std::pin::pin!(work);
        if self.synced {
            if let Ok(output) = timeout_at(self.contact + grace, &mut work).await {
                return Ok(output);
            }
            self.lose_sync().await?;
        }
        Ok(work.await)
    }

    /// Both times are those of the arrival, not of the moment at which the queue has room: an event
    /// that had to wait is not late.
    async fn send(
        &self,
        event: PodEvent,
        observed: Option<Timestamp>,
        version: Option<Version>,
    ) -> Result<(), Closed> {
        let delivery = Delivery {
            source: self.source,
            event,
            now: observed.unwrap_or_else(|| self.clock.now()),
            observed,
            version,
        };
        self.deliveries.send(delivery).await.map_err(|_| Closed)
    }
}
