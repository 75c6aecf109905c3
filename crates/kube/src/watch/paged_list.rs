//! A list, page by page, until it is complete, and when lists are requested like that although they were to be
//! requested otherwise.

use http::Request;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

use super::config::ReflectorConfig;
use super::delivery_sender::DeliverySender;
use super::negotiation::{EncodingNegotiation, RequestPurpose};
use super::pages::{ListPages, PageEnd, no_complete_page, watch_version};
use super::requests::{ListFreshness, RequestBuilder};
use super::stats::WatchErrorReason;
use crate::cluster::api_error::ApiError;
use crate::cluster::transport::{read_chunks, too_long};
use podinit_core::pod::packed::PackedPods;
use podinit_decode::{ListPage, PodDecoder};

/// After this many consecutive lists that had to be requested in pages, all are.
const GIVE_UP_AFTER: u32 = 2;

/// After this many consecutive answers that were cut short, the list is requested in pages: a proxy may let
/// no answer last that long.
const CUTS: u32 = 3;

/// A list of which every page has arrived.
pub(super) struct CompleteList {
    /// The pods of all pages
    pub(super) pods: PackedPods,
    /// The version that they are all of
    pub(super) version: String,
}

/// Makes the requests of one list.
pub(super) struct ListRequester<'a> {
    pub(super) client: &'a Client,
    pub(super) requests: &'a RequestBuilder,
    pub(super) negotiation: &'a EncodingNegotiation,
    pub(super) config: &'a ReflectorConfig,
    pub(super) decoder: &'a mut PodDecoder,
    pub(super) sender: &'a mut DeliverySender,
    /// Whether the last list was answered by API servers that shard
    pub(super) server_shards: &'a mut bool,
}

impl ListRequester<'_> {
    /// Lists all pods. Holds one page at a time, beside the pods found so far.
    ///
    /// Any failure ends it, and no pods are returned: nothing may be concluded from a list that did
    /// not complete ([§5.4](crate::specification#s5-4)).
    pub(super) async fn list(
        &mut self,
        freshness: &ListFreshness,
    ) -> Result<CompleteList, ApiError> {
        let mut pods = PackedPods::default();
        let (mut buffer, mut version, mut sharded) = (Vec::new(), None, true);
        let mut pages = ListPages::new(self.requests, freshness, self.config.page_limit);
        while let Some(request) = pages.request()? {
            let fetched = self.fetch(request, &mut buffer).await;
            let Some(page) = pages.fetched(fetched)? else {
                let reason = WatchErrorReason::PageTooLarge;
                self.sender.stats().count_errors(reason, 1);
                continue;
            };
            self.sender.stats().count_errors(WatchErrorReason::Decode, page.undecodable);
            let objects = page.objects();
            pods.extend(page.pods);
            sharded &= page.sharded;
            version = page.resource_version;
            let next = page.continue_token;
            pages.go_on(PageEnd { next, objects })?;
        }
        let version = watch_version(version)?;
        *self.server_shards = sharded;
        Ok(CompleteList { pods, version })
    }

    /// The version that the API server is at.
    pub(super) async fn current_version(&mut self) -> Result<Option<String>, ApiError> {
        let request = self.requests.current_version()?;
        let page = self.fetch(request, &mut Vec::new()).await?;
        *self.server_shards = page.sharded;
        Ok(page.resource_version)
    }

    async fn fetch(
        &mut self,
        request: Request<Body>,
        buffer: &mut Vec<u8>,
    ) -> Result<ListPage, ApiError> {
        let config = self.config;
        let most = config.max_page_bytes;
        let whole = async {
            let sending = (self.negotiation).send(
                self.client,
                request,
                RequestPurpose::List,
                config.header_timeout,
            );
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
        self.sender.answered();
        Ok(reader.finish()?)
    }
}

/// Whether lists are requested otherwise than in pages.
#[derive(Debug)]
pub(super) struct PageFallback {
    wanted: bool,
    failed: u32,
    cuts: u32,
}

impl PageFallback {
    /// Requests lists otherwise where that is `wanted`, until it turns out not to work.
    pub(super) const fn new(wanted: bool) -> Self {
        Self { wanted, failed: 0, cuts: 0 }
    }

    /// Whether to request a list otherwise.
    pub(super) const fn wanted(&self) -> bool {
        self.wanted
    }

    /// A list that was requested otherwise has completed.
    pub(super) const fn completed(&mut self) {
        (self.failed, self.cuts) = (0, 0);
    }

    /// Such a list broke off. True when that has been so too often.
    pub(super) const fn was_cut(&mut self) -> bool {
        self.cuts += 1;
        let often = self.cuts >= CUTS;
        if often {
            self.cuts = 0;
        }
        often
    }

    /// The list is to be taken in pages, because it cannot be had otherwise, or, where the API server has
    /// `refused`, none can. True when all lists will be requested in pages.
    pub(super) const fn fell_back(&mut self, refused: bool) -> bool {
        self.failed += 1;
        if refused || self.failed >= GIVE_UP_AFTER {
            self.wanted = false;
        }
        !self.wanted
    }
}
