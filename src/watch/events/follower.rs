//! The loop of one watch of Events. It begins at the current version, which a list of one Event tells,
//! and resumes where a watch has ended. When the API server no longer has what comes next, it begins at
//! the current version again: the Events in between are lost, and no backlog is read.

use std::convert::Infallible;
use std::time::Duration;

use kube::Client;
use tokio::time::{sleep, timeout};

use super::EventSink;
use super::log::EventLog;
use super::stream::{Stream, StreamReport};
use crate::cluster::api_error::ApiError;
use crate::cluster::transport::append;
use crate::decode::event::watch::EventDecoder;
use crate::watch::WatchConfig;
use crate::watch::backoff::Backoff;
use crate::watch::config::ReflectorConfig;
use crate::watch::delivery_sender::Closed;
use crate::watch::list_page::{no_complete_page, watch_version};
use crate::watch::negotiation::{Answer, Negotiation, Purpose};
use crate::watch::requests::{Freshness, Page, Requests, Scope};
use crate::watch::resume_point::ResumePoint;
use crate::watch::stats::RelistReason;
use crate::watch::verdict::{SILENT_WATCHES, STUCK_AFTER, is_of_version, is_verdict};

/// The watch of the Events of one scope.
pub(super) struct Follower {
    client: Client,
    requests: Requests,
    negotiation: Negotiation,
    config: ReflectorConfig,
    decoder: EventDecoder,
    sink: EventSink,
    /// How many Events of other shards are still to be reported
    of_other_shards: u64,
    /// The index of the scope
    scope: usize,
    log: EventLog,
    backoff: Backoff,
    random: fastrand::Rng,
}

/// How watches from one version on ended.
enum Ended {
    /// They have to begin anew
    Anew,
    /// They can be resumed after this failure, at the opening of the watch or after it
    Failed { failure: ApiError, opened: bool },
}

impl Follower {
    pub(super) fn new(
        client: Client,
        scope: &Scope,
        watch: &WatchConfig,
        sink: EventSink,
        index: usize,
    ) -> Self {
        let config = watch.reflector.clone();
        let mut random = config.random();
        let jitter = random.fork();
        Self {
            client,
            requests: Requests::of_events(scope),
            negotiation: Negotiation::new(config.encoding),
            backoff: Backoff::new(config.backoff_base, config.backoff_cap, jitter),
            config,
            decoder: EventDecoder::new(watch.decode.clone()).of_shard(watch.selectors.shard),
            of_other_shards: 0,
            sink,
            scope: index,
            log: EventLog::default(),
            random,
        }
    }

    /// Watches until the receiver is gone.
    pub(super) async fn run(&mut self) -> Result<Infallible, Closed> {
        loop {
            let mut resume_point = self.current().await;
            self.follow(&mut resume_point).await?;
            self.sink.watch.count_relist(RelistReason::Events);
            sleep(self.backoff.after_interruption()).await;
        }
    }

    /// The version that the API server is at, however long it takes to learn it.
    async fn current(&mut self) -> ResumePoint {
        loop {
            match self.current_version().await {
                Ok(version) => return ResumePoint::of_list(version),
                Err(failure) => {
                    self.down(&failure);
                    self.rest(&failure).await;
                }
            }
        }
    }

    /// Follows the watch, through any number of streams, until Events are lost.
    async fn follow(&mut self, resume_point: &mut ResumePoint) -> Result<(), Closed> {
        let (mut failed_here, mut silent) = (0, 0);
        loop {
            match self.watch(resume_point, &mut silent).await? {
                None => failed_here = 0,
                Some(Ended::Anew) => return Ok(()),
                Some(Ended::Failed { failure, opened }) => {
                    failed_here += u32::from(is_verdict(failure.kind, opened));
                    if failed_here >= STUCK_AFTER {
                        return Ok(());
                    }
                    self.rest(&failure).await;
                }
            }
            if silent >= SILENT_WATCHES {
                silent = 0;
                if self.is_ahead_of_server(resume_point).await {
                    return Ok(());
                }
            }
        }
    }

    /// Opens one watch and reads it to its end; `None` if it was a good one.
    async fn watch(
        &mut self,
        resume_point: &mut ResumePoint,
        silent: &mut u32,
    ) -> Result<Option<Ended>, Closed> {
        let answer = match self.open(resume_point).await {
            Ok(answer) => answer,
            Err(failure) if is_of_version(failure.kind) => return Ok(Some(Ended::Anew)),
            Err(failure) => {
                self.down(&failure);
                let opened = false;
                return Ok(Some(Ended::Failed { failure, opened }));
            }
        };
        self.log.up();
        self.sink.stats.set_up(self.scope, true);
        let stream = Stream {
            config: &self.config,
            decoder: &mut self.decoder,
            sink: &self.sink,
            of_other_shards: &mut self.of_other_shards,
            log: &mut self.log,
            resume_point,
        };
        let StreamReport {
            failure,
            open_for,
            has_data,
            proven,
        } = stream.read(answer).await?;
        if proven {
            self.backoff.reset();
        }
        match has_data {
            true => *silent = 0,
            false => *silent += u32::from(open_for >= self.config.short_watch),
        }
        match failure {
            None if !proven && open_for < self.config.short_watch => {
                sleep(self.backoff.after_failure()).await;
                Ok(None)
            }
            None => Ok(None),
            Some(failure) => {
                self.log.interrupted(&failure);
                Ok(Some(match is_of_version(failure.kind) {
                    true => Ended::Anew,
                    false => Ended::Failed {
                        failure,
                        opened: true,
                    },
                }))
            }
        }
    }

    async fn open(&mut self, resume_point: &ResumePoint) -> Result<Answer, ApiError> {
        let range = &self.config.watch_seconds;
        let (least, most) = (*range.start(), *range.end());
        let seconds = self.random.u32(least..=most.max(least));
        let version = resume_point.as_str();
        let request = self.requests.watch(version, seconds, false)?;
        let deadline = self.config.header_timeout;
        (self.negotiation)
            .send(&self.client, request, Purpose::Watch, deadline)
            .await
    }

    /// Lists one Event, for the version of the list.
    async fn current_version(&mut self) -> Result<String, ApiError> {
        let config = &self.config;
        let page = Page::First(&Freshness::MostRecent);
        let request = self.requests.list(&page, 1)?;
        let mut buffer = Vec::new();
        let whole = async {
            let deadline = config.header_timeout;
            let sending = (self.negotiation).send(&self.client, request, Purpose::List, deadline);
            let (encoding, body) = sending.await?.unpacked();
            let (deadline, most) = (config.chunk_timeout, config.max_page_bytes);
            append(&mut buffer, body, deadline, most).await?;
            Ok::<_, ApiError>(encoding)
        };
        let encoding = timeout(config.page_timeout, whole).await;
        let encoding = encoding.map_err(|_| no_complete_page(config))??;
        watch_version(self.decoder.version_of_list(encoding, &buffer)?)
    }

    /// Whether the API server is behind the resume point, because it was restored from a backup.
    async fn is_ahead_of_server(&mut self, resume_point: &ResumePoint) -> bool {
        let version = self.current_version().await;
        version.is_ok_and(|version| ResumePoint::of_list(version).is_behind(resume_point))
    }

    fn down(&mut self, failure: &ApiError) {
        self.sink.stats.set_up(self.scope, false);
        self.log.down(failure);
    }

    async fn rest(&mut self, failure: &ApiError) {
        let wait: Duration = self.backoff.after_failure();
        sleep(wait.max(failure.retry_after.unwrap_or_default())).await;
    }
}
