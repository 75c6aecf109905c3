//! Why the scheduler finds no node for a pod, in its own words.

use super::node::NODES;

/// Why no node takes a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoNode {
    /// All are full
    Resources,
    /// The rest of its pod group does not fit (1.37, gang scheduling)
    Gang,
}

impl NoNode {
    /// The message of the condition `PodScheduled` and of the Event `FailedScheduling`.
    pub fn message(self) -> String {
        match self {
            Self::Resources => format!(
                "0/{NODES} nodes are available: {NODES} Insufficient cpu. preemption: 0/{NODES} \
                 nodes are available: {NODES} No preemption victims found for incoming pod."
            ),
            Self::Gang => "pod group is unschedulable, minCount (8) cannot be satisfied: \
                           0 scheduled, 3 remaining"
                .to_owned(),
        }
    }
}
