//! One open watch: from the first byte of its body to its end.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use tokio::time::timeout_at;

use super::config::ReflectorConfig;
use super::health::Health;
use super::lines::{Line, Lines};
use super::outlet::{Closed, Outlet};
use super::pulse::Pulse;
use super::stats::{EventType, RelistReason, WatchErrorReason};
use super::version::Position;
use crate::cluster::api_error::ApiError;
use crate::cluster::transport::timed_out;
use crate::decode::{DecodeError, PodDecoder, WatchEventKind};
use crate::lifecycle::delivery::PodEvent;
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

/// Why a watch is over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The API server ended it, as it does with every watch sooner or later
    Finished,
    /// It failed; it can be resumed from the last position
    Failed(ApiError),
    /// Events were lost for good
    Lost(RelistReason),
}

/// What a watch brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StreamReport {
    pub(super) end: StreamEnd,
    pub(super) lived: Duration,
    /// The API server accepted it
    pub(super) opened: bool,
    /// At least one byte arrived
    pub(super) spoke: bool,
    /// A bookmark stated a version that lies behind the one the watch was opened at
    pub(super) behind: bool,
    /// The watch brought something new, or lasted
    pub(super) proven: bool,
}

/// An open watch.
pub(super) struct Stream<'a> {
    config: &'a ReflectorConfig,
    decoder: &'a mut PodDecoder,
    outlet: &'a mut Outlet,
    health: &'a mut Health,
    position: &'a mut Position,
    pulse: Pulse,
    proven: bool,
    behind: bool,
}

impl<'a> Stream<'a> {
    /// A watch from `position` whose body is about to be read.
    pub(super) fn opened(
        config: &'a ReflectorConfig,
        decoder: &'a mut PodDecoder,
        outlet: &'a mut Outlet,
        health: &'a mut Health,
        position: &'a mut Position,
    ) -> Self {
        outlet.heard();
        let pulse = Pulse::opened(outlet.synced());
        Self {
            config,
            decoder,
            outlet,
            health,
            position,
            pulse,
            proven: false,
            behind: false,
        }
    }

    /// Reads the watch to its end.
    pub(super) async fn read(mut self, mut body: Body) -> Result<StreamReport, Closed> {
        let mut lines = Lines::new(self.config.max_line_bytes);
        let end = loop {
            let synced = self.outlet.synced();
            let due = self.pulse.next_due(self.config, synced, self.proven);
            // Polls the body before it looks at the time, so that a passed deadline never hides
            // bytes that have arrived.
            let frame = match timeout_at(due, body.frame()).await {
                Err(_) => None,
                Ok(None) => {
                    self.outlet.heard();
                    break StreamEnd::Finished;
                }
                Ok(Some(Err(error))) => break StreamEnd::Failed(ApiError::from_client(&error)),
                Ok(Some(Ok(frame))) => frame.into_data().ok(),
            };
            // A process that was stopped finds bytes and a passed deadline at once: what it reads
            // now is what it has missed.
            if frame.is_some() && self.pulse.due(self.config, self.outlet.synced()).stale {
                self.outlet.lose_sync().await?;
            }
            if let Some(chunk) = frame
                && let Some(end) = self.chunk(&chunk, &mut lines).await?
            {
                break end;
            }
            if let Some(end) = self.check_deadlines().await? {
                break end;
            }
        };
        Ok(StreamReport {
            end,
            lived: self.pulse.lived(),
            opened: true,
            spoke: self.pulse.spoke(),
            behind: self.behind,
            proven: self.proven,
        })
    }

    async fn chunk(
        &mut self,
        chunk: &Bytes,
        lines: &mut Lines,
    ) -> Result<Option<StreamEnd>, Closed> {
        let arrived = self.outlet.now();
        self.outlet.heard();
        self.pulse.heard(self.outlet.synced());
        let mut rest: &[u8] = chunk;
        while let Some(line) = lines.next(&mut rest) {
            let end = match line {
                Line::Whole(line) => self.line(line, arrived).await?,
                Line::TooLong(head) => {
                    let limit = self.config.max_line_bytes;
                    let detail = format!("a watch event longer than {limit} bytes");
                    self.passed_over(WatchErrorReason::LineTooLong, &detail, head)
                }
            };
            if end.is_some() {
                return Ok(end);
            }
        }
        // A receiver that was slow to take them does not make the API server silent.
        self.pulse.heard(self.outlet.synced());
        Ok(None)
    }

    async fn line(&mut self, line: &[u8], arrived: Timestamp) -> Result<Option<StreamEnd>, Closed> {
        let event = match self.decoder.watch_event(line) {
            Ok(event) => event,
            Err(error) => {
                if let DecodeError::Object {
                    resource_version: Some(version),
                    ..
                } = error
                {
                    self.moved(version);
                }
                return Ok(self.passed_over(WatchErrorReason::Decode, &error.to_string(), line));
            }
        };
        match event.kind {
            WatchEventKind::Added(pod) => {
                self.count(EventType::Added);
                self.deliver(pod, PodEvent::Applied, arrived).await?;
            }
            WatchEventKind::Modified(pod) => {
                self.count(EventType::Modified);
                self.deliver(pod, PodEvent::Applied, arrived).await?;
            }
            WatchEventKind::Deleted(pod) => {
                self.count(EventType::Deleted);
                self.deliver(pod, PodEvent::Deleted, arrived).await?;
            }
            WatchEventKind::Bookmark {
                resource_version, ..
            } => {
                self.count(EventType::Bookmark);
                let version = resource_version.unwrap_or_default();
                if self.position.advance(&version) {
                    self.prove();
                } else {
                    self.behind |= Position::of_list(version).is_behind(self.position);
                }
                let version = self.position.version();
                self.outlet
                    .event(PodEvent::Bookmark, arrived, version)
                    .await?;
                // What stands before a bookmark has been delivered.
                self.settled().await?;
            }
            WatchEventKind::Error(status) => {
                self.count(EventType::Error);
                return Ok(Some(StreamEnd::Failed(ApiError::from_event(&status))));
            }
        }
        Ok(None)
    }

    /// The position moves when the pod has been delivered, not before: whoever stops between the
    /// two resumes with this event.
    async fn deliver(
        &mut self,
        pod: PodSnapshot,
        event: fn(PodSnapshot) -> PodEvent,
        arrived: Timestamp,
    ) -> Result<(), Closed> {
        let number = pod.resource_version;
        let version = self.position.after(number);
        self.outlet.event(event(pod), arrived, version).await?;
        if let Some(number) = number {
            self.moved(number);
        }
        Ok(())
    }

    fn moved(&mut self, version: u64) {
        if self.position.advance_to(version) {
            self.prove();
        }
    }

    /// An event that cannot be used costs that event only: the next one of the pod makes up for
    /// it. After a deletion, or what may have been one, there is no next one, so the pods have to
    /// be listed again.
    fn passed_over(
        &mut self,
        reason: WatchErrorReason,
        detail: &str,
        line: &[u8],
    ) -> Option<StreamEnd> {
        self.outlet.stats().count_errors(reason, 1);
        self.health.odd(reason, detail);
        tells_of_deletion(line).then_some(StreamEnd::Lost(RelistReason::LostDelete))
    }

    fn count(&self, kind: EventType) {
        self.outlet.stats().count_event(kind);
    }

    fn prove(&mut self) {
        if !self.proven {
            self.proven = true;
            self.health.works();
        }
    }

    async fn settled(&mut self) -> Result<(), Closed> {
        if self.pulse.settle() {
            self.outlet.regain_sync().await?;
        }
        Ok(())
    }

    async fn check_deadlines(&mut self) -> Result<Option<StreamEnd>, Closed> {
        let due = self.pulse.due(self.config, self.outlet.synced());
        if due.dead {
            let failure = timed_out("no byte in the watch", self.config.idle_timeout);
            return Ok(Some(StreamEnd::Failed(failure)));
        }
        if due.proven {
            self.prove();
        }
        if due.settled {
            self.settled().await?;
        }
        if due.stale {
            self.outlet.lose_sync().await?;
        }
        Ok(None)
    }
}

/// Whether a line that could not be decoded may be a DELETED event: unless it begins with another
/// type. The API server writes the type first.
pub(super) fn tells_of_deletion(line: &[u8]) -> bool {
    let name = [b"{".as_slice(), b"\"type\"", b":", b"\""]
        .into_iter()
        .try_fold(line, |rest, token| {
            rest.trim_ascii_start().strip_prefix(token)
        });
    let end = name.and_then(|name| memchr::memchr(b'"', name));
    match name.zip(end) {
        Some((name, end)) => &name[..end] == b"DELETED",
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deletion_is_known_by_its_beginning() {
        assert!(tells_of_deletion(br#"{"type":"DELETED","object":{"#));
        assert!(tells_of_deletion(br#"{ "type": "DELETED", "object": nu"#));
        assert!(!tells_of_deletion(
            br#"{"type":"MODIFIED","object":{"kind":"DELETED""#
        ));
        assert!(!tells_of_deletion(br#"{"type":"ADDED""#));
    }

    #[test]
    fn a_line_of_no_type_may_be_a_deletion() {
        for line in ["", "{", r#"{"type":"MOD"#, r#"{"object":{}}"#, "<html>"] {
            assert!(tells_of_deletion(line.as_bytes()), "{line}");
        }
    }
}
