//! One open watch of Events: from the first byte of its body to its end.

use std::time::Duration;

use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;

use super::log::EventLog;
use super::stats::EventLossReason;
use super::{DeliveredEvents, EventSink};
use crate::cluster::api_error::ApiError;
use crate::cluster::transport::next_chunk;
use crate::decode::event::watch::{EventDecoder, EventLineKind};
use crate::decode::{DecodeError, Encoding};
use crate::watch::config::ReflectorConfig;
use crate::watch::delivery_sender::Closed;
use crate::watch::event_reader::EventReader;
use crate::watch::framing::Framed;
use crate::watch::negotiation::Answer;
use crate::watch::resume_point::ResumePoint;

/// The result of one watch.
#[derive(Debug)]
pub(super) struct StreamReport {
    /// Why it failed; `None` when the API server ended it, as it does with every watch sooner or later
    pub(super) failure: Option<ApiError>,
    pub(super) open_for: Duration,
    /// At least one byte arrived
    pub(super) has_data: bool,
    /// It delivered something new, or lasted long enough
    pub(super) proven: bool,
}

/// An open watch.
pub(super) struct Stream<'a> {
    pub(super) config: &'a ReflectorConfig,
    pub(super) decoder: &'a mut EventDecoder,
    pub(super) sink: &'a EventSink,
    /// How many Events of other shards are still to be reported
    pub(super) of_other_shards: &'a mut u64,
    pub(super) log: &'a mut EventLog,
    pub(super) resume_point: &'a mut ResumePoint,
}

impl Stream<'_> {
    /// Reads the watch to its end.
    pub(super) async fn read(mut self, answer: Answer) -> Result<StreamReport, Closed> {
        let Answer {
            encoding, mut body, ..
        } = answer;
        let opened = Instant::now();
        let mut events = EventReader::new(encoding, self.config.max_line_bytes);
        let (mut has_data, mut news) = (false, false);
        let failure = loop {
            let next = next_chunk(&mut body, self.config.idle_timeout, "no byte in the watch");
            let chunk = match next.await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break None,
                Err(failure) => break Some(failure),
            };
            has_data = true;
            match self.chunk(&chunk, &mut events)? {
                Ok(moved) => news |= moved,
                Err(failure) => break Some(failure),
            }
        };
        let open_for = opened.elapsed();
        Ok(StreamReport {
            failure,
            open_for,
            has_data,
            proven: news || open_for >= self.config.proven_after,
        })
    }

    /// Whether the chunk brought anything new, or why the watch is over.
    fn chunk(
        &mut self,
        mut chunk: &[u8],
        events: &mut EventReader,
    ) -> Result<Result<bool, ApiError>, Closed> {
        let mut news = false;
        let encoding = events.encoding();
        while let Some(event) = events.next(&mut chunk) {
            match event {
                Framed::Whole(event) => match self.event(encoding, event)? {
                    Ok(moved) => news |= moved,
                    Err(failure) => return Ok(Err(failure)),
                },
                Framed::TooLong(_) => {
                    self.sink.stats.count_lost(EventLossReason::TooLong);
                    let limit = self.config.max_line_bytes;
                    self.log.skipped(&format!("longer than {limit} bytes"));
                }
            }
        }
        self.report_other_shards()?;
        Ok(Ok(news))
    }

    /// Reports those that arrived together as one. While the queue is full they wait for the next.
    fn report_other_shards(&mut self) -> Result<(), Closed> {
        let count = *self.of_other_shards;
        if count > 0 && self.send(DeliveredEvents::OtherShards(count))? {
            *self.of_other_shards = 0;
        }
        Ok(())
    }

    /// Whether there was room in the queue.
    fn send(&self, events: DeliveredEvents) -> Result<bool, Closed> {
        match self.sink.events.try_send(events) {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Closed(_)) => Err(Closed),
        }
    }

    fn event(
        &mut self,
        encoding: Encoding,
        event: &[u8],
    ) -> Result<Result<bool, ApiError>, Closed> {
        let line = match self.decoder.decode_event(encoding, event) {
            Ok(line) => line,
            Err(error) => {
                self.sink.stats.count_lost(EventLossReason::Decode);
                self.log.skipped(&error.to_string());
                let version = match error {
                    DecodeError::Object {
                        resource_version, ..
                    } => resource_version,
                    DecodeError::Json { .. } | DecodeError::Protobuf(_) => None,
                };
                let moved = version.is_some_and(|number| self.resume_point.advance_to(number));
                return Ok(Ok(moved));
            }
        };
        match line.kind {
            EventLineKind::Applied(event) => {
                if !self.send(DeliveredEvents::One(event))? {
                    self.sink.stats.count_lost(EventLossReason::QueueFull);
                }
            }
            EventLineKind::OtherShard => *self.of_other_shards += 1,
            EventLineKind::Deleted | EventLineKind::Bookmark => {}
            EventLineKind::Error(status) => return Ok(Err(ApiError::from_event(&status))),
        }
        let version = line.version.unwrap_or_default();
        Ok(Ok(self.resume_point.advance(&version)))
    }
}
