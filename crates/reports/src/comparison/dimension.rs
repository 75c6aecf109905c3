//! By what a difference is broken down ([§15.6](crate::specification#s15-6)).

use serde::Serialize;

use super::mix::untagged;
use super::row::Row;
use super::side::ComparedPod;
use podinit_core::node::NodeLabels;

/// By what a difference is broken down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    Node,
    /// The pool of the node, where nodes are known
    #[serde(rename = "nodepool")]
    Pool,
    /// The zone of the node, where nodes are known
    Zone,
    Image,
    Workload,
    Namespace,
}

impl Dimension {
    pub(super) const ALL: [Self; 6] =
        [Self::Node, Self::Pool, Self::Zone, Self::Image, Self::Workload, Self::Namespace];

    /// Whether its values are groups of nodes.
    pub(super) const fn is_of_nodes(self) -> bool {
        matches!(self, Self::Pool | Self::Zone)
    }

    /// Its name in the singular.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Pool => "pool",
            Self::Zone => "zone",
            Self::Image => "image",
            Self::Workload => "workload",
            Self::Namespace => "namespace",
        }
    }

    /// The values of a pod, each once. Those of an image have no tag, which a release changes.
    pub(super) fn values(self, pod: &ComparedPod) -> Vec<String> {
        match self {
            Self::Node => pod.node.iter().map(ToString::to_string).collect(),
            Self::Pool => stated(pod, |labels| &labels.pool),
            Self::Zone => stated(pod, |labels| &labels.zone),
            Self::Namespace => vec![pod.namespace.to_string()],
            Self::Workload => {
                (pod.workload.iter()).map(|one| format!("{}/{one}", pod.namespace)).collect()
            }
            Self::Image => {
                let images = pod.images.iter().map(|image| untagged(image).to_owned());
                let mut images: Vec<String> = images.collect();
                images.sort_unstable();
                images.dedup();
                images
            }
        }
    }
}

/// What the node of a pod states, where that is known.
fn stated(pod: &ComparedPod, of: fn(&NodeLabels) -> &str) -> Vec<String> {
    let value = pod.node_labels.as_deref().map_or("", of);
    match value {
        "" => Vec::new(),
        value => vec![value.to_owned()],
    }
}

/// A value of a dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    pub dimension: Dimension,
    pub value: String,
    /// The share of the difference in means that its pods account for
    pub share: f64,
    /// Its share of the observed pods after
    pub pods_after: f64,
    /// Fewer than 5 pods before had the value: its pods are compared with all pods before
    pub is_new: bool,
    /// Its pods as a row; the p-value is corrected over all values of all dimensions
    #[serde(flatten)]
    pub row: Row,
}
