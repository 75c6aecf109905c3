//! The labels of nodes that classify their pods ([§14.2](crate::specification#s14-2)).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::documents::serialize_what_is_known;
use crate::pod::text;

/// The pool of a node that has none of the labels that name one ([§14.2](crate::specification#s14-2)).
pub const NO_POOL: &str = "_none";

/// The labels that name the pool of a node, the first that a node has counts. One that the user has
/// chosen comes before them.
pub const POOL_LABELS: [&str; 5] = [
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "kops.k8s.io/instancegroup",
];

/// The label of a node's zone.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// The label of its instance type.
pub const INSTANCE_TYPE_LABEL: &str = "node.kubernetes.io/instance-type";
/// The label of its processor's architecture.
pub const ARCH_LABEL: &str = "kubernetes.io/arch";
/// The label that says whether it may be taken back, such as `spot`.
pub const CAPACITY_TYPE_LABEL: &str = "karpenter.sh/capacity-type";

/// A text of a node is cut to this many bytes, as many as a label's value can have.
const MOST_BYTES: usize = 63;

/// The first minor version of a kubelet that sets the network condition before it pulls images
/// ([§14.8](crate::specification#s14-8)).
const FIRST_EXACT: (u32, u32) = (1, 36);

/// What pods are told apart by that their node states. A text that the node does not state is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[schemars(rename = "node")]
pub struct NodeLabels {
    /// The value of the first of the labels that name a pool; `_none` for a node without a pool
    pub pool: Box<str>,
    /// The label that names the pool; `None` where it is not known. No document has it
    #[serde(skip)]
    pub pool_label: Option<Box<str>>,
    /// `topology.kubernetes.io/zone`
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub zone: Box<str>,
    /// `node.kubernetes.io/instance-type`
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub instance_type: Box<str>,
    /// `kubernetes.io/arch`
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub arch: Box<str>,
    /// `karpenter.sh/capacity-type`
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub capacity_type: Box<str>,
    /// `status.nodeInfo.kubeletVersion`
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub kubelet_version: Box<str>,
}

serialize_what_is_known!(
    NodeLabels: pool as "pool", zone as "zone", instance_type as "instance_type", arch as "arch",
    capacity_type as "capacity_type", kubelet_version as "kubelet_version"
);

impl Default for NodeLabels {
    fn default() -> Self {
        let empty = Box::<str>::default;
        Self {
            pool: NO_POOL.into(),
            pool_label: None,
            zone: empty(),
            instance_type: empty(),
            arch: empty(),
            capacity_type: empty(),
            kubelet_version: empty(),
        }
    }
}

impl NodeLabels {
    /// The value, cut to 63 bytes.
    pub fn value(text: &str) -> Box<str> {
        text::cut(text, MOST_BYTES).into()
    }

    /// Whether the kubelet sets the network condition before it pulls images, so that its time is exact.
    pub(crate) fn has_exact_network_times(&self) -> bool {
        let version = self.kubelet_version.strip_prefix('v').unwrap_or(&self.kubelet_version);
        let mut numbers = version.split(|character: char| !character.is_ascii_digit());
        let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
        next().zip(next()).is_some_and(|version| version >= FIRST_EXACT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubelets_from_1_36_on_have_exact_network_times() {
        let exact = |version: &str| {
            NodeLabels { kubelet_version: version.into(), ..NodeLabels::default() }
                .has_exact_network_times()
        };
        for version in
            ["v1.36.0", "v1.36.2", "1.37.1", "v1.40.0-gke.1100", "v2.0.0", "v1.36.0-rc.1"]
        {
            assert!(exact(version), "{version}");
        }
        for version in ["", "v1.35.9", "v1.4.0", "v1", "v1.x", "fake", "v0.99.0"] {
            assert!(!exact(version), "{version}");
        }
    }
}
