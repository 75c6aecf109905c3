//! Turns the documents of a recording into the deliveries that a list-watch would have made.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::first_pods::FirstPods;
use super::replay_clock::{ReplayClock, latest_api_time};
use super::streamed_list::{StreamedList, in_order};
use crate::reader::{DocumentBody, RecordingDocument};
use podinit_core::kube_event::KubeEvent;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Delivery, EventDropReason, NodeEvent, Observation, Observer, PodEvent, SourceId, Tracker,
    TrackerConfig, TrackerObservation,
};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_decode::WatchEventKind;
use podinit_decode::node::watch::NodeLineKind;
use podinit_kube::cluster::api_error::ApiError;
use podinit_kube::watch::stats::{EventType, RelistReason, WatchStats};

/// All of a recording counts as one list-watch.
const SOURCE: SourceId = SourceId(0);

/// How a recording is read.
#[derive(Clone, Debug, Default)]
pub struct ReplayConfig {
    /// How pods are tracked
    pub tracker: TrackerConfig,
    /// The pods to account for; those of others move time as in an account of all
    pub shard: Option<Shard>,
    /// Stop at the first later document, and move time to this instant
    pub until: Option<Timestamp>,
}

/// Feeds the documents of a recording to a tracker, and the tracker's observations to a sink.
///
/// `new_sink` makes an empty sink. It is called again if the recording turns out to begin with a
/// streamed list (see the module `streamed_list`).
pub struct Replay<S, F> {
    config: TrackerConfig,
    shard: Option<Shard>,
    stats: Arc<WatchStats>,
    new_sink: F,
    sink: S,
    tracker: Tracker,
    clock: ReplayClock,
    /// The pages of a list whose last page has not come yet
    pending: Option<ReplayedList>,
    /// The same of a list of nodes
    pending_nodes: Option<NodePages>,
    /// What was delivered of nodes before accounting can start over with a streamed list
    early_nodes: Vec<Delivery>,
    /// The nodes that were delivered one by one since the last list of nodes
    streamed_nodes: BTreeSet<PodUid>,
    /// The first list, as long as it is one of pods by themselves
    bare: Option<ReplayedList>,
    /// What came of nodes behind the last of these pods. What comes before another one of them comes before the list
    behind_bare: Vec<Delivery>,
    /// The Events before the first pods: if those are by themselves, they come after them
    /// ([§8.4](crate::specification#s8-4))
    early_events: Vec<KubeEvent>,
    /// What a watch without a list began with, until the end of that
    first_pods: FirstPods,
    /// Nothing is accounted for before this: the begin of a watch without a list
    began: Timestamp,
    /// What there is to say of that
    warning: Option<String>,
    /// When the document that is accounted for was read
    read_at: Timestamp,
    /// `None` before the first document of pods
    stream: Option<StreamedList>,
    /// How many Events of the recording's beginning are of no use, by reason, if accounting starts over
    /// with a streamed list
    too_early: [u64; EventDropReason::ALL.len()],
}

/// A list, or the pages of it that were read. A list that lacks a page did not complete, and nothing is
/// inferred from it ([§5.4](crate::specification#s5-4)).
struct ReplayedList {
    pods: Vec<PodSnapshot>,
    /// The Events among the pods
    events: Vec<KubeEvent>,
    /// The nodes among the pods
    nodes: Vec<NodeSnapshot>,
    /// `observedAt` of the first page
    observed: Option<Timestamp>,
}

/// A list of nodes, or the pages of it that were read.
struct NodePages {
    nodes: Vec<NodeSnapshot>,
    /// `observedAt` of the first page
    observed: Option<Timestamp>,
}

impl<S: Observer, E, F: Fn() -> Result<S, E>> Replay<S, F> {
    /// A replay that has read nothing yet, at [`Timestamp::EPOCH`].
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub fn new(config: ReplayConfig, stats: Arc<WatchStats>, new_sink: F) -> Result<Self, E> {
        let tracker = TrackerConfig { shard: config.shard, ..config.tracker };
        Ok(Self {
            tracker: Tracker::new(tracker.clone()),
            clock: ReplayClock::new(config.until),
            config: tracker,
            shard: config.shard,
            stats,
            sink: new_sink()?,
            new_sink,
            pending: None,
            pending_nodes: None,
            early_nodes: Vec::new(),
            streamed_nodes: BTreeSet::new(),
            bare: None,
            behind_bare: Vec::new(),
            early_events: Vec::new(),
            first_pods: FirstPods::default(),
            began: Timestamp::EPOCH,
            warning: None,
            read_at: Timestamp::EPOCH,
            stream: None,
            too_early: Default::default(),
        })
    }

    /// Applies the next document. Breaks if it is later than [`ReplayConfig::until`].
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub fn read(&mut self, mut document: RecordingDocument) -> Result<ControlFlow<()>, E> {
        document.body = match document.body {
            DocumentBody::Pod(pod) if !self.is_beginning() => {
                DocumentBody::Event(WatchEventKind::Modified(pod))
            }
            body => body,
        };
        let is_held = self.awaits_first_pods(&document) && self.first_pods.holds(&document);
        if !is_held {
            self.account_for_first_pods()?;
        }
        if self.is_beginning()
            && matches!(document.body, DocumentBody::Event(_) | DocumentBody::List { .. })
        {
            // Before time moves on.
            self.begin();
        }
        if self.clock.advance_to(&document).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let now = self.clock.now();
        if is_held {
            self.first_pods.held.push((document, now));
            return Ok(ControlFlow::Continue(()));
        }
        self.account(document, now)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Accounts for the first pods of a watch without a list, of which no more come.
    fn account_for_first_pods(&mut self) -> Result<(), E> {
        let first = std::mem::take(&mut self.first_pods);
        let Some((document, _)) = first.held.first() else {
            return Ok(());
        };
        let began = first.began();
        self.begin_without_list(document.observed_at, began);
        self.began = began.unwrap_or(Timestamp::EPOCH);
        self.warning = first.warning();
        for (document, at) in first.held {
            self.account(document, at)?;
        }
        Ok(())
    }

    /// Accounts for a document that was read at `at`.
    fn account(&mut self, document: RecordingDocument, at: Timestamp) -> Result<(), E> {
        self.read_at = at;
        let observed = document.observed_at;
        match document.body {
            DocumentBody::Events(events) => self.kube_events(events),
            DocumentBody::Nodes { nodes, events, continue_token } => {
                let mut pages =
                    self.pending_nodes.take().unwrap_or(NodePages { nodes: Vec::new(), observed });
                pages.nodes.extend(nodes);
                match continue_token {
                    Some(_) => self.pending_nodes = Some(pages),
                    None => self.node_list(pages.nodes, pages.observed),
                }
                self.kube_events(events);
            }
            DocumentBody::NodeEvent(kind) => {
                self.pending_nodes = None;
                self.node_event(kind, observed);
            }
            DocumentBody::Event(kind) => {
                self.give_up_pending();
                self.event(kind, observed)?;
            }
            DocumentBody::Pod(pod) => {
                self.deliver_behind_bare();
                let first = || ReplayedList {
                    pods: Vec::new(),
                    events: Vec::new(),
                    nodes: Vec::new(),
                    observed,
                };
                self.bare.get_or_insert_with(first).pods.push(pod);
            }
            DocumentBody::List { pods, events, nodes, continue_token, .. } => {
                let list = match self.pending.take() {
                    None => ReplayedList { pods, events, nodes, observed },
                    Some(mut list) => {
                        list.pods.extend(pods);
                        list.events.extend(events);
                        list.nodes.extend(nodes);
                        list
                    }
                };
                match continue_token {
                    Some(_) => self.pending = Some(list),
                    None => self.list(list),
                }
            }
        }
        Ok(())
    }

    /// The time at which a document is accounted for.
    fn now(&self) -> Timestamp {
        self.read_at.max(self.began)
    }

    /// The recording begins with an event, which came at `observed`.
    fn begin_without_list(&mut self, observed: Option<Timestamp>, began: Option<Timestamp>) {
        self.tracker.begin_without_list(SOURCE, began);
        self.stats.set_synced(SOURCE, true);
        self.stream = Some(StreamedList::first(observed));
    }

    /// Ends the replay and returns the sink.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub fn finish(self) -> Result<S, E> {
        Ok(self.finish_with_tracker()?.0)
    }

    /// Ends the replay and returns the sink, and the tracker with the pods that are still in flight.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(crate) fn finish_with_tracker(mut self) -> Result<(S, Tracker), E> {
        self.account_for_first_pods()?;
        self.begin();
        self.give_up_pending();
        if let Some(end) = self.clock.advance_to_end() {
            self.tracker.advance(end, &mut self.sink);
        }
        if let Some(warning) = &self.warning {
            tracing::warn!("{warning}");
        }
        Ok((self.sink, self.tracker))
    }

    /// Whether nothing of pods has come but pods by themselves.
    const fn is_beginning(&self) -> bool {
        self.stream.is_none() && self.pending.is_none()
    }

    /// Whether the document can be one of the first pods of a watch without a list. Pages of an incomplete list before it
    /// do not count.
    fn awaits_first_pods(&self, document: &RecordingDocument) -> bool {
        let is_behind_pages =
            || matches!(document.body, DocumentBody::Event(_)) || self.first_pods.any();
        let has_begun = self.stream.is_some() || self.bare.is_some();
        !has_begun && (self.pending.is_none() || is_behind_pages())
    }

    /// Delivers the pods by themselves with which the recording begins, and the Events until then.
    fn begin(&mut self) {
        let events = std::mem::take(&mut self.early_events);
        match self.bare.take() {
            Some(list) => self.list(ReplayedList { events, ..list }),
            None => self.deliver_events(events),
        }
        self.deliver_behind_bare();
    }

    fn deliver_behind_bare(&mut self) {
        for delivery in std::mem::take(&mut self.behind_bare) {
            self.tracker.apply(delivery, &mut self.sink);
        }
    }

    /// No page of the pending list comes any more. The Events on its pages have happened all the same.
    fn give_up_pending(&mut self) {
        if let Some(list) = self.pending.take() {
            self.deliver_events(list.events);
        }
    }

    /// Takes Events in, if they are a source of evidence. Those before the first pods wait for what these are.
    fn kube_events(&mut self, events: Vec<KubeEvent>) {
        match self.is_beginning() && self.config.events {
            true => self.early_events.extend(events),
            false => self.deliver_events(events),
        }
    }

    fn deliver_events(&mut self, events: Vec<KubeEvent>) {
        if !self.config.events {
            return;
        }
        let is_beginning = matches!(self.stream, None | Some(StreamedList::First { .. }));
        for event in events {
            if is_beginning {
                self.too_early[self.drop_reason(&event).index()] += 1;
            }
            self.deliver(PodEvent::Event(event), None);
        }
    }

    /// Why `event` is dropped while no pod is known.
    fn drop_reason(&self, event: &KubeEvent) -> EventDropReason {
        match event.uid() {
            Some(uid) if !self.is_own(uid) => EventDropReason::Other,
            _ => EventDropReason::of_unknown_pod(event),
        }
    }

    fn is_own(&self, uid: PodUid) -> bool {
        self.shard.is_none_or(|shard| shard.contains(uid))
    }

    fn list(&mut self, list: ReplayedList) {
        let began = list.observed.or(latest_api_time(&list.pods)).unwrap_or(self.now());
        if !list.nodes.is_empty() {
            let of_pods = list.observed.or(latest_api_time(&list.pods));
            let of_nodes = list.nodes.iter().filter_map(|node| node.latest_api_time);
            let time = list.observed.or(of_pods.max(of_nodes.max()));
            self.node_list(list.nodes, time);
        }
        if self.stream.is_some() {
            self.stats.count_relist(RelistReason::Recorded);
        }
        self.stream = Some(StreamedList::relist());
        self.stats.set_synced(SOURCE, true);
        self.deliver(PodEvent::Listed { pods: list.pods.into(), began }, None);
        self.kube_events(list.events);
    }

    /// Delivers a list of nodes, which came at `observed`. Without it, the time is the greatest in the list.
    fn node_list(&mut self, nodes: Vec<NodeSnapshot>, observed: Option<Timestamp>) {
        let stated = nodes.iter().filter_map(|node| node.latest_api_time);
        let began = observed.or(stated.max()).unwrap_or(self.now());
        self.streamed_nodes.clear();
        self.nodes(NodeEvent::Listed { nodes, began }, None);
    }

    fn node_event(&mut self, kind: NodeLineKind, observed: Option<Timestamp>) {
        match kind {
            NodeLineKind::Applied(node) => {
                self.streamed_nodes.insert(node.uid);
                self.nodes(NodeEvent::Applied(node), observed);
            }
            NodeLineKind::Deleted(node) => {
                self.streamed_nodes.remove(&node.uid);
                self.nodes(NodeEvent::Deleted(node), observed);
            }
            NodeLineKind::Bookmark { initial_events_end: true } => {
                let listed = std::mem::take(&mut self.streamed_nodes);
                let listed = listed.into_iter().collect();
                self.nodes(NodeEvent::StreamedListClosed { listed }, observed);
            }
            // An ERROR does not say of which watch it is: one without a kind of its own is of the pods'.
            NodeLineKind::Bookmark { .. } | NodeLineKind::Error(_) => {}
        }
    }

    /// Delivers something of nodes, if they are a source of evidence.
    fn nodes(&mut self, event: NodeEvent, observed: Option<Timestamp>) {
        if !self.config.nodes {
            return;
        }
        let delivery = self.delivery(PodEvent::Nodes(event), observed);
        if matches!(self.stream, None | Some(StreamedList::First { .. })) {
            self.early_nodes.push(Delivery { now: self.read_at, ..delivery.clone() });
        }
        match self.bare.is_some() {
            true => self.behind_bare.push(delivery),
            false => self.tracker.apply(delivery, &mut self.sink),
        }
    }

    fn event(&mut self, kind: WatchEventKind, observed: Option<Timestamp>) -> Result<(), E> {
        if self.stream.is_none() {
            self.begin_without_list(observed, None);
        }
        match kind {
            WatchEventKind::Added(pod) => self.applied(EventType::Added, pod, observed),
            WatchEventKind::Modified(pod) => self.applied(EventType::Modified, pod, observed),
            WatchEventKind::Deleted(pod) => {
                if let Some(stream) = &mut self.stream {
                    stream.delete(pod.uid);
                }
                self.stats.count_event(EventType::Deleted);
                self.deliver(PodEvent::Deleted(pod), observed);
            }
            // A recording is decoded as a whole: also the times of other shards' pods move time.
            WatchEventKind::OtherShard { .. } => {}
            WatchEventKind::Bookmark { initial_events_end, .. } => {
                self.stats.count_event(EventType::Bookmark);
                if initial_events_end {
                    self.close_streamed_list()?;
                } else {
                    self.deliver(PodEvent::Bookmark, observed);
                }
            }
            WatchEventKind::Error(status) => {
                self.stats.count_event(EventType::Error);
                self.stats.count_errors(ApiError::from_event(&status).kind.into(), 1);
                self.stats.set_synced(SOURCE, false);
                self.stream = Some(StreamedList::relist());
                self.deliver(PodEvent::SyncLost, observed);
            }
        }
        Ok(())
    }

    fn applied(&mut self, kind: EventType, pod: PodSnapshot, observed: Option<Timestamp>) {
        self.stats.count_event(kind);
        let is_deleted = self.tracker.has_deleted(pod.uid, self.now());
        if let (false, Some(stream)) = (is_deleted, &mut self.stream) {
            stream.apply(&pod);
        }
        self.deliver(PodEvent::Applied(pod), observed);
    }

    fn close_streamed_list(&mut self) -> Result<(), E> {
        self.stats.set_synced(SOURCE, true);
        match self.stream.replace(StreamedList::relist()) {
            Some(StreamedList::First { pods, began, .. }) => {
                // They are a list.
                (self.began, self.warning) = (Timestamp::EPOCH, None);
                self.tracker = Tracker::new(self.config.clone());
                self.sink = (self.new_sink)()?;
                for delivery in std::mem::take(&mut self.early_nodes) {
                    self.tracker.apply(delivery, &mut self.sink);
                }
                let pods = in_order(pods);
                let began = began.or(latest_api_time(&pods)).unwrap_or(self.now());
                self.drop_early_events();
                self.deliver(PodEvent::Listed { pods: pods.into(), began }, None);
            }
            Some(StreamedList::Relist(pods)) => {
                self.stats.count_relist(RelistReason::Recorded);
                let listed = pods.into_iter().collect();
                self.deliver(PodEvent::StreamedListClosed { listed }, None);
            }
            None => {}
        }
        Ok(())
    }

    /// Reports the Events before the end of a first streamed list, which came when no pod was known, as
    /// dropped.
    fn drop_early_events(&mut self) {
        for reason in EventDropReason::ALL {
            let dropped = Observation::Tracker(TrackerObservation::EventDropped(reason));
            for _ in 0..self.too_early[reason.index()] {
                self.sink.observe(self.now(), dropped);
            }
        }
    }

    fn deliver(&mut self, event: PodEvent, observed: Option<Timestamp>) {
        let event = self.of_shard(event);
        let delivery = self.delivery(event, observed);
        self.tracker.apply(delivery, &mut self.sink);
    }

    fn delivery(&self, event: PodEvent, observed: Option<Timestamp>) -> Delivery {
        Delivery { source: SOURCE, event, now: self.now(), observed, version: None }
    }

    /// What `event` is to a process that accounts for one shard ([§12](crate::specification#s12)).
    fn of_shard(&self, event: PodEvent) -> PodEvent {
        match event {
            PodEvent::Applied(pod) | PodEvent::Deleted(pod) if !self.is_own(pod.uid) => {
                PodEvent::OtherShard
            }
            PodEvent::Listed { pods, began } => {
                let own = pods.into_iter().filter(|pod| self.is_own(pod.uid));
                PodEvent::Listed { pods: own.collect(), began }
            }
            PodEvent::Event(event) if event.uid().is_some_and(|uid| !self.is_own(uid)) => {
                PodEvent::OtherShardEvents(1)
            }
            event => event,
        }
    }
}
