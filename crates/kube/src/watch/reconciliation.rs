//! Reconciliation ([§5.4](crate::specification#s5-4)): a list now and then while the watch is in sync, which finds
//! what the watch has lost without a sign. It is made beside the watch, which goes on meanwhile.

use std::time::Duration;

use kube::Client;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

use super::config::{ListMode, ReflectorConfig};
use super::delivery_sender::DeliverySender;
use super::negotiation::EncodingNegotiation;
use super::paged_list::{CompleteList, ListRequester};
use super::requests::{ListFreshness, PodScope, PodSelectors, RequestBuilder};
use super::stats::RelistReason;
use crate::cluster::api_error::ApiError;
use podinit_core::lifecycle::PodEvent;
use podinit_core::timestamp::Timestamp;
use podinit_decode::PodDecoder;

/// From one list to the next after an outage.
const AFTER_OUTAGE: Duration = Duration::from_secs(600);

/// The reconciliations of one list-watch, at most one at a time.
pub(super) struct ListReconciliation {
    interval: Duration,
    due: Instant,
    /// When the pods were last listed; `None` until the watch was in sync
    listed: Option<Instant>,
    /// `None` while it lists
    lists: Option<ReconciliationLists>,
    running: JoinSet<(ReconciliationLists, Option<ReconciledList>)>,
    /// Whether the list that is being made is still wanted
    wanted: bool,
    /// A list that the watch has not come up to
    complete: Option<ReconciledList>,
}

/// A list that is no older than the watch was when it was requested.
struct ReconciledList {
    list: CompleteList,
    version: u64,
    began: Timestamp,
}

/// Makes the lists.
pub(super) struct ReconciliationLists {
    client: Client,
    requests: RequestBuilder,
    negotiation: EncodingNegotiation,
    config: ReflectorConfig,
    decoder: PodDecoder,
    sender: DeliverySender,
}

impl ListReconciliation {
    /// The first list is made an `interval` from now.
    pub(super) fn new(interval: Duration, lists: ReconciliationLists) -> Self {
        Self {
            interval,
            due: Instant::now() + interval,
            listed: None,
            lists: Some(lists),
            running: JoinSet::new(),
            wanted: false,
            complete: None,
        }
    }

    /// The pods were listed for another reason: the next list is due an interval from now.
    pub(super) fn listed(&mut self) {
        let now = Instant::now();
        self.due = now + self.interval;
        self.listed = Some(now);
        self.wanted = false;
        self.complete = None;
    }

    /// The watch was out of sync and has resumed: an API server that was restored from a backup meanwhile may have come
    /// to the versions that are known. A list shows that, at most one in ten minutes.
    pub(super) fn resumed(&mut self) {
        if let Some(listed) = self.listed {
            self.due = self.due.min(listed + AFTER_OUTAGE);
        }
    }

    /// Begins a list when one is due, and returns one that is complete, once the watch has come as far. The watch is
    /// at version `at`.
    pub(super) fn poll(&mut self, now: Instant, at: Option<u64>, synced: bool) -> Option<PodEvent> {
        if synced {
            self.listed.get_or_insert(now);
        }
        let at = at?;
        if now >= self.due
            && synced
            && let Some(mut lists) = self.lists.take()
        {
            self.due = now + self.interval;
            self.listed = Some(now);
            self.wanted = true;
            let list = async move {
                let list = lists.list(at).await;
                (lists, list)
            };
            self.running.spawn(list.in_current_span());
        }
        if let Some(Ok((lists, list))) = self.running.try_join_next() {
            self.lists = Some(lists);
            self.complete = list.filter(|_| self.wanted);
        }
        let complete = self.complete.take_if(|list| list.version <= at)?;
        // Without sync, a list for another reason may come before this one is due again.
        synced.then_some(PodEvent::Reconciled {
            pods: complete.list.pods,
            began: complete.began,
            version: complete.version,
        })
    }
}

impl ReconciliationLists {
    pub(super) fn new(
        client: Client,
        (scope, selectors): (&PodScope, &PodSelectors),
        config: ReflectorConfig,
        decoder: PodDecoder,
        sender: DeliverySender,
    ) -> Self {
        Self {
            client,
            requests: RequestBuilder::new(scope, selectors),
            negotiation: EncodingNegotiation::new(config.encoding),
            config,
            decoder,
            sender,
        }
    }

    /// Lists once; `None` if that fails, or the list is older than version `at`, as of a cache that lags. The next
    /// one makes up for it.
    async fn list(&mut self, at: u64) -> Option<ReconciledList> {
        let began = self.sender.now();
        let stats = self.sender.stats();
        stats.count_relist(RelistReason::Reconciliation);
        let listed = self.list_once().await;
        let list = match listed {
            Ok(list) => list,
            Err(failure) => {
                let stats = self.sender.stats();
                stats.count_errors(failure.kind.into(), 1);
                let detail = &failure.detail;
                tracing::debug!(detail, "the list for a reconciliation failed");
                return None;
            }
        };
        let version = list.version.parse().ok()?;
        (version >= at).then_some(ReconciledList { list, version, began })
    }

    async fn list_once(&mut self) -> Result<CompleteList, ApiError> {
        let mut lister = ListRequester {
            client: &self.client,
            requests: &self.requests,
            negotiation: &self.negotiation,
            config: &self.config,
            decoder: &mut self.decoder,
            sender: &mut self.sender,
            server_shards: &mut false,
        };
        match self.config.lists {
            // Pages are never of the cache at version 0: it would ignore their limit.
            ListMode::Pages => lister.list(&ListFreshness::MostRecent).await,
            ListMode::Whole | ListMode::Stream => {
                let listed = lister.whole(&ListFreshness::Any).await;
                listed.map_err(ApiError::from)
            }
        }
    }
}
