//! Nodes that do not become schedulable ([§14.9](crate::specification#s14-9)): which, for how long, and what holds
//! them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::KnownNodes;
use crate::lifecycle::judgement::Latency;
use crate::node::{NodeLabels, NodeSnapshot};
use crate::quantile::nearest_rank;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A node that was created longer than this before it first appears may have been in service before.
const IN_SERVICE_NANOS: i64 = 3_600 * NANOS_PER_SECOND;
/// The lowest limit.
const LEAST_LIMIT_NANOS: i64 = 180 * NANOS_PER_SECOND;
/// The limit where too few nodes have become schedulable.
const UNKNOWN_LIMIT_NANOS: i64 = 300 * NANOS_PER_SECOND;
/// How many of the newest schedulable nodes set the limit.
const MOST_STARTUPS: usize = 1_000;
/// How many nodes of a pool are enough for a limit.
const ENOUGH_OF_POOL: usize = 5;
/// How many nodes of all pools are enough for a limit.
const ENOUGH_OF_ALL: usize = 20;

/// A node that has been starting for longer than its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateNode {
    pub name: Arc<str>,
    /// What its newest version states, its pool among it
    pub labels: Arc<NodeLabels>,
    /// When it was created, as it states
    pub created: Timestamp,
    /// What holds it
    pub hold: NodeHold,
}

/// What keeps pods from a node that starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeHold {
    /// Its condition Ready is True
    pub is_ready: bool,
    /// The keys of its startup taints, in their order
    pub taints: Vec<Arc<str>>,
}

impl NodeHold {
    /// What keeps pods from the node of `snapshot`; `None` if it is schedulable or cordoned.
    fn from_snapshot(snapshot: &NodeSnapshot) -> Option<Self> {
        let holds = !snapshot.is_schedulable() && !snapshot.unschedulable;
        holds.then(|| Self {
            is_ready: snapshot.holding_ready().is_some(),
            taints: snapshot.startup_taints.clone(),
        })
    }

    /// The taint that best explains the wait; `None` if the node is only not Ready. Kubernetes itself repeats in taints
    /// that a node is not Ready.
    pub fn taint(&self) -> Option<&Arc<str>> {
        let is_own = |taint: &&Arc<str>| !taint.starts_with("node.kubernetes.io/");
        let own = self.taints.iter().find(is_own);
        own.or_else(|| self.taints.first().filter(|_| self.is_ready))
    }
}

/// How far the startup of a node has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeService {
    /// It has been schedulable, or may have been before it was seen
    has_served: bool,
    /// What holds it, as its newest version says
    hold: Option<NodeHold>,
}

impl NodeService {
    /// A node that was created at `created` and first appears at `appears`, before its first version is folded.
    pub(super) fn new(created: Option<Timestamp>, appears: Timestamp) -> Self {
        let is_old = |created| appears.nanos_since(created) > IN_SERVICE_NANOS;
        Self { has_served: created.is_none_or(is_old), hold: None }
    }

    /// A node of a checkpoint. Its next version shows what holds it.
    pub(super) const fn restored(has_served: bool) -> Self {
        Self { has_served, hold: None }
    }

    pub(super) const fn has_served(&self) -> bool {
        self.has_served
    }

    pub(super) fn fold(&mut self, snapshot: &NodeSnapshot) {
        self.has_served |= snapshot.is_schedulable();
        self.hold = NodeHold::from_snapshot(snapshot).filter(|_| !self.has_served);
    }
}

/// How long the newest nodes took until they were schedulable, in nanoseconds, each with its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Startups(VecDeque<(Box<str>, u64)>);

impl Startups {
    pub(super) fn add(&mut self, pool: &str, took: Latency) {
        if self.0.len() == MOST_STARTUPS {
            self.0.pop_front();
        }
        self.0.push_back((pool.into(), took.as_nanos()));
    }

    /// Whether there are at most [`MOST_STARTUPS`].
    pub(super) fn is_bounded(&self) -> bool {
        self.0.len() <= MOST_STARTUPS
    }

    /// How old a node of `pool` may be before it is late.
    fn limit(&self, pool: &str) -> i64 {
        let of_pool = self.0.iter().filter(|(other, _)| **other == *pool);
        let p90 = p90(of_pool, ENOUGH_OF_POOL).or_else(|| p90(self.0.iter(), ENOUGH_OF_ALL));
        p90.map_or(UNKNOWN_LIMIT_NANOS, |p90| p90.saturating_mul(3).max(LEAST_LIMIT_NANOS))
    }
}

/// The 90th percentile in nanoseconds; `None` of fewer than `enough`.
fn p90<'a>(startups: impl Iterator<Item = &'a (Box<str>, u64)>, enough: usize) -> Option<i64> {
    let mut took: Vec<u64> = startups.map(|(_, took)| *took).collect();
    took.sort_unstable();
    let p90 = nearest_rank(&took, 90).filter(|_| took.len() >= enough)?;
    Some(i64::try_from(p90).unwrap_or(i64::MAX))
}

impl KnownNodes {
    /// The nodes that are late to become schedulable at `now`, the oldest first.
    pub(in crate::lifecycle) fn late(&self, now: Timestamp) -> Vec<LateNode> {
        let mut limits: HashMap<&str, i64> = HashMap::new();
        let mut late = Vec::new();
        for node in self.known.values() {
            let (Some(hold), Some(created)) = (&node.service.hold, node.stated) else {
                continue;
            };
            let pool = &*node.labels.pool;
            let limit = *limits.entry(pool).or_insert_with(|| self.startups.limit(pool));
            if now.nanos_since(created) > limit {
                late.push(LateNode {
                    name: Arc::clone(&node.name),
                    labels: Arc::clone(&node.labels),
                    created,
                    hold: hold.clone(),
                });
            }
        }
        late.sort_unstable_by(|one, other| {
            (one.created, &one.name).cmp(&(other.created, &other.name))
        });
        late
    }
}
