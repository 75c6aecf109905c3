//! The list-watch loop: lists, follows the watch from the list's version, resumes it whenever it
//! ends, and lists again when events were lost.
//!
//! ```text
//!        ┌────────────── Lost: SyncLost ───────────────┐
//!        ▼                                             │
//!     listing ── complete: Listed ──▶ opening ──200──▶ reading
//!       │  ▲                          │  ▲  ▲           │  │
//!       └──┘                          └──┘  └─ ended ───┘  │
//!     failed: wait                 failed: wait   failed ──┘ wait; SyncLost if that lasts
//! ```
//!
//! It can also begin by opening a watch at the version that an earlier process had reached.
//!
//! It behaves like client-go's reflector, except that it lists from the cache at version 0 only while no pod is
//! known, every wait is bounded, the receiver learns when the watch is out of sync, and only a watch
//! that delivers something resets the backoff.

mod listing;

use std::convert::Infallible;
use std::time::Duration;

use kube::Client;
use tokio::time::sleep;

use super::config::{ListMode, ReflectorConfig};
use super::delivery_sender::{DeliverySender, ReceiverGone};
use super::follow::{StreamReport, WatchLoop, WatchSink};
use super::negotiation::AnswerHead;
use super::paged_list::{ListRequester, PageFallback};
use super::reconciliation::ListReconciliation;
use super::requests::{PodScope, PodSelectors, RequestBuilder};
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use super::stats::RelistReason;
use super::stream::OpenWatch;
use super::watch_log::WatchLog;
use crate::cluster::api_error::ApiError;
use podinit_decode::PodDecoder;

/// One list-watch.
pub(super) struct Reflector {
    watch: WatchLoop,
    pods: PodSink,
    fallback: PageFallback,
    /// More may be known of the pods than a cache has, before a list of this process has delivered any
    most_recent_first: bool,
    /// The version that the API server stated when it was looked for
    stated: Option<ResumePoint>,
    /// How long the last list has taken
    listed_in: Duration,
}

/// Where the pods go.
struct PodSink {
    decoder: PodDecoder,
    sender: DeliverySender,
    log: WatchLog,
    reconciliation: Option<ListReconciliation>,
    signs: WatchSigns,
}

impl Reflector {
    pub(super) fn new(
        client: Client,
        scope: &PodScope,
        selectors: &PodSelectors,
        config: ReflectorConfig,
        decoder: PodDecoder,
        sender: DeliverySender,
    ) -> Self {
        Self {
            fallback: PageFallback::new(config.lists != ListMode::Pages),
            most_recent_first: false,
            stated: None,
            listed_in: Duration::ZERO,
            watch: WatchLoop::new(client, RequestBuilder::new(scope, selectors), config),
            pods: PodSink {
                decoder,
                sender,
                log: WatchLog::default(),
                reconciliation: None,
                signs: WatchSigns::default(),
            },
        }
    }

    /// The same after a list that an API server has answered that shards, or does not.
    pub(super) const fn after_list(mut self, server_shards: bool) -> Self {
        self.watch.server_shards = server_shards;
        self
    }

    /// The same, with a first list of the most recent state, or of any.
    pub(super) const fn most_recent_first(mut self, most_recent_first: bool) -> Self {
        self.most_recent_first = most_recent_first;
        self
    }

    /// The same with these reconciliations.
    pub(super) fn reconciling(mut self, reconciliation: Option<ListReconciliation>) -> Self {
        self.pods.reconciliation = reconciliation;
        self
    }

    /// The same after the API server has stated this version.
    pub(super) fn after_version(mut self, stated: Option<ResumePoint>) -> Self {
        self.stated = stated;
        self
    }

    /// Lists and watches until the receiver is gone. Begins at `resume` if there is one.
    pub(super) async fn run(
        &mut self,
        resume: Option<ResumePoint>,
    ) -> Result<Infallible, ReceiverGone> {
        let resumed = resume.is_some();
        let (mut resume_point, mut lost) = match resume {
            Some(resume_point) if self.stated_behind(&resume_point) => {
                self.pods.signs.see(RelistReason::Restored);
                (resume_point, Some(RelistReason::Restored))
            }
            Some(resume_point) => (resume_point, None),
            None => (self.list(None).await?, None),
        };
        // After a restart, the API server may have been restored from a backup meanwhile.
        let mut suspicious = resumed;
        loop {
            if let Some(reason) = lost {
                resume_point = self.repair(&resume_point, reason).await?;
                suspicious = false;
            }
            let following = self.watch.follow(&mut self.pods, &mut resume_point, suspicious);
            lost = Some(following.await?);
        }
    }

    /// Lists after the watch was lost at `known`.
    async fn repair(
        &mut self,
        known: &ResumePoint,
        reason: RelistReason,
    ) -> Result<ResumePoint, ReceiverGone> {
        let signed = self.pods.signs.due() == Some(reason);
        let cache_lags = reason == RelistReason::Restored && !self.pods.signs.suspects_restore();
        // A cache that lags has lost nothing, but during a long list events wait.
        if !cache_lags || self.listed_in > self.watch.config.reopen_grace {
            self.pods.sender.lose_sync().await?;
        }
        self.pods.sender.stats().count_relist(reason);
        self.pods.log.lost(reason);
        if !signed {
            sleep(self.watch.backoff.after_interruption()).await;
        }
        if self.pods.signs.suspects_restore() {
            // The versions may have caught up by the time of the list.
            self.pods.sender.rolled_back().await?;
        }
        self.list(Some(known)).await
    }

    /// Whether the API server was asked for its version before, and was behind `resume`.
    fn stated_behind(&self, resume: &ResumePoint) -> bool {
        let stated = self.stated.as_ref();
        stated.is_some_and(|stated| stated.is_behind(resume))
    }
}

impl PodSink {
    fn lister<'a>(&'a mut self, watch: &'a mut WatchLoop) -> ListRequester<'a> {
        ListRequester {
            client: &watch.client,
            requests: &watch.requests,
            negotiation: &watch.negotiation,
            config: &watch.config,
            decoder: &mut self.decoder,
            sender: &mut self.sender,
            server_shards: &mut watch.server_shards,
        }
    }
}

impl WatchSink for PodSink {
    type Over = ReceiverGone;

    async fn read(
        &mut self,
        watch: &WatchLoop,
        answer: AnswerHead,
        at: &mut ResumePoint,
    ) -> Result<StreamReport, ReceiverGone> {
        let Self { decoder, sender, log, reconciliation, signs } = self;
        let stream = OpenWatch::opened(watch, decoder, sender, log, at, signs);
        stream.reconciling(reconciliation.as_mut()).read(answer).await
    }

    async fn current_version(&mut self, watch: &mut WatchLoop) -> Result<Option<String>, ApiError> {
        self.lister(watch).current_version().await
    }

    fn signs(&mut self) -> &mut WatchSigns {
        &mut self.signs
    }

    async fn sign(&mut self, reason: RelistReason) -> Result<bool, ReceiverGone> {
        let at_once = self.signs.see(reason);
        if self.signs.doubts_history() {
            self.sender.lose_sync().await?;
        }
        Ok(at_once)
    }

    fn failed(&mut self, failure: &ApiError, _opened: bool) {
        self.sender.stats().count_errors(failure.kind.into(), 1);
        self.sender.set_trouble(failure);
        self.log.failed(failure);
    }

    async fn lose_sync(&mut self) -> Result<(), ReceiverGone> {
        self.sender.lose_sync().await
    }

    async fn while_closed<W: Future>(
        &mut self,
        grace: Duration,
        work: W,
    ) -> Result<W::Output, ReceiverGone> {
        self.sender.while_closed(grace, work).await
    }
}
