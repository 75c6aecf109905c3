//! The loop of one watch of Events. It begins at the current version, which a list of one Event tells,
//! and resumes where a watch has ended. When the API server no longer has what comes next, it begins at
//! the current version again: the Events in between are lost, and no backlog is read.

use std::convert::Infallible;

use kube::Client;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::sleep;

use super::stats::EventLossReason;
use super::{DeliveredEvents, EventSink};
use crate::watch::WatchConfig;
use crate::watch::delivery_sender::ReceiverGone;
use crate::watch::evidence::{DecodedLine, EvidenceKind, EvidenceLine, EvidenceSink};
use crate::watch::evidence_log::EvidenceLog;
use crate::watch::follow::{WatchLoop, WatchSink};
use crate::watch::pages::watch_version;
use crate::watch::requests::{PodScope, RequestBuilder};
use crate::watch::resume_point::ResumePoint;
use crate::watch::signs::WatchSigns;
use crate::watch::stats::RelistReason;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_decode::{ApiStatus, ObjectEncoding};

/// The watch of the Events of one scope.
pub(super) struct EventFollower {
    watch: WatchLoop,
    events: EvidenceSink<ScopeEvents>,
}

impl EventFollower {
    pub(super) fn new(
        client: Client,
        scope: &PodScope,
        watch: &WatchConfig,
        sink: EventSink,
        index: usize,
    ) -> Self {
        let requests = RequestBuilder::of_events(scope);
        let decoder = EventDecoder::new(watch.decode.clone()).of_shard(watch.selectors.shard);
        Self {
            watch: WatchLoop::new(client, requests, watch.reflector.clone()),
            events: EvidenceSink {
                evidence: ScopeEvents { decoder, of_other_shards: 0, sink, scope: index },
                log: EvidenceLog::new("Events", "events"),
                signs: WatchSigns::default(),
            },
        }
    }

    /// Watches until the receiver is gone.
    pub(super) async fn run(&mut self) -> Result<Infallible, ReceiverGone> {
        loop {
            let mut resume_point = self.current().await;
            let following = self.watch.follow(&mut self.events, &mut resume_point, false);
            following.await?;
            self.events.evidence.sink.watch.count_relist(RelistReason::Events);
            sleep(self.watch.backoff.after_interruption()).await;
        }
    }

    /// The version that the API server is at, however long it takes to learn it.
    async fn current(&mut self) -> ResumePoint {
        loop {
            let version = self.events.current_version(&mut self.watch).await;
            match version.and_then(watch_version) {
                Ok(version) => {
                    self.events.signs.listed(false);
                    return ResumePoint::of_list(version);
                }
                Err(failure) => {
                    self.events.failed(&failure, false);
                    self.watch.rest(&failure).await;
                }
            }
        }
    }
}

/// Where the Events of one scope go.
struct ScopeEvents {
    decoder: EventDecoder,
    sink: EventSink,
    /// How many Events of other shards are still to be reported
    of_other_shards: u64,
    /// The index of the scope
    scope: usize,
}

impl EvidenceKind for ScopeEvents {
    type Event = EventLineKind;

    fn set_up(&self, up: bool) {
        self.sink.stats.set_up(self.scope, up);
    }

    fn decode(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> DecodedLine<EvidenceLine<Self::Event>> {
        let line = self.decoder.decode_event(encoding, event)?;
        Ok((line.version, line.kind))
    }

    fn list_version(
        &mut self,
        encoding: ObjectEncoding,
        list: &[u8],
    ) -> DecodedLine<Option<String>> {
        self.decoder.version_of_list(encoding, list)
    }

    async fn take(&mut self, event: EventLineKind) -> Result<Option<ApiStatus>, ReceiverGone> {
        match event {
            EventLineKind::Applied(event) => {
                if !self.send(DeliveredEvents::One(event))? {
                    self.count_lost(EventLossReason::QueueFull);
                }
            }
            EventLineKind::OtherShard => self.of_other_shards += 1,
            EventLineKind::Deleted | EventLineKind::Bookmark => {}
            EventLineKind::Error(status) => return Ok(Some(status)),
        }
        Ok(None)
    }

    fn count_lost(&self, reason: EventLossReason) {
        self.sink.stats.count_lost(reason);
    }

    /// Events of other shards that arrived together are reported as one. While the queue is full they wait for the
    /// next.
    fn taken(&mut self) -> Result<(), ReceiverGone> {
        let count = self.of_other_shards;
        if count > 0 && self.send(DeliveredEvents::OtherShards(count))? {
            self.of_other_shards = 0;
        }
        Ok(())
    }
}

impl ScopeEvents {
    /// Whether there was room in the queue.
    fn send(&self, events: DeliveredEvents) -> Result<bool, ReceiverGone> {
        match self.sink.events.try_send(events) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Closed(_)) => Err(ReceiverGone),
        }
    }
}
