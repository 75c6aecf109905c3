//! A list that is streamed as the beginning of a watch (KEP-3157, WatchList): the API server sends
//! every pod as an event and then a bookmark that ends the list. The API server then holds no page
//! in memory, which is the purpose of the option.
//!
//! Not every API server supports it, and some do so half. If one refuses it, sends no end or one without a version,
//! or fails again and again, the list is requested in pages.

use std::time::Duration;

use tokio::time::timeout;

use super::event_reader::EventReader;
use super::line_reader::FramedEvent;
use super::negotiation::{AnswerHead, RequestPurpose};
use super::paged_list::{CompleteList, ListRequester};
use super::pages::{no_version, usable};
use super::requests::ListFreshness;
use super::streamed_pods::StreamedPods;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::timed_out;
use podinit_decode::{ObjectEncoding, WatchEventKind};

/// Why a streamed list did not complete.
#[derive(Debug)]
pub(super) enum StreamedListError {
    /// The API server does not offer it
    Refused(ApiError),
    /// It began, and had no end from which a watch can go on
    Endless(ApiError),
    /// It failed as any list can, or broke off before its end
    Failed(ApiError),
}

impl StreamedListError {
    /// What a failed request, or an ERROR event instead of a pod, says of streams.
    fn from_error(failure: ApiError) -> Self {
        match failure.kind {
            ApiErrorKind::Rejected
            | ApiErrorKind::NotImplemented
            | ApiErrorKind::NotAcceptable
            | ApiErrorKind::ClientError
            | ApiErrorKind::UnexpectedStatus => Self::Refused(failure),
            _ => Self::Failed(failure),
        }
    }
}

impl ListRequester<'_> {
    /// Reads the list as a stream. As with pages, it returns nothing unless the list completes.
    pub(super) async fn stream(
        &mut self,
        freshness: &ListFreshness,
    ) -> Result<CompleteList, StreamedListError> {
        let longest = self.config.page_timeout;
        match timeout(longest, self.streamed(freshness, longest)).await {
            Ok(result) => result,
            Err(_) => Err(no_end(longest)),
        }
    }

    async fn streamed(
        &mut self,
        freshness: &ListFreshness,
        longest: Duration,
    ) -> Result<CompleteList, StreamedListError> {
        let seconds = u32::try_from(longest.as_secs()).unwrap_or(u32::MAX).max(1);
        let request = self.requests.streamed_list(freshness, seconds);
        let request = request.map_err(StreamedListError::Failed)?;
        let deadline = self.config.header_timeout;
        let answer = (self.negotiation)
            .send(self.client, request, RequestPurpose::StreamedList, deadline)
            .await;
        let answer = answer.map_err(StreamedListError::from_error)?;
        self.sender.heard();
        self.read(answer).await
    }

    async fn read(&mut self, answer: AnswerHead) -> Result<CompleteList, StreamedListError> {
        let (encoding, mut body) = answer.unpacked();
        let silence = self.config.chunk_timeout;
        let mut events = EventReader::new(encoding, self.config.max_line_bytes);
        let mut pods = StreamedPods::default();
        let mut end = Ok(None);
        loop {
            let chunk = |mut chunk: &[u8]| {
                self.sender.heard();
                while let (Ok(None), Some(event)) = (&end, events.next(&mut chunk)) {
                    end = self.event(encoding, event, &mut pods);
                }
                Ok(())
            };
            let next = body.next(silence, "no end of the streamed list", chunk);
            let goes_on = next.await.map_err(|failure| match failure.kind {
                ApiErrorKind::Timeout => StreamedListError::Endless(failure),
                _ => StreamedListError::Failed(failure),
            })?;
            if let Some(version) = std::mem::replace(&mut end, Ok(None))? {
                // A watch does not show whether the API server shards.
                *self.server_shards = false;
                let pods = pods.into_packed();
                return Ok(CompleteList { pods, version });
            }
            if !goes_on {
                let detail = "the streamed list was cut short";
                let failure = ApiError::new(ApiErrorKind::Transport, detail);
                return Err(StreamedListError::Failed(failure));
            }
        }
    }

    /// Takes in one event. The version of the list when this is its end.
    fn event(
        &mut self,
        encoding: ObjectEncoding,
        event: FramedEvent<'_>,
        pods: &mut StreamedPods,
    ) -> Result<Option<String>, StreamedListError> {
        let event = match event {
            FramedEvent::Whole(event) => event,
            FramedEvent::TooLong(head) => {
                let limit = self.config.max_line_bytes;
                let detail = format!("an event of the streamed list is longer than {limit} bytes");
                let may_be_deletion = encoding.may_be_deletion(head);
                return self.skip(ApiErrorKind::EventTooLong, detail, may_be_deletion);
            }
        };
        let decoded = self.decoder.decode_event(encoding, event);
        match decoded.map(|event| event.kind) {
            Ok(WatchEventKind::Added(pod) | WatchEventKind::Modified(pod)) => {
                pods.insert(pod);
            }
            Ok(WatchEventKind::Deleted(pod)) => {
                pods.remove(pod.uid);
            }
            Ok(WatchEventKind::OtherShard { .. }) => {}
            Ok(WatchEventKind::Bookmark { resource_version, initial_events_end: true }) => {
                let version = resource_version.filter(|version| usable(version));
                let unusable = || StreamedListError::Endless(no_version());
                return version.map(Some).ok_or_else(unusable);
            }
            Ok(WatchEventKind::Bookmark { .. }) => {}
            Ok(WatchEventKind::Error(status)) => {
                return Err(StreamedListError::from_error(ApiError::from_event(&status)));
            }
            Err(error) => {
                let may_be_deletion = encoding.may_be_deletion(event);
                return self.skip(ApiErrorKind::Malformed, error.to_string(), may_be_deletion);
            }
        }
        Ok(None)
    }

    /// Skips an event that cannot be used. If it may be a deletion, the whole list fails, because it
    /// could contain a deleted pod.
    fn skip(
        &self,
        kind: ApiErrorKind,
        detail: String,
        may_be_deletion: bool,
    ) -> Result<Option<String>, StreamedListError> {
        if may_be_deletion {
            return Err(StreamedListError::Failed(ApiError::new(kind, detail)));
        }
        self.sender.stats().count_errors(kind.into(), 1);
        Ok(None)
    }
}

fn no_end(waited: Duration) -> StreamedListError {
    StreamedListError::Endless(timed_out("no end of the streamed list", waited))
}
