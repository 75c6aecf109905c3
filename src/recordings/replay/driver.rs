//! Turns the documents of a recording into the deliveries that a list-watch would have made.

use std::sync::Arc;

use super::pages::{Pages, latest_api_time};
use super::stream::{Stream, in_list_order};
use crate::cluster::api_error::ApiError;
use crate::decode::WatchEventKind;
use crate::lifecycle::delivery::{Delivery, PodEvent, SourceId};
use crate::lifecycle::observation::Sink;
use crate::lifecycle::tracker::{Tracker, TrackerConfig};
use crate::pod::PodSnapshot;
use crate::recordings::reader::{Body, Document};
use crate::timestamp::Timestamp;
use crate::watch::stats::{EventType, RelistReason, WatchStats};

/// A recording is one list-watch.
const SOURCE: SourceId = SourceId(0);

/// How a recording is read.
#[derive(Clone, Debug, Default)]
pub struct ReplayConfig {
    /// How pods are accounted for
    pub tracker: TrackerConfig,
    /// Stop at the first document after this instant, and let time pass until then
    pub until: Option<Timestamp>,
}

/// Whether the next document is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Yes
    GoOn,
    /// No: the document was later than `until`
    Stop,
}

/// Feeds the documents of a recording, one by one, to a tracker and what it says to a sink.
///
/// `new_sink` makes an empty sink. It is called again if the recording turns out to begin with a
/// streamed list (see the module `stream`).
pub struct Replay<S, F> {
    config: ReplayConfig,
    stats: Arc<WatchStats>,
    new_sink: F,
    sink: S,
    tracker: Tracker,
    now: Timestamp,
    /// The greatest API time seen so far
    greatest: Option<Timestamp>,
    pending: Option<Pages>,
    stream: Option<Stream>,
}

impl<S: Sink, E, F: Fn() -> Result<S, E>> Replay<S, F> {
    /// A replay that has read nothing yet. Time stands at [`Timestamp::EPOCH`].
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub fn new(config: ReplayConfig, stats: Arc<WatchStats>, new_sink: F) -> Result<Self, E> {
        Ok(Self {
            tracker: Tracker::new(config.tracker.clone()),
            config,
            stats,
            sink: new_sink()?,
            new_sink,
            now: Timestamp::EPOCH,
            greatest: None,
            pending: None,
            stream: None,
        })
    }

    /// Accounts for the next document.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub fn read(&mut self, document: Document) -> Result<Flow, E> {
        let observed = document.observed_at;
        let then = self.now.max(self.time_of(&document).unwrap_or(self.now));
        if self.config.until.is_some_and(|until| then > until) {
            return Ok(Flow::Stop);
        }
        self.now = then;
        match document.body {
            Body::Event(kind) => {
                self.pending = None;
                self.event(kind, observed)?;
            }
            Body::Pod(pod) => {
                self.pending = None;
                self.list(Pages::join(None, vec![pod], observed));
            }
            Body::List {
                pods,
                continue_token,
                ..
            } => {
                let list = Pages::join(self.pending.take(), pods, observed);
                match continue_token {
                    Some(_) => self.pending = Some(list),
                    None => self.list(list),
                }
            }
        }
        Ok(Flow::GoOn)
    }

    /// `observedAt`; without it, for a list the greatest API time in it, and for an event the
    /// greatest API time seen so far ([§8.7](crate::specification#s8-7)).
    fn time_of(&mut self, document: &Document) -> Option<Timestamp> {
        let stated = stated_time(&document.body);
        self.greatest = self.greatest.max(stated);
        document.observed_at.or(match document.body {
            Body::Event(_) => self.greatest,
            Body::Pod(_) | Body::List { .. } => stated,
        })
    }

    /// Ends the recording and returns what the sink has taken in.
    pub fn finish(mut self) -> S {
        if let Some(until) = self.config.until {
            self.now = self.now.max(until);
            self.tracker.advance(self.now, &mut self.sink);
        }
        self.sink
    }

    fn list(&mut self, list: Pages) {
        let began = list
            .observed
            .or(latest_api_time(&list.pods))
            .unwrap_or(self.now);
        if self.stream.is_some() {
            self.stats.count_relist(RelistReason::Recorded);
        }
        self.stream = Some(Stream::later());
        self.stats.set_synced(SOURCE, true);
        self.deliver(
            PodEvent::Listed {
                pods: list.pods,
                began,
            },
            None,
        );
    }

    fn event(&mut self, kind: WatchEventKind, observed: Option<Timestamp>) -> Result<(), E> {
        if self.stream.is_none() {
            self.tracker.begin_without_list(SOURCE);
            self.stats.set_synced(SOURCE, true);
        }
        let stream = self.stream.get_or_insert_with(|| Stream::opening(observed));
        match kind {
            WatchEventKind::Added(pod) => self.applied(EventType::Added, pod, observed),
            WatchEventKind::Modified(pod) => self.applied(EventType::Modified, pod, observed),
            WatchEventKind::Deleted(pod) => {
                stream.delete(pod.uid);
                self.stats.count_event(EventType::Deleted);
                self.deliver(PodEvent::Deleted(pod), observed);
            }
            WatchEventKind::Bookmark {
                initial_events_end, ..
            } => {
                self.stats.count_event(EventType::Bookmark);
                if initial_events_end {
                    self.close_streamed_list()?;
                } else {
                    self.deliver(PodEvent::Bookmark, observed);
                }
            }
            WatchEventKind::Error(status) => {
                self.stats.count_event(EventType::Error);
                self.stats
                    .count_errors(ApiError::from_event(&status).kind.into(), 1);
                self.stats.set_synced(SOURCE, false);
                self.stream = Some(Stream::later());
                self.deliver(PodEvent::SyncLost, observed);
            }
        }
        Ok(())
    }

    fn applied(&mut self, kind: EventType, pod: PodSnapshot, observed: Option<Timestamp>) {
        self.stats.count_event(kind);
        let stands = !self.tracker.has_deleted(pod.uid, self.now);
        if let (true, Some(stream)) = (stands, &mut self.stream) {
            stream.apply(&pod);
        }
        self.deliver(PodEvent::Applied(pod), observed);
    }

    fn close_streamed_list(&mut self) -> Result<(), E> {
        self.stats.set_synced(SOURCE, true);
        match self.stream.replace(Stream::later()) {
            Some(Stream::Opening { standing, began }) => {
                self.tracker = Tracker::new(self.config.tracker.clone());
                self.sink = (self.new_sink)()?;
                let pods = in_list_order(standing);
                let began = began.or(latest_api_time(&pods)).unwrap_or(self.now);
                self.deliver(PodEvent::Listed { pods, began }, None);
            }
            Some(Stream::Later(standing)) => {
                self.stats.count_relist(RelistReason::Recorded);
                let standing = standing.into_iter().collect();
                self.deliver(PodEvent::StreamedListClosed { standing }, None);
            }
            None => {}
        }
        Ok(())
    }

    fn deliver(&mut self, event: PodEvent, observed: Option<Timestamp>) {
        let delivery = Delivery {
            source: SOURCE,
            event,
            now: self.now,
            observed,
            version: None,
        };
        self.tracker.apply(delivery, &mut self.sink);
    }
}

/// The greatest API time that a document states.
fn stated_time(body: &Body) -> Option<Timestamp> {
    match body {
        Body::List { pods, .. } => latest_api_time(pods),
        Body::Pod(pod)
        | Body::Event(
            WatchEventKind::Added(pod)
            | WatchEventKind::Modified(pod)
            | WatchEventKind::Deleted(pod),
        ) => pod.latest_api_time,
        Body::Event(WatchEventKind::Bookmark { .. } | WatchEventKind::Error(_)) => None,
    }
}
