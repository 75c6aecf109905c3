//! Serves one watch: events after a version, bookmarks, and injected faults.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::faults::{FaultHandle, FaultState, StreamFault};
use super::list::selects;
use super::list_options::{ListOptions, RequestedVersion};
use super::object::{EventKind, HistoryEvent, ServedKind, StoredObject};
use super::status::StatusFailure;
use super::store::ObjectStore;
use super::watch_event;

/// How many events are taken from the history, or objects from a list, at once.
const BATCH: usize = 64;

/// What a watch stream is made of.
pub(super) struct WatchStream {
    pub(super) resource: ServedKind,
    pub(super) store: Arc<ObjectStore>,
    pub(super) faults: FaultHandle,
    pub(super) namespace: Option<String>,
    pub(super) options: ListOptions,
    pub(super) bookmark_interval: Duration,
    pub(super) shutdown: CancellationToken,
}

/// The state of the stream.
struct StreamProgress {
    watch: WatchStream,
    /// The objects that the stream begins with
    initial: VecDeque<Arc<StoredObject>>,
    /// A streamed list is under way whose end has to be marked
    end_of_list_due: bool,
    /// Everything up to this version has been sent
    version: u64,
    next_fault: u64,
    next_bookmark: Instant,
    deadline: Option<Instant>,
    ready: VecDeque<io::Result<Bytes>>,
    ended: bool,
    store_changed: tokio::sync::watch::Receiver<()>,
    faults_changed: tokio::sync::watch::Receiver<FaultState>,
}

impl WatchStream {
    /// Opens the stream: what is wrong with the request at once is an error.
    pub(super) fn open(
        self,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + Send + use<>, StatusFailure> {
        // Subscribed before anything is read, so that no change falls in between.
        let store_changed = self.store.subscribe();
        let faults_changed = self.faults.subscribe();
        let (version, initial) = self.begin()?;
        let now = Instant::now();
        let progress = StreamProgress {
            initial: initial.into(),
            end_of_list_due: self.options.initial_events && self.options.bookmarks,
            version,
            next_fault: self.faults.next_stream_fault(),
            next_bookmark: now + self.bookmark_interval,
            deadline: self.options.timeout.map(|timeout| now + timeout),
            ready: VecDeque::new(),
            ended: false,
            store_changed,
            faults_changed,
            watch: self,
        };
        Ok(futures::stream::unfold(progress, |mut progress| async {
            let chunk = progress.next().await?;
            Some((chunk, progress))
        }))
    }

    /// The version after which events follow, and the objects that are sent before them.
    fn begin(&self) -> Result<(u64, Vec<Arc<StoredObject>>), StatusFailure> {
        let newest = self.store.version();
        let lists =
            self.options.initial_events || !matches!(self.options.at, RequestedVersion::Version(_));
        match self.options.at {
            // The stream reports a version that is too old, as the API server does.
            RequestedVersion::Version(version) if !lists => return Ok((version, Vec::new())),
            RequestedVersion::Version(version) if version > newest => {
                return Err(StatusFailure::too_large(version, newest));
            }
            _ => {}
        }
        let matches = |object: &StoredObject| self.selects(object);
        let page = self.store.page(None, None, None, false, matches)?;
        Ok((page.version, page.objects))
    }

    fn selects(&self, object: &StoredObject) -> bool {
        selects(self.namespace.as_deref(), &self.options, object)
    }

    /// The event as this watch sees it: a selection is entered and left.
    fn translate(&self, event: &HistoryEvent) -> Option<Bytes> {
        let selected = |object: &&StoredObject| self.selects(object);
        let before = event.previous.as_deref().filter(selected);
        let after = Some(&*event.object).filter(selected);
        let line =
            |kind, object| Some(watch_event::encode_watch_event(self.resource, kind, object));
        let version = event.object.version;
        match (event.kind, before, after) {
            (EventKind::Deleted, Some(_), _) => line("DELETED", &event.object),
            (EventKind::Deleted, None, _) | (_, None, None) => None,
            (_, None, Some(object)) => line("ADDED", object),
            (_, Some(_), Some(object)) => line("MODIFIED", object),
            (_, Some(object), None) => Some(watch_event::left(self.resource, object, version)),
        }
    }
}

impl StreamProgress {
    /// The next bytes of the stream; `None` at its end.
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some(chunk);
            }
            if self.ended || self.watch.shutdown.is_cancelled() {
                return None;
            }
            self.store_changed.mark_unchanged();
            self.faults_changed.mark_unchanged();
            if let Some(fault) = self.watch.faults.stream_fault(self.next_fault) {
                self.next_fault += 1;
                self.suffer(fault);
            } else if self.watch.faults.modes().silent_streams {
                self.wait_in_silence().await;
            } else if !self.tell() {
                self.wait().await;
            }
        }
    }

    /// Prepares what there is to send; false when there is nothing.
    fn tell(&mut self) -> bool {
        if !self.initial.is_empty() {
            let count = self.initial.len().min(BATCH);
            let resource = self.watch.resource;
            let lines: Vec<Bytes> = (self.initial.drain(..count))
                .map(|object| watch_event::encode_watch_event(resource, "ADDED", &object))
                .collect();
            self.send(&lines);
            return true;
        }
        if self.end_of_list_due {
            self.end_of_list_due = false;
            self.send(&[self.bookmark_line(true)]);
            return true;
        }
        match self.watch.store.events_after(self.version, BATCH) {
            Ok(mut batch) => {
                if let Some(until) = self.watch.faults.modes().watches_until {
                    batch.events.retain(|event| event.object.version <= until);
                    batch.up_to = batch.up_to.min(until);
                }
                self.version = batch.up_to.max(self.version);
                let lines: Vec<Bytes> =
                    (batch.events.iter()).filter_map(|event| self.watch.translate(event)).collect();
                self.send(&lines);
                !batch.events.is_empty()
            }
            Err(too_old) => {
                self.fail(&too_old.into());
                true
            }
        }
    }

    fn send(&mut self, lines: &[Bytes]) {
        let duplicates = self.watch.faults.modes().duplicate_events;
        let copies = |line| std::iter::repeat_n(line, 1 + usize::from(duplicates));
        let chunk = lines.iter().flat_map(copies).cloned().collect::<Vec<_>>().concat();
        if !chunk.is_empty() {
            self.give(chunk.into());
        }
    }

    fn give(&mut self, bytes: Bytes) {
        self.ready.push_back(Ok(bytes));
    }

    fn fail(&mut self, failure: &StatusFailure) {
        self.give(watch_event::error(failure));
        self.ended = true;
    }

    fn bookmark(&mut self) {
        // A server that was restored from a backup sends no bookmark until it reaches this version again.
        let reached = self.version <= self.watch.store.version();
        let wanted = self.watch.options.bookmarks && !self.watch.faults.modes().no_bookmarks;
        if reached && wanted {
            self.give(self.bookmark_line(false));
        }
        self.next_bookmark = Instant::now() + self.watch.bookmark_interval;
    }

    fn bookmark_line(&self, ends_list: bool) -> Bytes {
        watch_event::bookmark(self.watch.resource, self.version, ends_list)
    }

    fn suffer(&mut self, fault: StreamFault) {
        match fault {
            StreamFault::End => self.ended = true,
            StreamFault::Cut => {
                let error = io::Error::from(io::ErrorKind::ConnectionReset);
                self.ready.push_back(Err(error));
                self.ended = true;
            }
            StreamFault::Gone => {
                let newest = self.watch.store.version();
                self.fail(&StatusFailure::too_old(self.version, newest));
            }
            StreamFault::Fail(failure) => self.fail(&failure),
            StreamFault::Corrupt => self.give(watch_event::corrupt()),
            StreamFault::Truncated => {
                let line = self.bookmark_line(false);
                self.give(line.slice(..line.len() / 2));
                self.ended = true;
            }
            StreamFault::Oversized(bytes) => {
                self.give(watch_event::oversized(bytes, self.version));
            }
            StreamFault::Raw(bytes) => self.give(bytes),
        }
    }

    /// Waits for something to happen; a bookmark and the end come at their times.
    async fn wait(&mut self) {
        let never = Instant::now() + Duration::from_secs(86_400);
        let deadline = self.deadline.unwrap_or(never);
        tokio::select! {
            biased;
            () = self.watch.shutdown.cancelled() => self.ended = true,
            _ = self.faults_changed.changed() => {}
            _ = self.store_changed.changed() => {}
            () = tokio::time::sleep_until(deadline) => {
                self.bookmark();
                self.ended = true;
            }
            () = tokio::time::sleep_until(self.next_bookmark) => self.bookmark(),
        }
    }

    async fn wait_in_silence(&mut self) {
        tokio::select! {
            () = self.watch.shutdown.cancelled() => self.ended = true,
            _ = self.faults_changed.changed() => {}
        }
    }
}
