//! The nodes of the cluster ([§14](crate::specification#s14)): which are known, which are starting, and
//! what pods learn of theirs. Like pods they are folded: duplicates and older versions change nothing.

mod late;
mod node;
mod saved;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

pub use self::late::{LateNode, NodeHold};
pub(super) use self::node::NodeContext;
pub use self::node::{MeasuredStep, NodeObservation, NodeOutcome, NodeState, NodeStep};
pub(super) use self::saved::SavedNodes;

use self::late::Startups;
use self::node::{KnownNode, NodeArrival};
use super::clocks::NodeClock;
use super::pod_node::{NodeAge, PodNode};
use crate::node::{NodeLabels, NodeSnapshot};
use crate::pod::PodUid;
use crate::shard::Shard;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// What is wrong with nodes, whatever pods are on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFaults {
    /// Those whose clocks are off ([§4.7](crate::specification#s4-7)), by name
    pub clocks: Vec<NodeClock>,
    /// Those that are late to become schedulable ([§14.9](crate::specification#s14-9)), the oldest first
    pub late: Vec<LateNode>,
}

/// The most nodes that are known; others are ignored. Kubernetes supports 5,000.
const MOST_NODES: usize = 50_000;

/// How long a deleted node is remembered, so that a late duplicate does not bring it back.
const TOMBSTONE_NANOS: i64 = 600 * NANOS_PER_SECOND;

/// A starting node that was created longer ago than this is late.
const LATE_NANOS: i64 = 900 * NANOS_PER_SECOND;

/// What a list-watch of nodes delivered.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// ADDED or MODIFIED: the node's current state
    Applied(Box<NodeSnapshot>),
    /// DELETED: the node's last state
    Deleted(Box<NodeSnapshot>),
    /// A list that completed, all its pages joined
    Listed {
        nodes: Vec<NodeSnapshot>,
        /// When the list was begun
        began: Timestamp,
    },
    /// A streamed list has ended whose nodes were delivered one by one
    StreamedListClosed {
        /// The nodes in the list
        listed: Vec<PodUid>,
    },
    /// The API server was restored from a backup: the list that follows is current, however old its
    /// versions are
    RolledBack,
}

/// The nodes that are known.
#[derive(Debug)]
pub(super) struct KnownNodes {
    /// The nodes that are counted; all of them without a shard
    shard: Option<Shard>,
    known: HashMap<PodUid, KnownNode, DefaultHashBuilder>,
    /// By name the nodes of that name, the newest last
    names: HashMap<Arc<str>, Vec<PodUid>>,
    /// By the name of a node that is not known, the pods that are bound to it
    awaited: HashMap<Arc<str>, BTreeSet<PodUid>>,
    /// When each deleted node was deleted, in that order
    tombstones: VecDeque<(Timestamp, PodUid)>,
    deleted: HashSet<PodUid>,
    /// A list that comes now is not the first: there has been one, or an event
    listed: bool,
    /// The nodes that start, by their age
    starting: BTreeSet<(Timestamp, PodUid)>,
    /// How many starting nodes were late when that was reported last
    late: u64,
    /// When the late nodes were last counted
    late_at: Timestamp,
    /// How long the newest nodes took until they were schedulable
    startups: Startups,
    /// The NodeClaims for which nodes were made, the last ones
    node_claims: HashSet<Arc<str>>,
}

impl KnownNodes {
    /// Counts the nodes of `shard`.
    pub(super) fn new(shard: Option<Shard>) -> Self {
        Self {
            shard,
            known: HashMap::default(),
            names: HashMap::new(),
            awaited: HashMap::new(),
            tombstones: VecDeque::new(),
            deleted: HashSet::new(),
            listed: false,
            starting: BTreeSet::new(),
            late: 0,
            late_at: Timestamp::EPOCH,
            startups: Startups::default(),
            node_claims: HashSet::new(),
        }
    }

    /// The newest node of this name.
    fn named(&self, name: &str) -> Option<(&PodUid, &KnownNode)> {
        let uid = self.names.get(name)?.last()?;
        Some((uid, self.known.get(uid)?))
    }

    /// The labels of the newest version of the newest node of this name.
    pub(super) fn labels(&self, name: &str) -> Option<&Arc<NodeLabels>> {
        Some(&self.named(name)?.1.labels)
    }

    /// What the newest version of this node says of why it is not Ready; `None` where it is, or is not known.
    pub(super) fn not_ready(&self, name: &str) -> Option<&str> {
        self.named(name)?.1.not_ready.as_deref()
    }

    /// Whether there is a node of this name, or one was made for the NodeClaim of this name.
    pub(super) fn has_come(&self, name: &str) -> bool {
        self.names.contains_key(name) || self.node_claims.contains(name)
    }

    /// What a pod that was created at `created` knows of its node when its Scheduled is latched.
    pub(super) fn seen_by_pod(&self, name: Option<&str>, created: Option<Timestamp>) -> PodNode {
        let Some((_, node)) = name.and_then(|name| self.named(name)) else {
            return PodNode::default();
        };
        let seconds = node.stated.zip(created);
        let seconds =
            seconds.map(|(node, pod)| (node.truncate_to_second(), pod.truncate_to_second()));
        PodNode {
            age: match seconds {
                None => NodeAge::Unknown,
                Some((node, pod)) if node > pod => NodeAge::New,
                Some(_) => NodeAge::Existing,
            },
            created: node.created,
            ready: node.ready.usable(),
            labels: None,
        }
    }

    /// The pod `uid` is bound to a node that is not known yet.
    pub(super) fn wait(&mut self, name: &Arc<str>, uid: PodUid) {
        self.awaited.entry(Arc::clone(name)).or_default().insert(uid);
    }

    /// The pod `uid` waits for its node no longer.
    pub(super) fn stop_waiting(&mut self, name: &str, uid: PodUid) {
        if let Some(pods) = self.awaited.get_mut(name) {
            pods.remove(&uid);
            if pods.is_empty() {
                self.awaited.remove(name);
            }
        }
    }

    /// Takes an update of a node that changes nothing, such as most heartbeats. False for any other.
    pub(super) fn repeats(&mut self, event: &NodeEvent) -> bool {
        let NodeEvent::Applied(snapshot) = event else {
            return false;
        };
        let content = self.content(snapshot);
        let known = self.known.get_mut(&snapshot.uid);
        known.is_some_and(|node| node.repeats(snapshot.resource_version, content))
    }

    /// Forgets the contents of the newest versions, so that no update counts as a repetition.
    #[cfg(test)]
    pub(super) fn forget_contents(&mut self) {
        let nodes = self.known.values_mut();
        nodes.for_each(|node| node.content = None);
    }

    /// The hash of everything in a version that can change.
    fn content(&self, snapshot: &NodeSnapshot) -> u64 {
        let NodeSnapshot {
            uid: _,
            name: _,
            resource_version: _,
            created: _,
            latest_api_time: _,
            ready,
            not_ready,
            unschedulable,
            startup_taints,
            labels,
            claimed_by: _,
        } = snapshot;
        let ready = ready.map(|ready| (ready.status as u8, ready.last_transition));
        (self.known.hasher()).hash_one((ready, not_ready, unschedulable, startup_taints, labels))
    }

    /// Accounts for a delivery. Returns the pods whose node is known now.
    pub(super) fn apply(
        &mut self,
        event: NodeEvent,
        context: NodeContext,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) -> Vec<PodUid> {
        let mut pods = Vec::new();
        match event {
            NodeEvent::Applied(snapshot) => {
                self.listed = true;
                self.fold(*snapshot, context, NodeArrival::Event, emit, &mut pods);
            }
            NodeEvent::Deleted(snapshot) => {
                let uid = snapshot.uid;
                self.listed = true;
                if self.known.contains_key(&uid) {
                    self.fold(*snapshot, context, NodeArrival::Event, emit, &mut pods);
                    self.remove(uid, NodeOutcome::Deleted, emit);
                    self.tombstones.push_back((context.now, uid));
                    self.deleted.insert(uid);
                }
            }
            NodeEvent::Listed { nodes, began } => {
                let arrival = NodeArrival::List {
                    began,
                    is_first: !std::mem::replace(&mut self.listed, true),
                };
                let listed: HashSet<PodUid> = nodes.iter().map(|node| node.uid).collect();
                for snapshot in nodes {
                    self.fold(snapshot, context, arrival, emit, &mut pods);
                }
                self.remove_absent(&listed, emit);
            }
            NodeEvent::StreamedListClosed { listed } => {
                self.listed = true;
                self.remove_absent(&listed.into_iter().collect(), emit);
            }
            NodeEvent::RolledBack => {
                for node in self.known.values_mut() {
                    node.version = 0;
                }
            }
        }
        self.report_late(context.now, emit);
        pods
    }

    fn fold(
        &mut self,
        snapshot: NodeSnapshot,
        context: NodeContext,
        arrival: NodeArrival,
        emit: &mut impl FnMut(NodeObservation<'_>),
        pods: &mut Vec<PodUid>,
    ) {
        let uid = snapshot.uid;
        if !self.known.contains_key(&uid) {
            if self.deleted.contains(&uid) || self.known.len() >= MOST_NODES {
                return;
            }
            let is_own = self.shard.is_none_or(|shard| shard.contains(uid));
            let node = KnownNode::discover(&snapshot, context, arrival, is_own, emit);
            if node.is_starting() {
                self.starting.insert((node.age_from(), uid));
            }
            let name = Arc::clone(&node.name);
            self.known.insert(uid, node);
            self.add_name(&name, uid);
            pods.extend(self.awaited.remove(&name).into_iter().flatten());
        }
        if let Some(claim) = &snapshot.claimed_by
            && !self.node_claims.contains(claim)
        {
            if self.node_claims.len() >= MOST_NODES {
                self.node_claims.clear();
            }
            self.node_claims.insert(Arc::clone(claim));
        }
        let content = self.content(&snapshot);
        if let Some(node) = self.known.get_mut(&uid) {
            let mut took = None;
            let mut emit = |observation: NodeObservation<'_>| {
                if let NodeObservation::Measured(measured) = observation
                    && measured.step == NodeStep::Schedulable
                {
                    took = Some(measured.latency);
                }
                emit(observation);
            };
            node.fold((&snapshot, content), context, arrival, &mut emit);
            if let Some(took) = took {
                self.startups.add(&node.labels.pool, took);
            }
            if !node.is_starting() {
                self.starting.remove(&(node.age_from(), uid));
            }
        }
    }

    /// Adds a node to those of its name, which stand in the order of their creation, and where that is
    /// the same, of their delivery.
    fn add_name(&mut self, name: &Arc<str>, uid: PodUid) {
        let known = &self.known;
        let created = |uid: &PodUid| known.get(uid).and_then(|node| node.stated);
        let uids = self.names.entry(Arc::clone(name)).or_default();
        let place = uids.partition_point(|other| created(other) <= created(&uid));
        uids.insert(place, uid);
    }

    fn remove(
        &mut self,
        uid: PodUid,
        outcome: NodeOutcome,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        let Some(mut node) = self.known.remove(&uid) else {
            return;
        };
        self.starting.remove(&(node.age_from(), uid));
        node.end(outcome, emit);
        emit(NodeObservation::PoolLeft(&node.labels.pool));
        if let Some(uids) = self.names.get_mut(&node.name) {
            uids.retain(|other| *other != uid);
            if uids.is_empty() {
                self.names.remove(&node.name);
            }
        }
    }

    fn remove_absent(
        &mut self,
        listed: &HashSet<PodUid>,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        let known = self.known.keys().copied();
        let absent: BTreeSet<PodUid> = known.filter(|uid| !listed.contains(uid)).collect();
        for uid in absent {
            self.remove(uid, NodeOutcome::Vanished, emit);
        }
    }

    pub(super) fn drop_old_tombstones(&mut self, now: Timestamp) {
        while let Some((at, uid)) = self.tombstones.front().copied()
            && (now.nanos_since(at) > TOMBSTONE_NANOS || self.tombstones.len() > MOST_NODES)
        {
            self.tombstones.pop_front();
            self.deleted.remove(&uid);
        }
    }

    /// Advances to `now`: drops old tombstones and reports late nodes.
    pub(super) fn advance(&mut self, now: Timestamp, emit: &mut impl FnMut(NodeObservation<'_>)) {
        if self.is_quiet() {
            return;
        }
        // Nodes are created at whole seconds, so that one becomes late just after one.
        let second = self.late_at.truncate_to_second();
        if now.truncate_to_second() != second || (self.late_at == second && now != second) {
            self.report_late(now, emit);
        }
    }

    /// Whether no node is starting or late.
    pub(super) fn is_quiet(&self) -> bool {
        self.starting.is_empty() && self.late == 0
    }

    /// Reports how many starting nodes are late at `now`, where that has changed.
    fn report_late(&mut self, now: Timestamp, emit: &mut impl FnMut(NodeObservation<'_>)) {
        self.late_at = now;
        let is_late = |since: &Timestamp| now.nanos_since(*since) > LATE_NANOS;
        let late = self.starting.iter().take_while(|(since, _)| is_late(since));
        let late = late.count() as u64;
        if std::mem::replace(&mut self.late, late) != late {
            emit(NodeObservation::Late(late));
        }
    }

    /// A pod on the node `name` has become Ready at `ready`, and no DaemonSet controls it
    /// ([§14.7](crate::specification#s14-7)).
    pub(super) fn pod_became_ready(
        &mut self,
        name: &str,
        ready: Option<Timestamp>,
        emit: &mut impl FnMut(NodeObservation<'_>),
    ) {
        let newest = self.names.get(name).and_then(|uids| uids.last());
        if let Some(node) = newest.and_then(|uid| self.known.get_mut(uid)) {
            node.judge(NodeStep::FirstPod, ready, emit);
        }
    }

    /// Goes on as the shard `after`. Starting nodes that are no longer its own end as vanished.
    pub(super) fn reshard(&mut self, after: Shard, emit: &mut impl FnMut(NodeObservation<'_>)) {
        self.shard = Some(after);
        for (uid, node) in &mut self.known {
            if !after.contains(*uid) {
                self.starting.remove(&(node.age_from(), *uid));
                node.disown(emit);
            }
        }
    }
}

#[cfg(test)]
mod tests;
