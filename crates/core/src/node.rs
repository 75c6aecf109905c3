//! What podinit needs to know of a node ([§14](crate::specification#s14)), as the Kubernetes API states it.

mod labels;

use std::sync::Arc;

pub use self::labels::{
    ARCH_LABEL, CAPACITY_TYPE_LABEL, INSTANCE_TYPE_LABEL, NO_POOL, NodeLabels, POOL_LABELS,
    ZONE_LABEL,
};
use crate::pod::{PodUid, StatusCondition, text};
use crate::reason;
use crate::timestamp::Timestamp;

/// The first so many startup taints of a node are kept.
pub const MOST_STARTUP_TAINTS: usize = 8;

/// One version of one node, reduced to what podinit needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSnapshot {
    /// `metadata.uid`
    pub uid: PodUid,
    /// `metadata.name`
    pub name: Arc<str>,
    /// `metadata.resourceVersion` as a decimal integer; `None` when it is missing or is none
    pub resource_version: Option<u64>,
    /// `metadata.creationTimestamp`; `None` when it is missing or absurd
    pub created: Option<Timestamp>,
    /// The latest API time anywhere in the node ([§4.1](crate::specification#s4-1): creationTimestamp and
    /// the lastTransitionTime of any condition)
    pub latest_api_time: Option<Timestamp>,
    /// The condition `Ready`, where it is there
    pub ready: Option<StatusCondition>,
    /// What the condition `Ready` says that is not True, at most 256 bytes of its beginning and end; `None` where it says
    /// nothing
    pub not_ready: Option<Box<str>>,
    /// `spec.unschedulable`
    pub unschedulable: bool,
    /// The keys of those of `spec.taints` that are there only until the node has started
    /// ([§14.7](crate::specification#s14-7)), in their order, at most [`MOST_STARTUP_TAINTS`]
    pub startup_taints: Vec<Arc<str>>,
    pub labels: NodeLabels,
    /// The NodeClaim of Karpenter that it was made for
    pub claimed_by: Option<Arc<str>>,
}

impl NodeSnapshot {
    /// A node with only its identity and name; a base for decoders and tests.
    pub fn bare(uid: PodUid, name: impl Into<Arc<str>>) -> Self {
        Self {
            uid,
            name: name.into(),
            resource_version: None,
            created: None,
            latest_api_time: None,
            ready: None,
            not_ready: None,
            unschedulable: false,
            startup_taints: Vec::new(),
            labels: NodeLabels::default(),
            claimed_by: None,
        }
    }

    /// What is kept of the message of the condition `Ready`.
    pub fn kept_message(message: &str) -> Option<Box<str>> {
        let kept = reason::keep(message, 256);
        (!kept.trim().is_empty()).then(|| kept.into())
    }

    /// The condition `Ready`, if it is True.
    pub fn holding_ready(&self) -> Option<StatusCondition> {
        self.ready.filter(|condition| condition.is_true())
    }

    /// Whether pods can be bound to it ([§14.7](crate::specification#s14-7)).
    pub fn is_schedulable(&self) -> bool {
        self.holding_ready().is_some() && !self.unschedulable && self.startup_taints.is_empty()
    }
}

/// The key of a taint, cut to more bytes than Kubernetes allows.
pub fn taint_key(key: &str) -> Arc<str> {
    text::cut(key, 320).into()
}

/// Whether a taint with this key is there only until a node has started
/// ([§14.7](crate::specification#s14-7)).
pub fn is_startup_taint(key: &str) -> bool {
    const KEYS: [&str; 9] = [
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
    const PREFIXES: [&str; 2] =
        ["readiness.k8s.io/", "startup-taint.cluster-autoscaler.kubernetes.io/"];
    KEYS.contains(&key) || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_taints_are_those_of_the_specification() {
        for key in [
            "node.kubernetes.io/not-ready",
            "readiness.k8s.io/",
            "readiness.k8s.io/network",
            "startup-taint.cluster-autoscaler.kubernetes.io/gpu",
        ] {
            assert!(is_startup_taint(key), "{key}");
        }
        for key in
            ["", "node.kubernetes.io/unschedulable", "readiness.k8s.io", "x.readiness.k8s.io/a"]
        {
            assert!(!is_startup_taint(key), "{key}");
        }
    }
}
