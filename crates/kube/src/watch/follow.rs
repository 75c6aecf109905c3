//! The engine of every list-watch: follows the watch from a version through any number of streams, and says
//! when the version can no longer be resumed. What is read, where it goes and what a gap costs is the matter
//! of a [`WatchSink`] and of who calls.

use std::time::Duration;

use http::Request;
use kube::Client;
use kube::client::Body;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::backoff::Backoff;
use super::config::ReflectorConfig;
use super::negotiation::{AnswerHead, EncodingNegotiation, RequestPurpose};
use super::pages::no_complete_page;
use super::requests::RequestBuilder;
use super::resume_point::ResumePoint;
use super::signs::WatchSigns;
use super::stats::RelistReason;
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::transport::{append, next_chunk};
use podinit_decode::ObjectEncoding;

/// After this many failures at one version, the version is given up.
const STUCK_AFTER: u32 = 3;

/// A watch that ends so much sooner than it was asked to ends early.
const EARLY: Duration = Duration::from_secs(1);

/// After this many consecutive watches without a byte, the API server's version is checked.
const SILENT_WATCHES: u32 = 4;

/// Why a watch is over.
#[derive(Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The API server ended it, as it does with every watch sooner or later
    Finished,
    /// It failed; it can be resumed at the resume point
    Failed(ApiError),
    /// Events were lost for good
    Lost(RelistReason),
}

/// The result of one watch.
#[derive(Debug, PartialEq, Eq)]
pub struct StreamReport {
    pub(crate) end: StreamEnd,
    pub(crate) open_for: Duration,
    /// The API server accepted it
    pub(crate) opened: bool,
    /// At least one byte arrived
    pub(crate) has_data: bool,
    /// A bookmark had an older version than the watch was opened at
    pub(crate) behind: bool,
    /// The watch delivered something new, or lasted long enough
    pub(crate) made_progress: bool,
    /// The API server has stated meanwhile that it is not behind
    pub(crate) confirmed: bool,
}

/// Takes what the watches of one resource bring.
#[allow(
    async_fn_in_trait,
    reason = "its implementations are ours, and nobody asks for `Send` by it"
)]
pub trait WatchSink {
    /// Why nothing can be taken any more
    type Over;

    /// Reads an open watch to its end, and moves `at` with everything that was taken.
    async fn read(
        &mut self,
        watch: &WatchLoop,
        answer: AnswerHead,
        at: &mut ResumePoint,
    ) -> Result<StreamReport, Self::Over>;

    /// The version that the API server is at.
    async fn current_version(&mut self, watch: &mut WatchLoop) -> Result<Option<String>, ApiError>;

    /// The signs that have asked for lists.
    fn signs(&mut self) -> &mut WatchSigns;

    /// A sign has come. True if its list may come at once.
    async fn sign(&mut self, reason: RelistReason) -> Result<bool, Self::Over> {
        Ok(self.signs().see(reason))
    }

    /// A request failed, or a watch that had been `opened`.
    fn failed(&mut self, failure: &ApiError, opened: bool);

    /// The watch is not followed for now.
    async fn lose_sync(&mut self) -> Result<(), Self::Over> {
        Ok(())
    }

    /// Waits for `work` while no watch is open. After `grace` that is a loss of sync.
    async fn while_closed<W: Future>(
        &mut self,
        _grace: Duration,
        work: W,
    ) -> Result<W::Output, Self::Over> {
        Ok(work.await)
    }
}

/// The requests of one list-watch, and how often they are made.
pub struct WatchLoop {
    pub client: Client,
    pub requests: RequestBuilder,
    pub(crate) negotiation: EncodingNegotiation,
    pub config: ReflectorConfig,
    pub backoff: Backoff,
    /// Whether the last list was answered by API servers that shard (KEP-5866)
    pub(crate) server_shards: bool,
    /// A watch broke or ended early, and no API server has stated since that it is not behind
    pub(crate) doubtful: bool,
    /// After how long the watch that is open is to end
    pub(crate) asked: Duration,
    random: fastrand::Rng,
}

impl WatchLoop {
    pub fn new(client: Client, requests: RequestBuilder, config: ReflectorConfig) -> Self {
        let mut random = config.random();
        let jitter = random.fork();
        Self {
            client,
            requests,
            negotiation: EncodingNegotiation::new(config.encoding),
            backoff: Backoff::new(config.backoff_base, config.backoff_cap, jitter),
            config,
            server_shards: false,
            doubtful: false,
            asked: Duration::ZERO,
            random,
        }
    }

    /// Follows the watch, through any number of streams, until a list is needed. When `suspicious`, as after a watch
    /// that broke, one silent watch is enough to check the API server's version.
    pub async fn follow<S: WatchSink>(
        &mut self,
        sink: &mut S,
        at: &mut ResumePoint,
        mut suspicious: bool,
    ) -> Result<RelistReason, S::Over> {
        self.doubtful = suspicious;
        let mut failed_here = 0;
        let mut silent = 0;
        loop {
            let report = self.watch(sink, at).await?;
            if report.made_progress {
                failed_here = 0;
                self.backoff.reset();
            }
            let is_number = at.number().is_some();
            self.doubtful &= !report.confirmed;
            suspicious &= !(report.has_data || report.confirmed);
            if report.has_data {
                silent = 0;
            } else if report.open_for >= self.config.short_watch {
                silent += 1;
            }
            match report.end {
                StreamEnd::Lost(reason) => return self.lost(sink, reason).await,
                StreamEnd::Finished => {
                    // So it does when it loses its etcd. An ordinary end comes when it was asked for.
                    self.doubtful |= report.open_for + EARLY < self.asked;
                    if !report.made_progress && report.open_for < self.config.short_watch {
                        let wait = self.backoff.after_failure();
                        let grace = self.config.reopen_grace;
                        sink.while_closed(grace, sleep(wait)).await?;
                    }
                }
                StreamEnd::Failed(failure) => {
                    sink.failed(&failure, report.opened);
                    // The API server that answers next may have been restored from a backup.
                    (self.doubtful, suspicious) = (true, true);
                    failed_here += u32::from(!is_number || is_verdict(failure.kind, report.opened));
                    match failure.kind {
                        ApiErrorKind::Gone => return Ok(RelistReason::Gone),
                        ApiErrorKind::VersionAhead => return Ok(RelistReason::VersionAhead),
                        ApiErrorKind::Rejected => {
                            return self.lost(sink, RelistReason::UnusableVersion).await;
                        }
                        _ if failed_here >= STUCK_AFTER && !is_number => {
                            return self.lost(sink, RelistReason::UnusableVersion).await;
                        }
                        _ if failed_here >= STUCK_AFTER => return Ok(RelistReason::Stuck),
                        _ => {}
                    }
                    // What the API server reports in the watch, or a long silence, is no accident of a connection.
                    if report.opened && failure.kind != ApiErrorKind::Transport {
                        sink.lose_sync().await?;
                    }
                    let grace = self.config.reopen_grace;
                    sink.while_closed(grace, self.rest(&failure)).await?;
                }
            }
            // What is no number is compared with nothing, so silence has no other explanation.
            if silent > 0 && !is_number {
                return self.lost(sink, RelistReason::UnusableVersion).await;
            }
            if report.behind || silent >= if suspicious { 1 } else { SILENT_WATCHES } {
                silent = 0;
                suspicious = false;
                if self.is_ahead_of_server(sink, at).await? {
                    sink.sign(RelistReason::Restored).await?;
                }
            }
            if let Some(reason) = sink.signs().due() {
                return Ok(reason);
            }
        }
    }

    /// Events were lost for good. A watch at an unusable version cannot be followed until its list may come.
    async fn lost<S: WatchSink>(
        &self,
        sink: &mut S,
        reason: RelistReason,
    ) -> Result<RelistReason, S::Over> {
        if reason == RelistReason::UnusableVersion
            && !sink.sign(reason).await?
            && let Some(due) = sink.signs().due_at()
        {
            sleep_until(due).await;
        }
        Ok(reason)
    }

    /// After how many seconds the next watch is to end.
    fn watch_seconds(&mut self) -> u32 {
        let range = &self.config.watch_seconds;
        let (least, most) = (*range.start(), *range.end());
        self.random.u32(least..=most.max(least))
    }

    /// Opens one watch and has it read to its end.
    async fn watch<S: WatchSink>(
        &mut self,
        sink: &mut S,
        at: &mut ResumePoint,
    ) -> Result<StreamReport, S::Over> {
        let seconds = self.watch_seconds();
        self.asked = Duration::from_secs(seconds.into());
        let opening = async {
            let request = (self.requests).watch(at.as_str(), seconds, self.server_shards)?;
            let deadline = self.config.header_timeout;
            (self.negotiation).send(&self.client, request, RequestPurpose::Watch, deadline).await
        };
        let grace = self.config.reopen_grace;
        match sink.while_closed(grace, opening).await? {
            Ok(answer) => sink.read(self, answer, at).await,
            Err(failure) => Ok(StreamReport {
                end: StreamEnd::Failed(failure),
                open_for: Duration::ZERO,
                opened: false,
                has_data: false,
                behind: false,
                made_progress: false,
                confirmed: false,
            }),
        }
    }

    /// Whether the API server is behind our resume point, because it was restored from a backup. Such a
    /// server accepts a watch from a future version and stays silent until it reaches that, so a long
    /// silence has to be checked.
    async fn is_ahead_of_server<S: WatchSink>(
        &mut self,
        sink: &mut S,
        at: &ResumePoint,
    ) -> Result<bool, S::Over> {
        match sink.current_version(self).await {
            Ok(version) => {
                let theirs = version.map(ResumePoint::of_list);
                Ok(theirs.is_some_and(|theirs| theirs.is_behind(at)))
            }
            Err(failure) => {
                sink.failed(&failure, false);
                let grace = self.config.reopen_grace;
                sink.while_closed(grace, self.rest(&failure)).await?;
                Ok(false)
            }
        }
    }

    /// Waits after a failure, at least as long as the API server asks for.
    pub async fn rest(&mut self, failure: &ApiError) {
        let wait = self.backoff.after_failure();
        sleep(wait.max(failure.retry_after.unwrap_or_default())).await;
    }

    /// Requests a list of one object. Its bytes, which state the version that the API server is at.
    pub async fn list_of_one(&self) -> Result<(ObjectEncoding, Vec<u8>), ApiError> {
        self.fetch(self.requests.current_version()?).await
    }

    /// Requests a list, or a page of one. Its bytes.
    pub(crate) async fn fetch(
        &self,
        request: Request<Body>,
    ) -> Result<(ObjectEncoding, Vec<u8>), ApiError> {
        let config = &self.config;
        let whole = async {
            let deadline = config.header_timeout;
            let sending =
                (self.negotiation).send(&self.client, request, RequestPurpose::List, deadline);
            let (encoding, body) = sending.await?.unpacked();
            let mut buffer = Vec::new();
            append(&mut buffer, body, config.chunk_timeout, config.max_page_bytes).await?;
            Ok::<_, ApiError>((encoding, buffer))
        };
        let whole = timeout(config.page_timeout, whole).await;
        whole.map_err(|_| no_complete_page(config))?
    }
}

/// The body of an open watch that is read chunk by chunk, for a [`WatchSink`] that has no use for its silence.
pub struct WatchChunks {
    body: Body,
    opened: Instant,
    /// Where the watch began
    from: ResumePoint,
    has_data: bool,
}

impl WatchChunks {
    pub fn opened(body: Body, from: &ResumePoint) -> Self {
        Self { body, opened: Instant::now(), from: from.clone(), has_data: false }
    }

    /// The next chunk, or the end of the watch.
    pub async fn next(&mut self, config: &ReflectorConfig) -> Result<bytes::Bytes, StreamEnd> {
        let next = next_chunk(&mut self.body, config.idle_timeout, "no byte in the watch");
        match next.await {
            Ok(Some(chunk)) => {
                self.has_data = true;
                Ok(chunk)
            }
            Ok(None) => Err(StreamEnd::Finished),
            Err(failure) => Err(StreamEnd::Failed(failure)),
        }
    }

    /// What has become of the watch, which has come as far as `at`, and may have brought a bookmark of the past.
    pub fn report(
        &self,
        config: &ReflectorConfig,
        end: StreamEnd,
        at: &ResumePoint,
        behind: bool,
    ) -> StreamReport {
        let open_for = self.opened.elapsed();
        StreamReport {
            end,
            open_for,
            opened: true,
            has_data: self.has_data,
            behind,
            made_progress: *at != self.from || open_for >= config.progress_after,
            confirmed: false,
        }
    }
}

/// Whether the API server refused this very watch, so that its version may be the cause. A broken
/// connection, an overload, missing permissions, or a failure before the watch was opened say nothing
/// about the version.
const fn is_verdict(kind: ApiErrorKind, opened: bool) -> bool {
    match kind {
        ApiErrorKind::Rejected | ApiErrorKind::ClientError | ApiErrorKind::UnexpectedStatus => true,
        ApiErrorKind::ServerError | ApiErrorKind::NotImplemented => opened,
        _ => false,
    }
}
