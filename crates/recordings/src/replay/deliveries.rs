//! Turns the documents of a recording into the deliveries that a list-watch would have made.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::config::ReplayConfig;
use super::first_pods::FirstPods;
use super::streamed_list::{StreamedList, in_order};
use crate::reader::{RecordedNodes, RecordedPods, RecordingDocument};
use podinit_core::claim_events::ClaimEvents;
use podinit_core::kube_event::KubeEvent;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{
    Backfill, Delivery, EventDropReason, NodeEvent, Observation, Observer, PodEvent, SourceId,
    Tracker, TrackerConfig, TrackerObservation,
};
use podinit_core::node::NodeSnapshot;
use podinit_core::pod::packed::PackedPods;
use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_decode::WatchEventKind;
use podinit_decode::node::watch::NodeLineKind;
use podinit_kube::cluster::api_error::ApiError;
use podinit_kube::watch::stats::{EventType, RelistReason, WatchStats};

/// All of a recording counts as one list-watch.
const SOURCE: SourceId = SourceId(0);

/// Feeds the documents of a recording to a tracker, and the tracker's observations to a sink.
///
/// `new_sink` makes an empty sink. It is called again if the recording turns out to begin with a
/// streamed list (see the module `streamed_list`).
pub(super) struct Replay<S, F> {
    config: TrackerConfig,
    shard: Option<Shard>,
    stats: Arc<WatchStats>,
    new_sink: F,
    sink: S,
    tracker: Tracker,
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
    /// What Events say of the claims of pods
    claims: ClaimEvents,
}

/// A list, or the pages of it that were read. A list that lacks a page did not complete, and nothing is
/// inferred from it ([§5.4](crate::specification#s5-4)).
#[derive(Default)]
struct ReplayedList {
    pods: PackedPods,
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

impl<S: Observer, E, F: Fn(&Arc<WatchStats>) -> Result<S, E>> Replay<S, F> {
    /// A replay that has accounted for nothing yet, at [`Timestamp::EPOCH`].
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(super) fn new(config: ReplayConfig, new_sink: F) -> Result<Self, E> {
        let tracker = TrackerConfig { shard: config.shard, ..config.tracker };
        let stats = Arc::new(WatchStats::new(1));
        Ok(Self {
            tracker: Tracker::new(tracker.clone()),
            config: tracker,
            shard: config.shard,
            sink: new_sink(&stats)?,
            stats,
            new_sink,
            pending: None,
            pending_nodes: None,
            early_nodes: Vec::new(),
            streamed_nodes: BTreeSet::new(),
            bare: None,
            behind_bare: Vec::new(),
            early_events: Vec::new(),
            began: Timestamp::EPOCH,
            warning: None,
            read_at: Timestamp::EPOCH,
            stream: None,
            too_early: Default::default(),
            claims: ClaimEvents::default(),
        })
    }

    /// Observes the pods of the first list as if they had been watched. Nothing was accounted for yet.
    pub(super) fn observe_first_list(&mut self) {
        self.config.backfill = Backfill::Trusted;
        self.tracker = Tracker::new(self.config.clone());
    }

    /// The recording begins with these pods, for which nothing was accounted yet.
    pub(super) fn begin_with(&mut self, first: FirstPods) {
        self.begin();
        self.begin_without_list(first.observed, first.began);
        self.began = first.began.unwrap_or(Timestamp::EPOCH);
        self.warning = first.warning;
    }

    /// Accounts for a document that was read at `at`. If it is of pods, `look` is shown what was accounted for before.
    ///
    /// # Errors
    /// Those of `new_sink`.
    pub(super) fn account(
        &mut self,
        document: RecordingDocument,
        at: Timestamp,
        look: &mut impl FnMut(&Tracker, &mut S, Timestamp),
    ) -> Result<(), E> {
        if matches!(document.pods, Some(RecordedPods::List { .. } | RecordedPods::Event(_))) {
            // Before time moves on.
            self.begin();
            look(&self.tracker, &mut self.sink, at.max(self.began));
        }
        self.read_at = at;
        let observed = document.observed_at;
        let (events, nodes) = (document.evidence.events, document.evidence.nodes);
        match document.pods {
            None => {
                match nodes {
                    Some(RecordedNodes::List { nodes, goes_on }) => {
                        self.node_page(nodes, goes_on, observed);
                    }
                    Some(RecordedNodes::Event(kind)) => {
                        self.pending_nodes = None;
                        self.node_event(kind, observed);
                    }
                    None => {}
                }
                self.kube_events(events);
            }
            Some(RecordedPods::Event(kind)) => {
                self.give_up_pending();
                self.event(kind, observed)?;
            }
            Some(RecordedPods::Bare(pod)) => {
                self.deliver_behind_bare();
                let first = || ReplayedList { observed, ..ReplayedList::default() };
                self.bare.get_or_insert_with(first).pods.extend([pod]);
            }
            Some(RecordedPods::List { pods, goes_on }) => {
                let nodes = match nodes {
                    Some(RecordedNodes::List { nodes, .. }) => nodes,
                    Some(RecordedNodes::Event(_)) | None => Vec::new(),
                };
                let list = match self.pending.take() {
                    None => ReplayedList { pods, events, nodes, observed },
                    Some(mut list) => {
                        match list.pods.is_empty() {
                            true => list.pods = pods,
                            false => list.pods.extend(pods),
                        }
                        list.events.extend(events);
                        list.nodes.extend(nodes);
                        list
                    }
                };
                match goes_on {
                    true => self.pending = Some(list),
                    false => self.list(list),
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

    /// Ends the replay, at `end` if that is given. Returns the sink, and the tracker with the pods that are in flight.
    pub(super) fn finish(mut self, end: Option<Timestamp>) -> (S, Tracker) {
        self.begin();
        self.give_up_pending();
        match end {
            Some(end) => self.tracker.advance(end, &mut self.sink),
            None => self.tracker.divide_rollouts(&mut self.sink),
        }
        if let Some(warning) = &self.warning {
            tracing::warn!("{warning}");
        }
        (self.sink, self.tracker)
    }

    /// Whether nothing of pods has come but pods by themselves.
    const fn is_beginning(&self) -> bool {
        self.stream.is_none() && self.pending.is_none()
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
        let of_pods = list.observed.or(list.pods.latest_api_time());
        let began = of_pods.unwrap_or(self.now());
        if !list.nodes.is_empty() {
            let of_nodes = list.nodes.iter().filter_map(|node| node.latest_api_time);
            let time = list.observed.or(of_pods.max(of_nodes.max()));
            self.node_list(list.nodes, time);
        }
        if self.stream.is_some() {
            self.stats.count_relist(RelistReason::Recorded);
        }
        self.stream = Some(StreamedList::relist());
        self.stats.set_synced(SOURCE, true);
        self.deliver(PodEvent::Listed { pods: list.pods, began }, None);
        self.kube_events(list.events);
    }

    /// A list of nodes, or a page of one.
    fn node_page(&mut self, nodes: Vec<NodeSnapshot>, goes_on: bool, observed: Option<Timestamp>) {
        let first = NodePages { nodes: Vec::new(), observed };
        let mut pages = self.pending_nodes.take().unwrap_or(first);
        pages.nodes.extend(nodes);
        match goes_on {
            true => self.pending_nodes = Some(pages),
            false => self.node_list(pages.nodes, pages.observed),
        }
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
                self.sink = (self.new_sink)(&self.stats)?;
                for delivery in std::mem::take(&mut self.early_nodes) {
                    self.tracker.apply(delivery, &mut self.sink);
                }
                let pods = PackedPods::from(in_order(pods));
                let began = began.or(pods.latest_api_time()).unwrap_or(self.now());
                self.drop_early_events();
                self.deliver(PodEvent::Listed { pods, began }, None);
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
        let said = self.said_of_claims(&event);
        self.apply(event, observed);
        for event in said {
            // One that is over needs to know no more.
            if event.uid().is_some_and(|uid| self.tracker.in_flight(uid).is_some()) {
                self.apply(PodEvent::Event(event), None);
            }
        }
    }

    /// What is said of the claims of pods, now that `event` comes.
    fn said_of_claims(&mut self, event: &PodEvent) -> Vec<KubeEvent> {
        if !self.config.events {
            return Vec::new();
        }
        match event {
            PodEvent::Applied(pod) => self.claims.pod(pod).into_iter().collect(),
            PodEvent::Deleted(pod) => {
                self.claims.forget(pod.uid);
                Vec::new()
            }
            PodEvent::Listed { pods, .. } => {
                self.claims.forget_pods();
                self.claims.pods(pods.others())
            }
            PodEvent::Event(event) => self.claims.event(event),
            _ => Vec::new(),
        }
    }

    fn apply(&mut self, event: PodEvent, observed: Option<Timestamp>) {
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
            PodEvent::Listed { pods, began } if self.shard.is_some() => {
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
