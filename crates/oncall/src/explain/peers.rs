//! The pods that wait for the same.

use std::collections::BTreeMap;

use serde::Serialize;

use podinit_core::lifecycle::WaitReason;
use podinit_core::pod::PodInfo;

/// How many pods are named.
const NAMED: usize = 5;
/// How many nodes are counted one by one.
const MOST_NODES: usize = 1_000;

/// The other pods in flight that wait in the same stage for the same cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Peers {
    pub stage: &'static str,
    pub cause: &'static str,
    pub pods: usize,
    /// Some of the pods, as `namespace/name`
    pub examples: Vec<String>,
    /// The node that has most of them, and how many
    pub node: Option<(String, usize)>,
    #[serde(skip)]
    by_node: BTreeMap<String, usize>,
}

impl Peers {
    /// No peers yet of a pod with this stage and cause.
    pub(crate) fn new(waiting: WaitReason) -> Self {
        Self {
            stage: waiting.stage().as_str(),
            cause: waiting.cause().as_str(),
            pods: 0,
            examples: Vec::new(),
            node: None,
            by_node: BTreeMap::new(),
        }
    }

    /// Counts another pod in flight, if it waits for the same.
    pub(crate) fn add(&mut self, waiting: WaitReason, pod: &PodInfo) {
        if (waiting.stage().as_str(), waiting.cause().as_str()) != (self.stage, self.cause) {
            return;
        }
        self.pods += 1;
        if self.examples.len() < NAMED {
            (self.examples).push(format!("{}/{}", pod.namespace, pod.name));
        }
        if let Some(node) = pod.node.as_deref()
            && (self.by_node.len() < MOST_NODES || self.by_node.contains_key(node))
        {
            let count = self.by_node.entry(node.to_owned()).or_default();
            *count += 1;
            if self.node.as_ref().is_none_or(|(_, most)| *count > *most) {
                self.node = Some((node.to_owned(), *count));
            }
        }
    }
}
