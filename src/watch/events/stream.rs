//! What is read of the watches of Events of one scope, and where it goes.

use tokio::sync::mpsc::error::TrySendError;

use super::stats::EventLossReason;
use super::{DeliveredEvents, EventSink};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::watch::config::ReflectorConfig;
use crate::watch::delivery_sender::ReceiverGone;
use crate::watch::event_reader::EventReader;
use crate::watch::evidence_log::EvidenceLog;
use crate::watch::follow::{Chunks, Follow, Sink, StreamEnd, StreamReport};
use crate::watch::line_reader::Framed;
use crate::watch::negotiation::Answer;
use crate::watch::resume_point::ResumePoint;
use podinit_decode::DecodeError;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};

/// Where the Events of one scope go.
pub(super) struct ScopeEvents {
    pub(super) decoder: EventDecoder,
    pub(super) sink: EventSink,
    /// How many Events of other shards are still to be reported
    pub(super) of_other_shards: u64,
    /// The index of the scope
    pub(super) scope: usize,
    pub(super) log: EvidenceLog,
}

impl Sink for ScopeEvents {
    type Over = ReceiverGone;

    async fn read(
        &mut self,
        watch: &Follow,
        answer: Answer,
        at: &mut ResumePoint,
    ) -> Result<StreamReport, ReceiverGone> {
        let config = &watch.config;
        self.log.up();
        self.sink.stats.set_up(self.scope, true);
        let mut events = EventReader::new(answer.encoding, config.max_line_bytes);
        let mut chunks = Chunks::opened(answer.body, at);
        let end = loop {
            match chunks.next(config).await {
                Ok(chunk) => {
                    if let Some(failure) = self.chunk(config, &chunk, &mut events, at)? {
                        break StreamEnd::Failed(failure);
                    }
                }
                Err(end) => break end,
            }
        };
        Ok(chunks.report(config, end, at, false))
    }

    async fn current_version(&mut self, watch: &mut Follow) -> Result<Option<String>, ApiError> {
        let (encoding, list) = watch.list_of_one().await?;
        Ok(self.decoder.version_of_list(encoding, &list)?)
    }

    fn failed(&mut self, failure: &ApiError, opened: bool) {
        let of_version = matches!(
            failure.kind,
            ApiErrorKind::Gone | ApiErrorKind::VersionAhead | ApiErrorKind::Rejected
        );
        if opened || of_version {
            self.log.interrupted(failure);
        } else {
            self.sink.stats.set_up(self.scope, false);
            self.log.down(failure);
        }
    }
}

impl ScopeEvents {
    /// Takes the Events of a chunk. The failure that the API server reports in it, if it does.
    fn chunk(
        &mut self,
        config: &ReflectorConfig,
        mut chunk: &[u8],
        events: &mut EventReader,
        at: &mut ResumePoint,
    ) -> Result<Option<ApiError>, ReceiverGone> {
        let encoding = events.encoding();
        while let Some(event) = events.next(&mut chunk) {
            let event = match event {
                Framed::Whole(event) => event,
                Framed::TooLong(_) => {
                    let detail = format!("longer than {} bytes", config.max_line_bytes);
                    self.skip(EventLossReason::TooLong, &detail);
                    continue;
                }
            };
            let line = match self.decoder.decode_event(encoding, event) {
                Ok(line) => line,
                Err(error) => {
                    self.skip(EventLossReason::Decode, &error.to_string());
                    if let DecodeError::Object { resource_version: Some(number), .. } = error {
                        at.advance_to(number);
                    }
                    continue;
                }
            };
            match line.kind {
                EventLineKind::Applied(event) => {
                    if !self.send(DeliveredEvents::One(event))? {
                        self.sink.stats.count_lost(EventLossReason::QueueFull);
                    }
                }
                EventLineKind::OtherShard => self.of_other_shards += 1,
                EventLineKind::Deleted | EventLineKind::Bookmark => {}
                EventLineKind::Error(status) => return Ok(Some(ApiError::from_event(&status))),
            }
            at.advance(&line.version.unwrap_or_default());
        }
        // Those that arrived together are reported as one. While the queue is full they wait for the next.
        let count = self.of_other_shards;
        if count > 0 && self.send(DeliveredEvents::OtherShards(count))? {
            self.of_other_shards = 0;
        }
        Ok(None)
    }

    /// Whether there was room in the queue.
    fn send(&self, events: DeliveredEvents) -> Result<bool, ReceiverGone> {
        match self.sink.events.try_send(events) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Closed(_)) => Err(ReceiverGone),
        }
    }

    fn skip(&mut self, reason: EventLossReason, detail: &str) {
        self.sink.stats.count_lost(reason);
        self.log.skipped(detail);
    }
}
