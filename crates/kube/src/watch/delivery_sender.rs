//! Sends the deliveries of one list-watch, and tracks whether it is in sync.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::time::{Instant, timeout_at};

use super::stats::WatchStats;
use crate::cluster::api_error::ApiError;
use crate::cluster::clock::DeliveryClock;
use podinit_core::lifecycle::{Delivery, PodEvent, SourceId, Version};
use podinit_core::pod::packed::PackedPods;
use podinit_core::timestamp::Timestamp;

/// The receiver of deliveries is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceiverGone;

/// Sends the deliveries of one source. The statistics say in sync exactly when the receiver has been
/// sent that, and the receiver is sent only changes.
pub(super) struct DeliverySender {
    source: SourceId,
    deliveries: mpsc::Sender<Delivery>,
    clock: Arc<dyn DeliveryClock>,
    stats: Arc<WatchStats>,
    synced: bool,
    /// It lost sync to a silence, and nothing has shown since that deliveries are in time
    silent: bool,
    /// It was restored from a backup, and no list has completed since
    rolled_back: bool,
    /// When the API server last delivered something, or ended a watch in order
    contact: Instant,
    /// A delivery had to wait for the queue, which is not silence of the API server
    waited: bool,
}

impl DeliverySender {
    pub(super) fn new(
        source: SourceId,
        deliveries: mpsc::Sender<Delivery>,
        clock: Arc<dyn DeliveryClock>,
        stats: Arc<WatchStats>,
    ) -> Self {
        Self {
            source,
            deliveries,
            clock,
            stats,
            synced: false,
            silent: false,
            rolled_back: false,
            contact: Instant::now(),
            waited: false,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn stats(&self) -> &WatchStats {
        &self.stats
    }

    /// Whether a deletion was not delivered since this was last asked.
    pub(super) fn take_lost_deletion(&self) -> bool {
        self.stats.take_lost_deletion(self.source)
    }

    pub(super) const fn synced(&self) -> bool {
        self.synced
    }

    /// The API server has answered, which says nothing of what a watch brings.
    pub(super) fn answered(&self) {
        self.stats.set_contact(self.source, Instant::now().into_std());
    }

    /// A request failed, or a watch.
    pub(super) fn set_trouble(&self, failure: &ApiError) {
        self.stats.set_trouble(self.source, failure);
    }

    /// The API server was heard from.
    pub(super) fn heard(&mut self) {
        self.heard_at(Instant::now());
    }

    /// The API server was heard from at `now`.
    pub(super) fn heard_at(&mut self, now: Instant) {
        self.contact = now;
        self.stats.set_contact(self.source, now.into_std());
    }

    /// Whether a delivery has had to wait for the queue since this was last asked.
    pub(super) const fn has_waited(&mut self) -> bool {
        std::mem::replace(&mut self.waited, false)
    }

    /// An event of the watch that arrived at `arrived` and brought the watch to `version`.
    pub(super) async fn event(
        &mut self,
        event: PodEvent,
        arrived: Timestamp,
        version: Version,
    ) -> Result<(), ReceiverGone> {
        self.send(event, Some(arrived), Some(version)).await
    }

    /// A list of `version` has completed, so the source is in sync.
    pub(super) async fn listed(
        &mut self,
        pods: PackedPods,
        began: Timestamp,
        version: Version,
    ) -> Result<(), ReceiverGone> {
        let listed = PodEvent::Listed { pods, began };
        self.send(listed, None, Some(version)).await?;
        self.contact = Instant::now();
        self.rolled_back = false;
        (self.synced, self.silent) = (true, false);
        self.stats.set_synced(self.source, true);
        Ok(())
    }

    /// A list that was made beside the watch, which has come as far.
    pub(super) async fn reconciled(&mut self, list: PodEvent) -> Result<(), ReceiverGone> {
        self.send(list, None, None).await
    }

    /// The API server was restored from a backup: the versions sent so far are of another history. Sent once until
    /// a list has completed.
    pub(super) async fn rolled_back(&mut self) -> Result<(), ReceiverGone> {
        if std::mem::replace(&mut self.rolled_back, true) {
            return Ok(());
        }
        self.send(PodEvent::RolledBack, None, None).await
    }

    /// The source is no longer in sync.
    pub(super) async fn lose_sync(&mut self) -> Result<(), ReceiverGone> {
        if self.synced {
            self.synced = false;
            self.stats.set_synced(self.source, false);
            self.send(PodEvent::SyncLost, None, None).await?;
        }
        Ok(())
    }

    /// The source is no longer in sync, since its watch is silent.
    pub(super) async fn fall_silent(&mut self) -> Result<(), ReceiverGone> {
        self.silent |= self.synced;
        self.lose_sync().await
    }

    /// Whether it lost sync to a silence, and nothing has shown since that deliveries are in time.
    pub(super) const fn silent(&self) -> bool {
        self.silent
    }

    /// A watch has ended when it was to end: deliveries are in time.
    pub(super) const fn in_time(&mut self) {
        self.silent = false;
    }

    /// The watch has resumed where it had stopped, and what was missed has been delivered, as is `known` or
    /// assumed.
    pub(super) async fn regain_sync(&mut self, known: bool) -> Result<(), ReceiverGone> {
        if !self.synced {
            let event = match known {
                true => PodEvent::CaughtUp,
                false => PodEvent::Resumed,
            };
            self.send(event, None, None).await?;
            (self.synced, self.silent) = (true, false);
            self.stats.set_synced(self.source, true);
        }
        Ok(())
    }

    /// Waits for `work` while no watch is open. Sync is lost when `grace` has passed since the API server last
    /// delivered something, or ended a watch in order.
    pub(super) async fn while_closed<W: Future>(
        &mut self,
        grace: Duration,
        work: W,
    ) -> Result<W::Output, ReceiverGone> {
        let mut work = std::pin::pin!(work);
        if self.synced {
            if let Ok(output) = timeout_at(self.contact + grace, &mut work).await {
                return Ok(output);
            }
            self.lose_sync().await?;
        }
        Ok(work.await)
    }

    /// Both times are those of the arrival, not of the moment at which the queue has room: waiting for
    /// the queue does not make an event late.
    async fn send(
        &mut self,
        event: PodEvent,
        observed: Option<Timestamp>,
        version: Option<Version>,
    ) -> Result<(), ReceiverGone> {
        let delivery = Delivery {
            source: self.source,
            event,
            now: observed.unwrap_or_else(|| self.clock.now()),
            observed,
            version,
        };
        match self.deliveries.try_send(delivery) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(ReceiverGone),
            Err(TrySendError::Full(delivery)) => {
                self.waited = true;
                self.deliveries.send(delivery).await.map_err(|_| ReceiverGone)
            }
        }
    }
}
