//! What the watches of Events and of nodes have in common: both are evidence, so that what fails is logged, and
//! nothing waits for it.

use super::config::ReflectorConfig;
use super::delivery_sender::ReceiverGone;
use super::event_reader::EventReader;
use super::events::stats::EventLossReason;
use super::evidence_log::EvidenceLog;
use super::follow::{StreamEnd, StreamReport, WatchChunks, WatchLoop, WatchSink};
use super::line_reader::FramedEvent;
use super::negotiation::AnswerHead;
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_decode::{ApiStatus, DecodeError, ObjectEncoding};

pub(super) type DecodedLine<T> = Result<T, DecodeError>;

/// The version of the object of an event, and what the event says.
pub(super) type EvidenceLine<T> = (Option<String>, T);

/// A source of evidence: how its objects are read, and where they go.
pub(super) trait EvidenceKind {
    /// What an event of a watch says
    type Event;

    /// States whether it is read.
    fn set_up(&self, up: bool);

    /// Decodes an event of a watch.
    fn decode(
        &mut self,
        encoding: ObjectEncoding,
        event: &[u8],
    ) -> DecodedLine<EvidenceLine<Self::Event>>;

    /// The version of a list.
    fn list_version(
        &mut self,
        encoding: ObjectEncoding,
        list: &[u8],
    ) -> DecodedLine<Option<String>>;

    /// Some events of a watch have arrived together.
    fn arrived(&mut self) {}

    /// Takes one of them. The error that the API server reports with it, if it does.
    async fn take(&mut self, event: Self::Event) -> Result<Option<ApiStatus>, ReceiverGone>;

    /// One of them could not be read.
    fn count_lost(&self, _reason: EventLossReason) {}

    /// It cannot be read now.
    fn down(&mut self, _failure: &ApiError) {}

    /// All of them were taken.
    fn taken(&mut self) -> Result<(), ReceiverGone> {
        Ok(())
    }
}

/// Reads the watches of a source of evidence.
pub(super) struct EvidenceSink<E> {
    pub(super) evidence: E,
    pub(super) log: EvidenceLog,
    pub(super) signs: WatchSigns,
}

impl<E: EvidenceKind> WatchSink for EvidenceSink<E> {
    type Over = ReceiverGone;

    async fn read(
        &mut self,
        watch: &WatchLoop,
        answer: AnswerHead,
        at: &mut ResumePoint,
    ) -> Result<StreamReport, ReceiverGone> {
        let config = &watch.config;
        self.log.up();
        self.evidence.set_up(true);
        let mut events = EventReader::new(answer.encoding, config.max_line_bytes);
        let mut chunks = WatchChunks::opened(answer.body, at);
        let end = loop {
            match chunks.next(config).await {
                Ok(chunk) => {
                    if let Some(status) = self.chunk(config, &chunk, &mut events, at).await? {
                        break StreamEnd::Failed(ApiError::from_event(&status));
                    }
                }
                Err(end) => break end,
            }
        };
        Ok(chunks.report(config, end, at, false))
    }

    async fn current_version(&mut self, watch: &mut WatchLoop) -> Result<Option<String>, ApiError> {
        let (encoding, list) = watch.list_of_one().await?;
        Ok(self.evidence.list_version(encoding, &list)?)
    }

    fn signs(&mut self) -> &mut WatchSigns {
        &mut self.signs
    }

    fn failed(&mut self, failure: &ApiError, opened: bool) {
        let of_version = matches!(
            failure.kind,
            ApiErrorKind::Gone | ApiErrorKind::VersionAhead | ApiErrorKind::Rejected
        );
        if opened || of_version {
            self.log.interrupted(failure);
        } else {
            self.evidence.set_up(false);
            self.evidence.down(failure);
            self.log.down(failure);
        }
    }
}

impl<E: EvidenceKind> EvidenceSink<E> {
    /// Takes the events of a chunk. The error that the API server reports in it, if it does.
    async fn chunk(
        &mut self,
        config: &ReflectorConfig,
        mut chunk: &[u8],
        events: &mut EventReader,
        at: &mut ResumePoint,
    ) -> Result<Option<ApiStatus>, ReceiverGone> {
        self.evidence.arrived();
        let encoding = events.encoding();
        while let Some(event) = events.next(&mut chunk) {
            let event = match event {
                FramedEvent::Whole(event) => event,
                FramedEvent::TooLong(_) => {
                    let detail = format!("longer than {} bytes", config.max_line_bytes);
                    self.skip(EventLossReason::TooLong, &detail);
                    continue;
                }
            };
            match self.evidence.decode(encoding, event) {
                Ok((version, event)) => {
                    if let Some(status) = self.evidence.take(event).await? {
                        return Ok(Some(status));
                    }
                    at.advance(&version.unwrap_or_default());
                }
                Err(error) => {
                    self.skip(EventLossReason::Decode, &error.to_string());
                    if let DecodeError::Object { resource_version: Some(number), .. } = error {
                        at.advance_to(number);
                    }
                }
            }
        }
        self.evidence.taken()?;
        Ok(None)
    }

    fn skip(&mut self, reason: EventLossReason, detail: &str) {
        self.evidence.count_lost(reason);
        self.log.skipped(detail);
    }
}
