//! A list that is streamed as the beginning of a watch (KEP-3157, WatchList): the API server sends
//! every pod as an event and then a bookmark that ends the list. The API server then holds no page
//! in memory, which is the purpose of the option.
//!
//! Not every API server supports it. If one rejects it, or sends no end, the list is requested in
//! pages.

use std::collections::HashMap;
use std::time::Duration;

use http_body_util::BodyExt;
use tokio::time::timeout;

use super::event_reader::EventReader;
use super::framing::Framed;
use super::list_page::usable;
use super::negotiation::{Answer, Purpose};
use super::paged_list::{CompleteList, Lister};
use super::requests::Freshness;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::timed_out;
use crate::decode::{Encoding, WatchEventKind};
use crate::pod::{PodSnapshot, PodUid};

/// After this many consecutive lists without an end, no more are requested as streams.
const GIVE_UP_AFTER: u32 = 2;

/// After this many consecutive streams that were cut short, the list counts as one without an end:
/// a proxy may let no stream last that long.
const CUTS: u32 = 3;

/// Why a streamed list did not complete.
#[derive(Debug)]
pub(super) enum Unstreamed {
    /// The API server does not offer it
    Refused(ApiError),
    /// It began, and then there was neither an end nor anything else
    Endless(ApiError),
    /// It began, and broke off before its end
    Cut(ApiError),
    /// It failed as any list can
    Failed(ApiError),
}

/// Whether lists are requested as streams.
#[derive(Debug)]
pub(super) struct Streaming {
    wanted: bool,
    endless: u32,
    cuts: u32,
}

impl Streaming {
    /// Streams where they are `wanted`, until the API server turns out not to offer them.
    pub(super) const fn new(wanted: bool) -> Self {
        Self {
            wanted,
            endless: 0,
            cuts: 0,
        }
    }

    /// Whether to ask for a stream.
    pub(super) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// A streamed list has completed.
    pub(super) const fn completed(&mut self) {
        (self.endless, self.cuts) = (0, 0);
    }

    /// A streamed list broke off. True when that has been so too often.
    pub(super) const fn was_cut(&mut self) -> bool {
        self.cuts += 1;
        let often = self.cuts >= CUTS;
        if often {
            self.cuts = 0;
        }
        often
    }

    /// The API server does not offer streams, or this one had no end: the list is to be taken in
    /// pages. True when no more streams will be requested.
    pub(super) const fn fell_back(&mut self, refused: bool) -> bool {
        self.endless += 1;
        if refused || self.endless >= GIVE_UP_AFTER {
            self.wanted = false;
        }
        !self.wanted
    }
}

impl Lister<'_> {
    /// Reads the list as a stream. As with pages, it returns nothing unless the list completes.
    pub(super) async fn stream(
        &mut self,
        freshness: &Freshness,
    ) -> Result<CompleteList, Unstreamed> {
        let longest = self.config.page_timeout;
        match timeout(longest, self.streamed(freshness, longest)).await {
            Ok(result) => result,
            Err(_) => Err(no_end(longest)),
        }
    }

    async fn streamed(
        &mut self,
        freshness: &Freshness,
        longest: Duration,
    ) -> Result<CompleteList, Unstreamed> {
        let seconds = u32::try_from(longest.as_secs()).unwrap_or(u32::MAX).max(1);
        let request = self.requests.streamed_list(freshness, seconds);
        let request = request.map_err(Unstreamed::Failed)?;
        let deadline = self.config.header_timeout;
        let answer = (self.negotiation)
            .send(self.client, request, Purpose::Watch, deadline)
            .await;
        let answer = answer.map_err(|failure| {
            if failure.kind == ApiErrorKind::Rejected {
                Unstreamed::Refused(failure)
            } else {
                Unstreamed::Failed(failure)
            }
        })?;
        self.sender.heard();
        self.read(answer).await
    }

    async fn read(&mut self, answer: Answer) -> Result<CompleteList, Unstreamed> {
        let Answer { encoding, mut body } = answer;
        let silence = self.config.chunk_timeout;
        let mut events = EventReader::new(encoding, self.config.max_line_bytes);
        let mut pods = HashMap::new();
        loop {
            let frame = timeout(silence, body.frame()).await;
            let frame = match frame.map_err(|_| no_end(silence))? {
                Some(frame) => frame,
                None => {
                    let detail = "the streamed list was cut short";
                    let failure = ApiError::new(ApiErrorKind::Transport, detail);
                    return Err(Unstreamed::Cut(failure));
                }
            };
            let frame = frame.map_err(|error| Unstreamed::Cut(ApiError::from_client(&error)))?;
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            self.sender.heard();
            let mut rest: &[u8] = &chunk;
            while let Some(event) = events.next(&mut rest) {
                let ended = self.event(encoding, event, &mut pods)?;
                if let Some(version) = ended {
                    // A watch does not show whether the API server shards.
                    *self.server_shards = false;
                    let pods = pods.into_values().collect();
                    return Ok(CompleteList { pods, version });
                }
            }
        }
    }

    /// Takes in one event. The version of the list when this is its end.
    fn event(
        &mut self,
        encoding: Encoding,
        event: Framed<'_>,
        pods: &mut HashMap<PodUid, PodSnapshot>,
    ) -> Result<Option<String>, Unstreamed> {
        let event = match event {
            Framed::Whole(event) => event,
            Framed::TooLong(head) => {
                let limit = self.config.max_line_bytes;
                let detail = format!("an event of the streamed list is longer than {limit} bytes");
                let may_be_deletion = encoding.may_be_deletion(head);
                return self.skip(ApiErrorKind::EventTooLong, detail, may_be_deletion);
            }
        };
        let decoded = self.decoder.decode_event(encoding, event);
        match decoded.map(|event| event.kind) {
            Ok(WatchEventKind::Added(pod) | WatchEventKind::Modified(pod)) => {
                pods.insert(pod.uid, pod);
            }
            Ok(WatchEventKind::Deleted(pod)) => {
                pods.remove(&pod.uid);
            }
            Ok(WatchEventKind::OtherShard { .. }) => {}
            Ok(WatchEventKind::Bookmark {
                resource_version,
                initial_events_end: true,
            }) => {
                let version = resource_version.filter(|version| usable(version));
                let unusable = || {
                    let detail = "the streamed list has no resourceVersion to watch from";
                    Unstreamed::Failed(ApiError::malformed(detail))
                };
                return version.map(Some).ok_or_else(unusable);
            }
            Ok(WatchEventKind::Bookmark { .. }) => {}
            Ok(WatchEventKind::Error(status)) => {
                return Err(Unstreamed::Failed(ApiError::from_event(&status)));
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
    ) -> Result<Option<String>, Unstreamed> {
        if may_be_deletion {
            return Err(Unstreamed::Cut(ApiError::new(kind, detail)));
        }
        self.sender.stats().count_errors(kind.into(), 1);
        Ok(None)
    }
}

fn no_end(waited: Duration) -> Unstreamed {
    Unstreamed::Endless(timed_out("no end of the streamed list", waited))
}
