//! Records one resource: lists it, watches it, resumes, and lists again when events were lost.
//! Of an event of a watch it reads what it needs to go on after it.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::{Mutex, watch};

use super::startups::{StartupCounter, StartupCounts};
use super::{CaptureOutput, DocumentRecorder};
use podinit_core::pod::packed::PackedPods;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::follow::{StreamEnd, StreamReport, WatchChunks, WatchLoop, WatchSink};
use podinit_kube::watch::line_reader::{FramedEvent, LineReader};
use podinit_kube::watch::negotiation::AnswerHead;
use podinit_kube::watch::pages::{PageEnd, fetch_pages, watch_version};
use podinit_kube::watch::resume_point::ResumePoint;
use podinit_kube::watch::signs::WatchSigns;
use podinit_kube::watch::stats::RelistReason;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedResource {
    /// Pods: each file of the recording begins with a list of them
    Pods,
    /// Events: only those from now on, without lists, bookmarks and errors, which would be taken for
    /// those of pods
    Events,
    /// Nodes: each file has a list of them; without bookmarks and errors, too
    Nodes,
}

/// Records one resource until it is dropped, or a file cannot be written.
pub(super) struct ListWatch {
    pub(super) watch: WatchLoop,
    pub(super) recording: ListWatchOutput,
}

/// Where its documents go.
pub(super) struct ListWatchOutput {
    pub(super) resource: RecordedResource,
    pub(super) clock: Arc<dyn DeliveryClock>,
    pub(super) output: Arc<Mutex<CaptureOutput>>,
    pub(super) recorder: Arc<DocumentRecorder>,
    /// Of pods alone
    pub(super) counter: StartupCounter,
    pub(super) startups: Arc<StartupCounts>,
    /// Whether the last request or watch failed
    pub(super) failing: bool,
    pub(super) signs: WatchSigns,
    /// Tells of a file that has no list yet
    pub(super) new_files: watch::Receiver<u32>,
}

/// The fields of a list page that are needed to go on.
#[derive(Deserialize)]
struct PageHead {
    metadata: PageMetadata,
    #[serde(default)]
    items: Option<Vec<IgnoredAny>>,
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
        loop {
            let mut at = self.begin().await?;
            let following = self.watch.follow(&mut self.recording, &mut at, false);
            following.await?;
            tokio::time::sleep(self.watch.backoff.after_interruption()).await;
        }
    }

    /// The version to watch from, however long it takes to learn it. For pods, the list of that version is
    /// written first.
    async fn begin(&mut self) -> io::Result<ResumePoint> {
        let Self { watch, recording } = self;
        loop {
            let begun = match recording.resource {
                RecordedResource::Pods | RecordedResource::Nodes => recording.list(watch).await?,
                RecordedResource::Events => {
                    let version = recording.current_version(watch).await;
                    version.and_then(watch_version)
                }
            };
            match begun {
                Ok(version) => {
                    recording.goes_on();
                    recording.signs.listed(false);
                    return Ok(ResumePoint::of_list(version));
                }
                Err(failure) => {
                    recording.failed(&failure, false);
                    watch.rest(&failure).await;
                }
            }
        }
    }
}

impl WatchSink for ListWatchOutput {
    type Over = io::Error;

    async fn read(
        &mut self,
        watch: &WatchLoop,
        answer: AnswerHead,
        at: &mut ResumePoint,
    ) -> io::Result<StreamReport> {
        let config = &watch.config;
        let mut lines = LineReader::new(config.max_line_bytes);
        let mut chunks = WatchChunks::opened(answer.body, at);
        let mut behind = false;
        let end = 'watch: loop {
            let chunk = tokio::select! {
                chunk = chunks.next(config) => chunk,
                Ok(()) = self.new_files.changed(), if self.resource == RecordedResource::Nodes => {
                    break StreamEnd::Lost(RelistReason::Recorded);
                }
            };
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(end) => break end,
            };
            self.goes_on();
            let mut rest: &[u8] = &chunk;
            while let Some(line) = lines.next(&mut rest) {
                let FramedEvent::Whole(line) = line else {
                    let detail = "a watch event is too long to be recorded";
                    break 'watch self.lost(&ApiError::malformed(detail));
                };
                if let Some(end) = self.line(line, at, &mut behind).await? {
                    break 'watch end;
                }
            }
        };
        Ok(chunks.report(config, end, at, behind))
    }

    async fn current_version(&mut self, watch: &mut WatchLoop) -> Result<Option<String>, ApiError> {
        let (_, list) = watch.list_of_one().await?;
        Ok(page_head(&list)?.metadata.resource_version)
    }

    fn signs(&mut self) -> &mut WatchSigns {
        &mut self.signs
    }

    fn failed(&mut self, failure: &ApiError, _opened: bool) {
        if !std::mem::replace(&mut self.failing, true) {
            let (resource, kind, detail) = (self.name(), failure.kind, &failure.detail);
            tracing::warn!(resource, detail, "the recording waits: {kind}");
        }
    }
}

impl ListWatchOutput {
    const fn name(&self) -> &'static str {
        match self.resource {
            RecordedResource::Pods => "pods",
            RecordedResource::Events => "events",
            RecordedResource::Nodes => "nodes",
        }
    }

    fn goes_on(&mut self) {
        if std::mem::take(&mut self.failing) {
            tracing::info!(resource = self.name(), "the recording goes on");
        }
    }

    /// Events are missing in the recording: a list comes next.
    fn lost(&mut self, failure: &ApiError) -> StreamEnd {
        self.failed(failure, true);
        StreamEnd::Lost(RelistReason::Recorded)
    }

    /// Lists all pods or nodes and writes the list, of pods at the beginning of the next file if this one is full. The
    /// pages are held compressed until the list is complete, and then written without a document of
    /// another resource between them, so that `replay` joins them.
    async fn list(&mut self, watch: &WatchLoop) -> io::Result<Result<String, ApiError>> {
        let mut held = GzEncoder::new(Vec::new(), Compression::fast());
        let (mut version, mut pods, mut began) = (None, PackedPods::default(), None);
        let read = |body: &[u8]| {
            let head = page_head(body)?;
            let now = self.clock.now();
            began.get_or_insert(now);
            let document = self.recorder.document(body, now);
            let mut document = document
                .ok_or_else(|| ApiError::malformed("the body is not a list that can be read"))?;
            if self.resource == RecordedResource::Pods {
                self.counter.page(&document, &mut pods);
            }
            document.push(b'\n');
            io::Write::write_all(&mut held, &document).map_err(ApiError::malformed)?;
            version = head.metadata.resource_version;
            Ok(PageEnd {
                next: head.metadata.continue_token,
                objects: head.items.map_or(0, |items| items.len()),
            })
        };
        let listed = fetch_pages(&watch.client, &watch.requests, &watch.config, read).await;
        let version = match listed.and_then(|()| watch_version(version)) {
            Ok(version) => version,
            Err(failure) => return Ok(Err(failure)),
        };
        let pages = held.finish()?;
        let mut output = self.output.lock().await;
        if self.resource == RecordedResource::Pods && output.is_full() {
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
        self.new_files.mark_unchanged();
        drop(output);
        if self.resource == RecordedResource::Nodes {
            return Ok(Ok(version));
        }
        let began = began.unwrap_or_else(|| self.clock.now());
        self.counter.listed(pods, began, &self.startups);
        Ok(Ok(version))
    }

    /// Writes an event, and moves `at` to it. The end of the watch if a list has to come next: after a loss, or
    /// at the beginning of a new file.
    async fn line(
        &mut self,
        line: &[u8],
        at: &mut ResumePoint,
        behind: &mut bool,
    ) -> io::Result<Option<StreamEnd>> {
        let event = match WatchLine::parse(line) {
            Ok(event) => event,
            Err(error) => return Ok(Some(self.lost(&ApiError::malformed(error)))),
        };
        let writes = match self.resource {
            RecordedResource::Pods => true,
            RecordedResource::Events => event.is_applied(),
            RecordedResource::Nodes => event.is_applied() || event.is_deleted(),
        };
        let mut full = false;
        let now = self.clock.now();
        if writes && let Some(document) = self.recorder.document(line, now) {
            let mut output = self.output.lock().await;
            output.write(&document)?;
            if self.resource == RecordedResource::Pods {
                full = output.is_full();
                self.counter.event(&document, now, &self.startups);
            }
        }
        if event.is_error() {
            let detail = "the API server ended the watch with an error";
            return Ok(Some(self.lost(&ApiError::new(ApiErrorKind::Gone, detail))));
        }
        let newer = event.version().unwrap_or_default();
        if !at.advance(newer) && event.is_bookmark() {
            *behind |= ResumePoint::of_list(newer.to_owned()).is_behind(at);
        }
        Ok(full.then_some(StreamEnd::Lost(RelistReason::Recorded)))
    }
}

fn page_head(body: &[u8]) -> Result<PageHead, ApiError> {
    serde_json::from_slice(body).map_err(ApiError::malformed)
}

/// What is read of a line of a watch, to go on after it.
#[derive(Debug, Deserialize)]
pub(super) struct WatchLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    object: WatchedObject<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct WatchedObject<'a> {
    #[serde(borrow, default)]
    metadata: ObjectMetadata<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMetadata<'a> {
    #[serde(borrow)]
    resource_version: Option<Cow<'a, str>>,
}

impl<'a> WatchLine<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// Whether an object was added or modified.
    pub(super) fn is_applied(&self) -> bool {
        matches!(&*self.kind, "ADDED" | "MODIFIED")
    }

    /// Whether an object was deleted.
    pub(super) fn is_deleted(&self) -> bool {
        self.kind == "DELETED"
    }

    /// Whether the watch ends with this event, and cannot be resumed.
    pub(super) fn is_error(&self) -> bool {
        self.kind == "ERROR"
    }

    /// Whether it says no more than how far the watch has come.
    pub(super) fn is_bookmark(&self) -> bool {
        self.kind == "BOOKMARK"
    }

    /// The version that the watch has reached with this event.
    pub(super) fn version(&self) -> Option<&str> {
        let version = self.object.metadata.resource_version.as_deref();
        version.filter(|version| !version.is_empty() && !self.is_error())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn an_error_has_no_version() {
        let error = br#"{"type":"ERROR","object":{"metadata":{"resourceVersion":"9"},"code":410}}"#;
        let error = WatchLine::parse(error).expect("a line");
        assert!(error.is_error() && error.version().is_none());
        let added = br#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"9"}}}"#;
        let added = WatchLine::parse(added).expect("a line");
        assert_eq!((added.is_applied(), added.version()), (true, Some("9")));
    }
}
