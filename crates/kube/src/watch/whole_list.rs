//! A list in one answer, which the API server takes from its cache and sends item by item (since Kubernetes
//! 1.33), so that neither side holds it. It costs the API server less than pages, each of which it looks up
//! anew, and is of one state: there is no continue token that could expire.
//!
//! An API server or a proxy may let no answer last so long: a kube-apiserver ends it after a minute
//! (`--request-timeout`). Then the list is requested in pages.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::negotiation::{AnswerHead, RequestPurpose};
use super::paged_list::{CompleteList, ListRequester};
use super::pages::watch_version;
use super::requests::ListFreshness;
use super::stats::WatchErrorReason;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::{read_chunks, timed_out, too_long};
use podinit_core::pod::packed::PackedPods;

/// An answer that is cut after so long met a limit of time, and the next one would meet it too. The
/// default limit of a kube-apiserver is 60 s, of which a busy one may have used some before it answered.
const LIMITED: Duration = Duration::from_secs(55);

/// Why a list in one answer did not complete.
#[derive(Debug)]
pub(super) enum WholeListError {
    /// It began and did not end, or did not begin in time
    Cut(ApiError),
    /// It is longer than can be held, not whole, or takes longer than an answer may
    Unsuitable(ApiError),
    /// It failed as any list can
    Failed(ApiError),
}

impl From<WholeListError> for ApiError {
    fn from(error: WholeListError) -> Self {
        match error {
            WholeListError::Cut(failure)
            | WholeListError::Unsuitable(failure)
            | WholeListError::Failed(failure) => failure,
        }
    }
}

impl ListRequester<'_> {
    /// Lists all pods with one request. As with pages, it returns nothing unless the list completes.
    pub(super) async fn whole(
        &mut self,
        freshness: &ListFreshness,
    ) -> Result<CompleteList, WholeListError> {
        let longest = self.config.list_timeout;
        let began = Instant::now();
        match timeout(longest, self.answered_whole(freshness)).await {
            Ok(Err(WholeListError::Cut(failure))) if began.elapsed() >= LIMITED => {
                Err(WholeListError::Unsuitable(failure))
            }
            Ok(result) => result,
            Err(_) => Err(WholeListError::Unsuitable(no_end(longest))),
        }
    }

    async fn answered_whole(
        &mut self,
        freshness: &ListFreshness,
    ) -> Result<CompleteList, WholeListError> {
        let request = self.requests.whole_list(freshness);
        let request = request.map_err(WholeListError::Failed)?;
        let deadline = self.config.header_timeout;
        let answer =
            (self.negotiation).send(self.client, request, RequestPurpose::List, deadline).await;
        let answer = answer.map_err(|failure| match failure.kind {
            ApiErrorKind::Timeout => WholeListError::Cut(failure),
            _ => WholeListError::Failed(failure),
        })?;
        self.sender.heard();
        let (list, token) =
            self.read_whole(answer).await.map_err(|failure| match failure.kind {
                ApiErrorKind::AnswerTooLong => WholeListError::Unsuitable(failure),
                ApiErrorKind::NoVersion => WholeListError::Failed(failure),
                _ => WholeListError::Cut(failure),
            })?;
        match token {
            Some(token) if !token.is_empty() => {
                let detail = "a list without a limit has a continue token";
                Err(WholeListError::Unsuitable(ApiError::malformed(detail)))
            }
            _ => Ok(list),
        }
    }

    /// The list, and the continue token that it should not have.
    async fn read_whole(
        &mut self,
        answer: AnswerHead,
    ) -> Result<(CompleteList, Option<String>), ApiError> {
        let (encoding, body) = answer.unpacked();
        let most = self.config.max_page_bytes;
        let mut buffer = Vec::new();
        let mut reader = self.decoder.page(encoding, &mut buffer);
        let sender = &mut *self.sender;
        let mut pods = PackedPods::default();
        let take = |chunk: &[u8]| {
            sender.heard();
            reader.push(chunk)?;
            pods.extend(reader.take_pods());
            match reader.held() > most {
                true => Err(too_long(most)),
                false => Ok(()),
            }
        };
        read_chunks(body, self.config.chunk_timeout, take).await?;
        let list = reader.finish()?;
        let version = watch_version(list.resource_version)?;
        let stats = self.sender.stats();
        stats.count_errors(WatchErrorReason::Decode, list.undecodable);
        *self.server_shards = list.sharded;
        pods.extend(list.pods);
        Ok((CompleteList { pods, version }, list.continue_token))
    }
}

fn no_end(waited: Duration) -> ApiError {
    timed_out("no end of the list", waited)
}
