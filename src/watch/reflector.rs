//! The list-watch loop: lists, follows the watch from the list's version, resumes it whenever it
//! ends, and lists again when events were lost.
//!
//! ```text
//!        ┌────────────── Lost: SyncLost ───────────────┐
//!        ▼                                             │
//!     listing ── complete: Listed ──▶ opening ──200──▶ reading
//!       │  ▲                          │  ▲  ▲           │  │
//!       └──┘                          └──┘  └─ ended ───┘  │
//!     failed: wait                 failed: wait   failed ──┘ SyncLost, wait
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

use super::backoff::Backoff;
use super::config::{ListMode, ReflectorConfig};
use super::delivery_sender::{Closed, DeliverySender};
use super::negotiation::{Negotiation, Purpose};
use super::page_fallback::PageFallback;
use super::requests::{Requests, Scope, Selectors};
use super::resume_point::ResumePoint;
use super::stats::RelistReason;
use super::stream::{Stream, StreamEnd, StreamReport};
use super::verdict::{SILENT_WATCHES, STUCK_AFTER, is_verdict};
use super::watch_log::WatchLog;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::decode::PodDecoder;

/// One list-watch.
pub(super) struct Reflector {
    client: Client,
    requests: Requests,
    negotiation: Negotiation,
    config: ReflectorConfig,
    decoder: PodDecoder,
    sender: DeliverySender,
    log: WatchLog,
    backoff: Backoff,
    random: fastrand::Rng,
    fallback: PageFallback,
    /// More may be known of the pods than a cache has, before a list of this process has delivered any
    most_recent_first: bool,
    /// Whether the last list was answered by API servers that shard (KEP-5866)
    server_shards: bool,
}

impl Reflector {
    pub(super) fn new(
        client: Client,
        scope: &Scope,
        selectors: &Selectors,
        config: ReflectorConfig,
        decoder: PodDecoder,
        sender: DeliverySender,
    ) -> Self {
        let mut random = config.random();
        let jitter = random.fork();
        Self {
            client,
            requests: Requests::new(scope, selectors),
            negotiation: Negotiation::new(config.encoding),
            backoff: Backoff::new(config.backoff_base, config.backoff_cap, jitter),
            fallback: PageFallback::new(config.lists != ListMode::Pages),
            most_recent_first: false,
            config,
            decoder,
            sender,
            log: WatchLog::default(),
            random,
            server_shards: false,
        }
    }

    /// The same after a list that an API server has answered that shards, or does not.
    pub(super) const fn after_list(mut self, server_shards: bool) -> Self {
        self.server_shards = server_shards;
        self
    }

    /// The same, with a first list of the most recent state, or of any.
    pub(super) const fn most_recent_first(mut self, most_recent_first: bool) -> Self {
        self.most_recent_first = most_recent_first;
        self
    }

    /// Lists and watches until the receiver is gone. Begins at `resume` if there is one.
    pub(super) async fn run(&mut self, resume: Option<ResumePoint>) -> Result<Infallible, Closed> {
        let resumed = resume.is_some();
        let mut resume_point = match resume {
            Some(resume_point) => resume_point,
            None => self.list(None).await?,
        };
        // After a restart, the API server may have been restored from a backup meanwhile.
        let mut suspicious = resumed;
        loop {
            let reason = self.follow(&mut resume_point, suspicious).await?;
            suspicious = false;
            self.sender.lose_sync().await?;
            self.sender.stats().count_relist(reason);
            self.log.lost(reason);
            sleep(self.backoff.after_interruption()).await;
            resume_point = self.list(Some(&resume_point)).await?;
        }
    }

    /// Follows the watch, through any number of streams, until events are lost for good. When
    /// `suspicious`, one silent watch is enough to check the API server's version.
    async fn follow(
        &mut self,
        resume_point: &mut ResumePoint,
        mut suspicious: bool,
    ) -> Result<RelistReason, Closed> {
        let mut failed_here = 0;
        let mut silent = 0;
        loop {
            let report = self.watch(resume_point).await?;
            if report.proven {
                failed_here = 0;
                self.backoff.reset();
            }
            if report.has_data {
                silent = 0;
                suspicious = false;
            } else if report.open_for >= self.config.short_watch {
                silent += 1;
            }
            let behind = report.behind;
            match report.end {
                StreamEnd::Lost(reason) => return Ok(reason),
                StreamEnd::Finished => {
                    if !report.proven && report.open_for < self.config.short_watch {
                        let wait = self.backoff.after_failure();
                        self.pause(wait).await?;
                    }
                }
                StreamEnd::Failed(failure) => {
                    self.count(&failure);
                    // The API server that answers next may have been restored from a backup.
                    suspicious = true;
                    failed_here += u32::from(is_verdict(failure.kind, report.opened));
                    match failure.kind {
                        ApiErrorKind::Gone => return Ok(RelistReason::Gone),
                        ApiErrorKind::VersionAhead => return Ok(RelistReason::VersionAhead),
                        ApiErrorKind::Rejected => return Ok(RelistReason::Stuck),
                        _ if failed_here >= STUCK_AFTER => return Ok(RelistReason::Stuck),
                        _ => {}
                    }
                    self.sender.lose_sync().await?;
                    sleep(self.wait_after(&failure)).await;
                }
            }
            if behind || silent >= if suspicious { 1 } else { SILENT_WATCHES } {
                silent = 0;
                suspicious = false;
                if self.is_ahead_of_server(resume_point).await? {
                    return Ok(RelistReason::VersionAhead);
                }
            }
        }
    }

    /// Opens one watch and reads it to its end.
    async fn watch(&mut self, resume_point: &mut ResumePoint) -> Result<StreamReport, Closed> {
        let range = &self.config.watch_seconds;
        let (least, most) = (*range.start(), *range.end());
        let seconds = self.random.u32(least..=most.max(least));
        let opening = async {
            let version = resume_point.as_str();
            let request = (self.requests).watch(version, seconds, self.server_shards)?;
            let deadline = self.config.header_timeout;
            (self.negotiation)
                .send(&self.client, request, Purpose::Watch, deadline)
                .await
        };
        let grace = self.config.reopen_grace;
        match self.sender.while_closed(grace, opening).await? {
            Ok(answer) => {
                let stream = Stream::opened(
                    &self.config,
                    &mut self.decoder,
                    &mut self.sender,
                    &mut self.log,
                    resume_point,
                );
                stream.read(answer).await
            }
            Err(failure) => Ok(StreamReport {
                end: StreamEnd::Failed(failure),
                open_for: Duration::ZERO,
                opened: false,
                has_data: false,
                behind: false,
                proven: false,
            }),
        }
    }

    async fn pause(&mut self, wait: Duration) -> Result<(), Closed> {
        let grace = self.config.reopen_grace;
        self.sender.while_closed(grace, sleep(wait)).await
    }

    fn count(&mut self, failure: &ApiError) {
        self.sender.stats().count_errors(failure.kind.into(), 1);
        self.log.failed(failure);
    }

    fn wait_after(&mut self, failure: &ApiError) -> Duration {
        let wait = self.backoff.after_failure();
        wait.max(failure.retry_after.unwrap_or_default())
    }
}
