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
//! It can also begin with opening a watch, from a position that an earlier process had reached.
//!
//! It behaves as client-go's reflector does, except that it never lists from the cache at version
//! 0, that every wait has an end, that it tells its receiver when it is blind, and that only a
//! watch that brings something makes the waits short again.

mod listing;

use std::convert::Infallible;
use std::time::Duration;

use kube::Client;
use tokio::time::sleep;

use super::backoff::Backoff;
use super::config::ReflectorConfig;
use super::health::Health;
use super::outlet::{Closed, Outlet};
use super::requests::{Requests, Scope, Selectors};
use super::stats::RelistReason;
use super::stream::{Stream, StreamEnd, StreamReport};
use super::streamed_list::Streaming;
use super::version::Position;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::send;
use crate::decode::PodDecoder;

/// Failures at one version after which it is given up and the pods are listed again.
const STUCK_AFTER: u32 = 3;

/// Watches in a row without a byte after which the API server is asked for its version.
const SILENT_WATCHES: u32 = 4;

/// One list-watch.
pub(super) struct Reflector {
    client: Client,
    requests: Requests,
    config: ReflectorConfig,
    decoder: PodDecoder,
    outlet: Outlet,
    health: Health,
    backoff: Backoff,
    random: fastrand::Rng,
    streaming: Streaming,
}

impl Reflector {
    pub(super) fn new(
        client: Client,
        scope: &Scope,
        selectors: &Selectors,
        config: ReflectorConfig,
        decoder: PodDecoder,
        outlet: Outlet,
    ) -> Self {
        let mut random = config
            .seed
            .map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let jitter = random.fork();
        Self {
            client,
            requests: Requests::new(scope, selectors),
            backoff: Backoff::new(config.backoff_base, config.backoff_cap, jitter),
            streaming: Streaming::new(config.watch_list),
            config,
            decoder,
            outlet,
            health: Health::default(),
            random,
        }
    }

    /// Lists and watches until nobody receives any more; goes on from `resume` where there is one.
    pub(super) async fn run(&mut self, resume: Option<Position>) -> Result<Infallible, Closed> {
        let resumed = resume.is_some();
        let mut position = match resume {
            Some(position) => position,
            None => self.list(None).await?,
        };
        // Who answers after a restart may have been restored from a backup meanwhile.
        let mut suspicious = resumed;
        loop {
            let reason = self.follow(&mut position, suspicious).await?;
            suspicious = false;
            self.outlet.lose_sync().await?;
            self.outlet.stats().count_relist(reason);
            self.health.lost(reason);
            sleep(self.backoff.after_interruption()).await;
            position = self.list(Some(&position)).await?;
        }
    }

    /// Follows the watch, through any number of streams, until events are lost for good.
    /// The API server is asked for its version sooner where it is `suspicious`.
    async fn follow(
        &mut self,
        position: &mut Position,
        mut suspicious: bool,
    ) -> Result<RelistReason, Closed> {
        let mut failed_here = 0;
        let mut silent = 0;
        loop {
            let report = self.watch(position).await?;
            if report.proven {
                failed_here = 0;
                self.backoff.reset();
            }
            if report.spoke {
                silent = 0;
                suspicious = false;
            } else if report.lived >= self.config.short_watch {
                silent += 1;
            }
            let behind = report.behind;
            match report.end {
                StreamEnd::Lost(reason) => return Ok(reason),
                StreamEnd::Finished => {
                    if !report.proven && report.lived < self.config.short_watch {
                        let wait = self.backoff.after_failure();
                        self.pause(wait).await?;
                    }
                }
                StreamEnd::Failed(failure) => {
                    self.count(&failure);
                    // Who takes the place of a server that is gone may have been restored from a
                    // backup.
                    suspicious = true;
                    failed_here += u32::from(is_verdict(failure.kind, report.opened));
                    match failure.kind {
                        ApiErrorKind::Gone => return Ok(RelistReason::Gone),
                        ApiErrorKind::VersionAhead => return Ok(RelistReason::VersionAhead),
                        ApiErrorKind::Rejected => return Ok(RelistReason::Stuck),
                        _ if failed_here >= STUCK_AFTER => return Ok(RelistReason::Stuck),
                        _ => {}
                    }
                    self.outlet.lose_sync().await?;
                    sleep(self.wait_after(&failure)).await;
                }
            }
            if behind || silent >= if suspicious { 1 } else { SILENT_WATCHES } {
                silent = 0;
                suspicious = false;
                if self.is_ahead_of_server(position).await? {
                    return Ok(RelistReason::VersionAhead);
                }
            }
        }
    }

    /// Opens one watch and reads it to its end.
    async fn watch(&mut self, position: &mut Position) -> Result<StreamReport, Closed> {
        let range = &self.config.watch_seconds;
        let (least, most) = (*range.start(), *range.end());
        let seconds = self.random.u32(least..=most.max(least));
        let opening = async {
            let request = self.requests.watch(position.as_str(), seconds)?;
            send(&self.client, request, self.config.header_timeout).await
        };
        let grace = self.config.reopen_grace;
        match self.outlet.while_closed(grace, opening).await? {
            Ok(response) => {
                let stream = Stream::opened(
                    &self.config,
                    &mut self.decoder,
                    &mut self.outlet,
                    &mut self.health,
                    position,
                );
                stream.read(response.into_body()).await
            }
            Err(failure) => Ok(StreamReport {
                end: StreamEnd::Failed(failure),
                lived: Duration::ZERO,
                opened: false,
                spoke: false,
                behind: false,
                proven: false,
            }),
        }
    }

    async fn pause(&mut self, wait: Duration) -> Result<(), Closed> {
        let grace = self.config.reopen_grace;
        self.outlet.while_closed(grace, sleep(wait)).await
    }

    fn count(&mut self, failure: &ApiError) {
        self.outlet.stats().count_errors(failure.kind.into(), 1);
        self.health.failed(failure);
    }

    fn wait_after(&mut self, failure: &ApiError) -> Duration {
        let wait = self.backoff.after_failure();
        wait.max(failure.retry_after.unwrap_or_default())
    }
}

/// Whether the API server has judged this very watch, so that its version may be at fault. A
/// connection that breaks, an overload, a lack of rights or a server that fails before it has
/// opened the watch says nothing about the version.
const fn is_verdict(kind: ApiErrorKind, opened: bool) -> bool {
    match kind {
        ApiErrorKind::Rejected | ApiErrorKind::ClientError | ApiErrorKind::UnexpectedStatus => true,
        ApiErrorKind::ServerError => opened,
        _ => false,
    }
}
