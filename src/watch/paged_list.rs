//! A list, page by page, until it is complete.

use kube::Client;
use tokio::time::timeout;

use super::config::ReflectorConfig;
use super::delivery_sender::DeliverySender;
use super::list_page::{no_complete_page, watch_version};
use super::negotiation::{Negotiation, Purpose};
use super::requests::{Freshness, Page, Requests};
use super::stats::WatchErrorReason;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::{read_chunks, too_long};
use crate::decode::{ListPage, PodDecoder};
use crate::pod::packed::PackedPods;

/// A list of which every page has arrived.
pub(super) struct CompleteList {
    /// The pods of all pages
    pub(super) pods: PackedPods,
    /// The version that they are all of
    pub(super) version: String,
}

/// Makes the requests of one list.
pub(super) struct Lister<'a> {
    pub(super) client: &'a Client,
    pub(super) requests: &'a Requests,
    pub(super) negotiation: &'a Negotiation,
    pub(super) config: &'a ReflectorConfig,
    pub(super) decoder: &'a mut PodDecoder,
    pub(super) sender: &'a mut DeliverySender,
    /// Whether the last list was answered by API servers that shard
    pub(super) server_shards: &'a mut bool,
}

impl Lister<'_> {
    /// Lists all pods. Holds one page at a time, beside the pods found so far.
    ///
    /// Any failure ends it, and no pods are returned: nothing may be concluded from a list that did
    /// not complete ([§5.4](crate::specification#s5-4)). Only a page that is
    /// too long is requested again, with fewer pods.
    pub(super) async fn list(&mut self, freshness: &Freshness) -> Result<CompleteList, ApiError> {
        let mut pods = PackedPods::default();
        let mut token: Option<String> = None;
        let mut limit = self.config.page_limit.max(1);
        let mut buffer = Vec::new();
        let mut sharded = true;
        loop {
            let page = token.as_deref().map_or(Page::First(freshness), Page::Next);
            let page = match self.fetch(&page, limit, &mut buffer).await {
                Ok(page) => page,
                Err(failure) if failure.kind == ApiErrorKind::AnswerTooLong && limit > 1 => {
                    self.sender.stats().count_errors(failure.kind.into(), 1);
                    limit = (limit / 4).max(1);
                    continue;
                }
                Err(failure) => return Err(failure),
            };
            self.sender
                .stats()
                .count_errors(WatchErrorReason::Decode, page.undecodable);
            pods.extend(page.pods);
            sharded &= page.sharded;
            token = page.continue_token.filter(|token| !token.is_empty());
            if token.is_some() {
                continue;
            }
            let version = watch_version(page.resource_version)?;
            *self.server_shards = sharded;
            return Ok(CompleteList { pods, version });
        }
    }

    /// The version that the API server is at.
    pub(super) async fn current_version(&mut self) -> Result<Option<String>, ApiError> {
        let mut buffer = Vec::new();
        let page = Page::First(&Freshness::MostRecent);
        let page = self.fetch(&page, 1, &mut buffer).await?;
        *self.server_shards = page.sharded;
        Ok(page.resource_version)
    }

    async fn fetch(
        &mut self,
        page: &Page<'_>,
        limit: u32,
        buffer: &mut Vec<u8>,
    ) -> Result<ListPage, ApiError> {
        let request = self.requests.list(page, limit)?;
        let config = self.config;
        let most = config.max_page_bytes;
        let whole = async {
            let sending =
                (self.negotiation).send(self.client, request, Purpose::List, config.header_timeout);
            let (encoding, body) = sending.await?.unpacked();
            let mut reader = self.decoder.page(encoding, buffer);
            let mut read = 0;
            let take = |chunk: &[u8]| {
                read += chunk.len();
                if read > most {
                    return Err(too_long(most));
                }
                Ok(reader.push(chunk)?)
            };
            read_chunks(body, config.chunk_timeout, take).await?;
            Ok::<_, ApiError>(reader)
        };
        let reader = timeout(config.page_timeout, whole).await;
        let reader = reader.map_err(|_| no_complete_page(config))??;
        self.sender.heard();
        Ok(reader.finish()?)
    }
}
