//! Records one resource: lists it, watches it, resumes, and lists again when events were lost.

use std::io;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kube::Client;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::document::WatchLine;
use super::{Output, Recorder};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::clock::Clock;
use crate::cluster::transport::{next_chunk, send};
use crate::watch::backoff::Backoff;
use crate::watch::config::ReflectorConfig;
use crate::watch::framing::Framed;
use crate::watch::line_reader::LineReader;
use crate::watch::list_page::{fetch_page, watch_version};
use crate::watch::requests::{Freshness, Page, Requests};
use crate::watch::resume_point::ResumePoint;
use crate::watch::verdict::{SILENT_WATCHES, is_of_version};

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// Pods: each file of the recording begins with a list of them
    Pods,
    /// Events: only those from now on, without lists, bookmarks and errors, which would be taken for
    /// those of pods
    Events,
}

/// Records one resource until it is dropped, or a file cannot be written.
pub(super) struct ListWatch {
    pub(super) resource: Resource,
    pub(super) client: Client,
    pub(super) requests: Requests,
    pub(super) config: ReflectorConfig,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) output: Arc<Mutex<Output>>,
    pub(super) recorder: Arc<Recorder>,
}

/// Why a watch is over.
enum WatchEnd {
    /// It can be resumed
    Resume(Option<ApiError>),
    /// Events were lost, or a new file begins: a list comes next
    List(Option<ApiError>),
    /// It can be resumed, if the API server has not been restored from a backup, as one that is silent or
    /// behind may have been
    Check,
}

/// The fields of a list page that are needed to go on.
#[derive(Deserialize)]
struct PageHead {
    metadata: PageMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageMetadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
}

impl ListWatch {
    /// Records until the future is dropped.
    ///
    /// # Errors
    /// If the recording cannot be written. Whatever the API server does is waited out.
    pub(super) async fn run(mut self) -> io::Result<()> {
        let (base, cap) = (self.config.backoff_base, self.config.backoff_cap);
        let mut backoff = Backoff::new(base, cap, self.config.random());
        let mut version = None;
        let (mut failing, mut silent) = (false, 0);
        loop {
            let began = Instant::now();
            let error = match &mut version {
                None => match self.begin().await? {
                    Ok(began) => {
                        version = Some(ResumePoint::of_list(began));
                        None
                    }
                    Err(error) => Some(error),
                },
                Some(at) => match self.watch(at, &mut silent).await? {
                    WatchEnd::Resume(error) => error,
                    WatchEnd::List(error) => {
                        version = None;
                        error
                    }
                    WatchEnd::Check => match self.is_ahead_of_server(at).await {
                        Ok(is_ahead) => {
                            if is_ahead {
                                version = None;
                            }
                            None
                        }
                        Err(error) => Some(error),
                    },
                },
            };
            let Some(error) = error else {
                if std::mem::take(&mut failing) {
                    tracing::info!(resource = self.name(), "the recording goes on");
                }
                // An API server that ends every watch at once gets some rest.
                if began.elapsed() < self.config.short_watch {
                    tokio::time::sleep(backoff.after_interruption()).await;
                } else {
                    backoff.reset();
                }
                continue;
            };
            if !std::mem::replace(&mut failing, true) {
                let (kind, detail) = (error.kind, &error.detail);
                tracing::warn!(
                    resource = self.name(),
                    detail,
                    "the recording waits: {kind}"
                );
            }
            let wait = backoff.after_failure();
            tokio::time::sleep(wait.max(error.retry_after.unwrap_or_default())).await;
        }
    }

    const fn name(&self) -> &'static str {
        match self.resource {
            Resource::Pods => "pods",
            Resource::Events => "events",
        }
    }

    /// The version to watch from. For pods, the list of that version is written first.
    async fn begin(&mut self) -> io::Result<Result<String, ApiError>> {
        match self.resource {
            Resource::Pods => self.list().await,
            Resource::Events => Ok(self.current_version().await),
        }
    }

    /// The version that the API server is at.
    async fn current_version(&self) -> Result<String, ApiError> {
        let mut body = Vec::new();
        let page = Page::First(&Freshness::MostRecent);
        self.fetch(&page, 1, &mut body).await?;
        watch_version(page_head(&body)?.resource_version)
    }

    /// Whether the API server is behind `version`, because it was restored from a backup.
    async fn is_ahead_of_server(&self, version: &ResumePoint) -> Result<bool, ApiError> {
        let current = self.current_version().await?;
        Ok(ResumePoint::of_list(current).is_behind(version))
    }

    /// Lists all pods and writes the list, at the beginning of the next file if this one is full. The
    /// pages are held compressed until the list is complete, and then written without a document of
    /// another resource between them, so that `replay` joins them.
    async fn list(&mut self) -> io::Result<Result<String, ApiError>> {
        let mut pages = GzEncoder::new(Vec::new(), Compression::fast());
        let mut token: Option<String> = None;
        let mut body = Vec::new();
        let version = loop {
            let page = match &token {
                None => Page::First(&Freshness::MostRecent),
                Some(token) => Page::Next(token),
            };
            if let Err(error) = self.fetch(&page, self.config.page_limit, &mut body).await {
                return Ok(Err(error));
            }
            let head = match page_head(&body) {
                Ok(head) => head,
                Err(error) => return Ok(Err(error)),
            };
            let Some(document) = self.recorder.document(&body, self.clock.now()) else {
                return Ok(Err(ApiError::malformed("the body is no list of pods")));
            };
            io::Write::write_all(&mut pages, &document)?;
            io::Write::write_all(&mut pages, b"\n")?;
            token = head
                .continue_token
                .clone()
                .filter(|token| !token.is_empty());
            if token.is_none() {
                match watch_version(head.resource_version) {
                    Ok(version) => break version,
                    Err(error) => return Ok(Err(error)),
                }
            }
        };
        let pages = pages.finish()?;
        let mut output = self.output.lock().await;
        if output.is_full() {
            output.rotate()?;
            if let Some(path) = output.path() {
                tracing::info!(file = %path.display(), "the recording goes on in a new file");
            }
        }
        let pages = io::BufReader::new(GzDecoder::new(&*pages));
        for page in io::BufRead::split(pages, b'\n') {
            output.write(&page?)?;
        }
        output.flush()?;
        Ok(Ok(version))
    }

    async fn fetch(&self, page: &Page<'_>, limit: u32, body: &mut Vec<u8>) -> Result<(), ApiError> {
        let (client, requests, config) = (&self.client, &self.requests, &self.config);
        fetch_page(client, requests, config, page, limit, body).await
    }

    /// Watches from `version`, which moves with every event that was written. Counts the watches in a row that
    /// were silent.
    async fn watch(&mut self, version: &mut ResumePoint, silent: &mut u32) -> io::Result<WatchEnd> {
        let seconds = *self.config.watch_seconds.end();
        let opened = match self.requests.watch(version.as_str(), seconds, false) {
            Ok(request) => send(&self.client, request, self.config.header_timeout).await,
            Err(error) => Err(error),
        };
        let mut body = match opened {
            Ok(response) => response.into_body(),
            Err(error) if is_of_version(error.kind) => {
                return Ok(WatchEnd::List(Some(error)));
            }
            Err(error) => return Ok(WatchEnd::Resume(Some(error))),
        };
        *silent += 1;
        let mut lines = LineReader::new(self.config.max_line_bytes);
        loop {
            let idle = self.config.idle_timeout;
            let chunk = match next_chunk(&mut body, idle, "no byte in the watch").await {
                Ok(Some(chunk)) => chunk,
                Ok(None) if *silent >= SILENT_WATCHES => {
                    *silent = 0;
                    return Ok(WatchEnd::Check);
                }
                Ok(None) => return Ok(WatchEnd::Resume(None)),
                Err(error) => return Ok(WatchEnd::Resume(Some(error))),
            };
            *silent = 0;
            let mut rest: &[u8] = &chunk;
            while let Some(line) = lines.next(&mut rest) {
                let Framed::Whole(line) = line else {
                    let detail = "a watch event is too long to be recorded";
                    return Ok(WatchEnd::List(Some(ApiError::malformed(detail))));
                };
                if let Some(end) = self.line(line, version).await? {
                    return Ok(end);
                }
            }
        }
    }

    /// Writes an event, and moves `version` to it.
    async fn line(&self, line: &[u8], version: &mut ResumePoint) -> io::Result<Option<WatchEnd>> {
        let event = match WatchLine::parse(line) {
            Ok(event) => event,
            Err(error) => {
                return Ok(Some(WatchEnd::List(Some(ApiError::malformed(error)))));
            }
        };
        let writes = match self.resource {
            Resource::Pods => true,
            Resource::Events => event.is_applied(),
        };
        let mut full = false;
        if writes && let Some(document) = self.recorder.document(line, self.clock.now()) {
            let mut output = self.output.lock().await;
            output.write(&document)?;
            full = self.resource == Resource::Pods && output.is_full();
        }
        if event.is_error() {
            let error = ApiError::new(
                ApiErrorKind::Gone,
                "the API server ended the watch with an error",
            );
            return Ok(Some(WatchEnd::List(Some(error))));
        }
        let newer = event.version().unwrap_or_default();
        if !version.advance(newer)
            && event.is_bookmark()
            && ResumePoint::of_list(newer.to_owned()).is_behind(version)
        {
            return Ok(Some(WatchEnd::Check));
        }
        Ok(full.then_some(WatchEnd::List(None)))
    }
}

fn page_head(body: &[u8]) -> Result<PageMetadata, ApiError> {
    let head: Result<PageHead, _> = serde_json::from_slice(body);
    head.map(|head| head.metadata).map_err(ApiError::malformed)
}
