//! The clauses of [§14](crate::specification#s14) that can be got wrong, one method each. The methods' own
//! bodies are the specification; [`SpecNodes`] leaves all of them as they are.

use std::collections::BTreeMap;

use super::life::NodeLife;
use super::snapshot::NodeSnapshot;
use crate::oracle::instant::{Nanos, SECOND};
use crate::oracle::reading::Timestamps;

const STARTUP_TAINTS: [&str; 9] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "karpenter.sh/unregistered",
    "node.cluster.x-k8s.io/uninitialized",
    "node.cilium.io/agent-not-ready",
    "ebs.csi.aws.com/agent-not-ready",
    "efs.csi.aws.com/agent-not-ready",
];

/// [§14](crate::specification#s14), where nothing is overridden.
pub(crate) trait NodeRules {
    /// [§14.2](crate::specification#s14-2): "the value of the first of these labels that it has"
    fn pool_labels(&self) -> Vec<&'static str> {
        vec![
            "karpenter.sh/nodepool",
            "eks.amazonaws.com/nodegroup",
            "cloud.google.com/gke-nodepool",
            "kubernetes.azure.com/agentpool",
            "kops.k8s.io/instancegroup",
        ]
    }

    /// [§14.2](crate::specification#s14-2): "`--node-pool-label` (if given)" comes first; "otherwise `_none`"
    fn pool(&self, labels: &BTreeMap<String, String>, asked: Option<&'static str>) -> String {
        let mut order = asked.into_iter().chain(self.pool_labels());
        let pool = order.find_map(|label| labels.get(label));
        pool.map_or_else(|| "_none".to_owned(), |pool| self.cut(pool))
    }

    /// [§14.2](crate::specification#s14-2): "a value is cut to 63 bytes"
    fn cut(&self, value: &str) -> String {
        value.chars().take(63).collect()
    }

    /// [§14.2](crate::specification#s14-2): "As a label, a value is that of the moment at which it is first known"
    fn labels_are_latched(&self) -> bool {
        true
    }

    /// [§14.1](crate::specification#s14-1): "a pod's node is the newest of that name": which of these that are
    /// known. "the one that was created last, and among those of the same second the one that was delivered last": first,
    /// for it has been known for the shortest time
    fn newest(&self, named: &[(&NodeLife, (usize, usize))]) -> Option<usize> {
        let age = |place: &usize| {
            let (life, delivered) = named[*place];
            (life.created().map(second), delivered)
        };
        (0..named.len()).max_by_key(age)
    }

    /// [§14.3](crate::specification#s14-3): "`new` if its node was created in a later second than the pod"
    fn capacity(&self, pod: Option<Nanos>, node: Option<Nanos>) -> &'static str {
        match (pod, node) {
            (Some(pod), Some(node)) if second(node) > second(pod) => "new",
            (Some(_), Some(_)) => "existing",
            _ => "unknown",
        }
    }

    /// [§14.3](crate::specification#s14-3): "Pods that are adopted with Scheduled reached are `unknown`"
    fn capacity_of_adopted_is_unknown(&self) -> bool {
        true
    }

    /// [§14.4](crate::specification#s14-4), by what the pull of each container came to
    fn images(&self, pulls: &[Option<&'static str>]) -> &'static str {
        if pulls.contains(&Some("pulled")) {
            "pulled"
        } else if pulls.iter().all(|pull| *pull == Some("present")) {
            "present"
        } else {
            "unknown"
        }
    }

    /// [§14.6](crate::specification#s14-6): "pods that were `unschedulable` and whose capacity is `new`"
    fn waited(&self, unschedulable: bool, capacity: &'static str) -> bool {
        unschedulable && capacity == "new"
    }

    /// [§14.6](crate::specification#s14-6): "Created (Ungated for pods seen with gates)"
    fn waits_from_ungated(&self, gated: bool) -> bool {
        gated
    }

    /// [§14.6](crate::specification#s14-6): "by what was delivered"
    fn is_ready_by_then(&self, delivered: usize, scheduled: usize) -> bool {
        delivered < scheduled
    }

    /// [§14.6](crate::specification#s14-6), [§14.7](crate::specification#s14-7): "first Ready=True": which of the
    /// snapshots that show it
    fn first_ready(&self, showing: &[usize]) -> Option<usize> {
        showing.first().copied()
    }

    /// [§14.7](crate::specification#s14-7): startup taints
    fn is_startup_taint(&self, key: &str) -> bool {
        STARTUP_TAINTS.contains(&key)
            || key.starts_with("readiness.k8s.io/")
            || key.starts_with("startup-taint.cluster-autoscaler.kubernetes.io/")
    }

    /// [§14.7](crate::specification#s14-7): "Ready, not `spec.unschedulable`, and has no startup taint"
    fn is_schedulable(&self, node: &NodeSnapshot) -> bool {
        let is_tainted = node.taints.iter().any(|key| self.is_startup_taint(key));
        node.is_ready && !node.is_cordoned && !is_tainted
    }

    /// [§14.7](crate::specification#s14-7): "its arrival (`o`, unknown in a list, cut to the second in `api` mode)"
    fn arrival(&self, o: Option<Nanos>, timestamps: Timestamps) -> Option<Nanos> {
        match timestamps {
            Timestamps::Api => o.map(|o| second(o) * SECOND),
            Timestamps::Fused => o,
        }
    }

    /// [§14.7](crate::specification#s14-7): "the later of its arrival […] and the time of the first Ready=True"
    fn schedulable_at(&self, arrival: Option<Nanos>, ready: Option<Nanos>) -> Option<Nanos> {
        Some(arrival?.max(ready?))
    }

    /// [§14.7](crate::specification#s14-7): "whose controller is no DaemonSet"
    fn may_be_first_pod(&self, controller_kind: &str) -> bool {
        controller_kind != "DaemonSet"
    }

    /// [§14.7](crate::specification#s14-7): "in the order of delivery": which of the ready pods, by the times
    /// of their Ready in that order
    fn first_pod(&self, ready: &[Option<Nanos>]) -> Option<usize> {
        (!ready.is_empty()).then_some(0)
    }

    /// [§14.7](crate::specification#s14-7): "a node of the first list that is Ready, or one that was created more
    /// than 30 s before the list or event (`o`) in which it first appears, is `preexisting`"
    fn is_preexisting(&self, life: &NodeLife) -> bool {
        let node = &life.folded[0].node;
        let is_old = node
            .created
            .zip(life.appeared)
            .is_some_and(|(created, appeared)| created < appeared - 30 * SECOND);
        (life.in_first_list && node.is_ready) || is_old
    }

    /// [§14.7](crate::specification#s14-7): "with the outcomes `ready` (schedulable was reached)": which of the
    /// snapshots that show it
    fn ending(&self, schedulable: &[usize]) -> Option<usize> {
        schedulable.first().copied()
    }

    /// [§5.1](crate::specification#s5-1), of nodes
    fn is_older(&self, version: Option<u64>, newest: Option<u64>) -> bool {
        matches!((version, newest), (Some(version), Some(newest)) if version < newest)
    }

    /// [§5.1](crate::specification#s5-1), of nodes
    fn remembers_deleted(&self, deleted: Nanos, now: Nanos) -> bool {
        now <= deleted + 600 * SECOND
    }

    /// [§14.1](crate::specification#s14-1): "A node that was deleted, or is absent from a list, is not known any more"
    fn forgets_absent(&self) -> bool {
        true
    }

    /// [§5.1](crate::specification#s5-1), of nodes: the object of a DELETED event is the last snapshot
    fn folds_deleted(&self) -> bool {
        true
    }

    /// [§14.1](crate::specification#s14-1): "A node is its UID"
    fn identity(&self, node: &NodeSnapshot) -> String {
        node.uid.clone()
    }

    /// [§14.1](crate::specification#s14-1): "In a `List` of both, nodes come first."
    fn nodes_come_first(&self) -> bool {
        true
    }
}

/// The second in which an instant lies.
pub(crate) fn second(instant: Nanos) -> Nanos {
    instant.div_euclid(SECOND)
}

/// [§14](crate::specification#s14) as the specification states it.
pub(crate) struct SpecNodes;

impl NodeRules for SpecNodes {}
