//! Nodes that do not become schedulable ([§13.13](crate::specification#s13-13)): what holds them is a problem of the
//! pods that wait for them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::affected::is_old;
use super::found_pods::FoundPods;
use super::grouping;
use super::kind::ProblemKind;
use super::over_time::StatedAsIs;
use super::problem::FoundProblem;
use super::values::SharedValue;
use podinit_core::dimension::Dimension;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Cause, LateNode, Progress, Record, RecordedCapacity, Stage, taints_said,
};
use podinit_core::node::NO_POOL;
use podinit_core::timestamp::Timestamp;

/// So many nodes are named, the oldest.
const MOST_NAMED: usize = 3;

/// The nodes that a problem is about because they do not become schedulable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "late_nodes")]
pub struct FoundLateNodes {
    /// How many
    pub nodes: usize,
    /// How many of them what most of them wait for holds: `taint`, or that they are not Ready
    pub held: usize,
    /// The startup taint that they keep; left out where they are not Ready
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taint: Option<Arc<str>>,
    /// The label that names their pool, where that is what they share
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_label: Option<Box<str>>,
    /// When the first of them was created
    pub created: Timestamp,
    /// The oldest, at most three
    pub names: Vec<Arc<str>>,
}

/// The late nodes, and the places of the pods that wait for them.
#[derive(Debug, Default)]
pub(super) struct LateNodes {
    groups: Vec<LateNodeGroup>,
    /// By the key of a taint, and by the name of a node or a pool, the number of the group
    by_taint: HashMap<Arc<str>, usize>,
    by_name: HashMap<Arc<str>, usize>,
}

/// Nodes that are one problem.
#[derive(Debug)]
struct LateNodeGroup {
    shared: SharedValue,
    nodes: FoundLateNodes,
    /// The pods, each with the time since which it is affected
    pods: Vec<(Timestamp, u32)>,
}

impl LateNodes {
    /// These nodes, the oldest first. No pod is known yet.
    pub(super) fn new(nodes: &[LateNode]) -> Self {
        let mut by_hold: BTreeMap<Option<&Arc<str>>, Vec<&LateNode>> = BTreeMap::new();
        for node in nodes {
            by_hold.entry(node.hold.taint()).or_default().push(node);
        }
        let mut by_place: BTreeMap<Option<(&str, Arc<str>)>, Vec<_>> = BTreeMap::new();
        for (taint, held) in by_hold {
            let shared = shared(&held);
            let place = shared.map(|(dimension, value)| (dimension.as_str(), value));
            by_place.entry(place).or_default().push((taint, held));
        }
        let mut found = Self::default();
        let mut groups: Vec<_> = by_place.into_values().collect();
        // What two groups have in common is of the one with more nodes.
        groups
            .sort_by_key(|holds| Reverse(holds.iter().map(|(_, held)| held.len()).sum::<usize>()));
        groups.into_iter().for_each(|holds| found.push(holds));
        found
    }

    fn push(&mut self, mut holds: Vec<(Option<&Arc<str>>, Vec<&LateNode>)>) {
        holds.sort_by_key(|(_, held)| Reverse(held.len()));
        let most = holds.first().map(|(taint, held)| (taint.cloned(), held.len(), shared(held)));
        let mut nodes: Vec<&LateNode> = holds.into_iter().flat_map(|(_, held)| held).collect();
        nodes.sort_unstable_by_key(|node| (node.created, &node.name));
        let (Some((taint, held, shared)), Some(oldest)) = (most, nodes.first()) else {
            return;
        };
        let number = self.groups.len();
        for node in &nodes {
            for taint in &node.hold.taints {
                self.by_taint.entry(Arc::clone(taint)).or_insert(number);
            }
            self.by_name.entry(Arc::clone(&node.name)).or_insert(number);
            if *node.labels.pool != *NO_POOL {
                self.by_name.entry((*node.labels.pool).into()).or_insert(number);
            }
        }
        let is_of_pool = matches!(shared, Some((Dimension::Nodepool, _)));
        let pool_label = oldest.labels.pool_label.as_ref().filter(|_| is_of_pool);
        let names = nodes.iter().take(MOST_NAMED).map(|node| Arc::clone(&node.name));
        let nodes = FoundLateNodes {
            nodes: nodes.len(),
            held,
            taint,
            pool_label: pool_label.cloned(),
            created: oldest.created,
            names: names.collect(),
        };
        self.groups.push(LateNodeGroup { shared, nodes, pods: Vec::new() });
    }

    /// Takes the pod in flight at `place`, affected by `cause` since then, if it waits for these nodes.
    pub(super) fn take(
        &mut self,
        place: u32,
        record: &Record,
        cause: Cause,
        since: Timestamp,
    ) -> bool {
        let group = self.group_of(record, cause);
        let group = group.and_then(|number| self.groups.get_mut(number));
        group.map(|group| group.pods.push((since, place))).is_some()
    }

    /// The group of nodes for which the pod waits, as far as that is said.
    fn group_of(&self, record: &Record, cause: Cause) -> Option<usize> {
        let Progress::InFlight { waiting, .. } = record.progress else {
            return None;
        };
        let may_wait = waiting.stage() == Stage::Unschedulable
            && matches!(cause, Cause::Resources | Cause::Taint);
        if !may_wait || self.groups.is_empty() {
            return None;
        }
        let said = || taints_said(record.message.as_deref().unwrap_or_default());
        let named = said().flatten().find_map(|taint| self.by_taint.get(taint));
        let by_autoscaler = || {
            let names_none = said().any(|taint| taint.is_none());
            let capacity = record.unschedulable.as_ref().filter(|_| names_none)?;
            self.group_added(capacity)
        };
        named.copied().or_else(by_autoscaler)
    }

    /// The group of which an autoscaler names a node, or the pool, when it says that nodes come.
    fn group_added(&self, capacity: &RecordedCapacity) -> Option<usize> {
        let adds = matches!(capacity.state, CapacityState::ScalingUp | CapacityState::Nominated);
        let message = capacity.message.as_deref().filter(|_| adds)?;
        let is_of_name = |one: char| one.is_ascii_alphanumeric() || "-._".contains(one);
        let mut words = message.split(|one: char| !is_of_name(one));
        words.find_map(|word| self.by_name.get(word).copied())
    }

    /// The problems, each with its pods, those that have waited longest first.
    pub(super) fn into_problems(self, found: &FoundPods, now: Timestamp) -> Vec<StatedAsIs> {
        let with_pods = self.groups.into_iter().filter(|group| !group.pods.is_empty());
        let problems = with_pods.map(|LateNodeGroup { shared, nodes, mut pods }| {
            pods.sort_unstable_by_key(|(since, place)| (*since, found.uid(*place)));
            let old = pods.partition_point(|(since, _)| is_old(*since, now));
            let is_still = pods.len() == 1 || grouping::stands_still(old, pods.len() - old);
            let places: Vec<u32> = pods.into_iter().map(|(_, place)| place).collect();
            let key = (Cause::NodeStartup, shared);
            let problem =
                FoundProblem::of_places(key, nodes.created, places.iter().copied(), found);
            StatedAsIs {
                is_still,
                problem: FoundProblem { kind: ProblemKind::LateNodes(nodes), ..problem },
                places,
            }
        });
        problems.collect()
    }
}

/// What these nodes have in common: their pool, or which node it is.
fn shared(nodes: &[&LateNode]) -> SharedValue {
    let pools: BTreeSet<&str> = nodes.iter().map(|node| &*node.labels.pool).collect();
    match (nodes, pools.first()) {
        ([node], Some(&NO_POOL)) => Some((Dimension::Node, Arc::clone(&node.name))),
        (_, Some(&pool)) if pools.len() == 1 => Some((Dimension::Nodepool, pool.into())),
        _ => None,
    }
}
