//! The nodes of the simulated cluster: each has a kubelet of some age, and a clock that is wrong
//! in its own way.

use super::rng::Rng;
use super::sim_clock::{MILLI, SECOND};

/// How a kubelet reports that a pod's sandbox and network are ready ([§1](crate::specification#s1);
/// KEP-3085).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kubelet {
    /// Knows no such condition (before 1.25, or the feature gate is off)
    WithoutCondition,
    /// 1.25 to 1.27: `PodHasNetwork`, computed at the start of the next sync
    PodHasNetwork,
    /// 1.28 to 1.35: `PodReadyToStartContainers`, computed at the start of the next sync, so that
    /// an image pull delays it (k/k#134460)
    NextSync,
    /// 1.36: `PodReadyToStartContainers`, set as soon as the sandbox is ready
    AtOnce,
}

impl Kubelet {
    /// The type of the condition that it reports.
    pub const fn network_condition(self) -> Option<&'static str> {
        match self {
            Self::WithoutCondition => None,
            Self::PodHasNetwork => Some("PodHasNetwork"),
            Self::NextSync | Self::AtOnce => Some("PodReadyToStartContainers"),
        }
    }

    /// Whether it states the `observedGeneration` of what it reports.
    pub const fn observes_generation(self) -> bool {
        matches!(self, Self::AtOnce)
    }
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// `metadata.name`
    pub name: &'static str,
    /// Its kubelet
    pub kubelet: Kubelet,
    /// How far its clock is ahead of the API server's, in nanoseconds
    pub skew: i64,
    /// The last number of its address
    pub host: u8,
}

/// A node with a clock that is right to a few milliseconds and a current kubelet.
pub const CURRENT: Node = node("node-a0", Kubelet::AtOnce, 3 * MILLI, 10);
/// A node whose kubelet computes the network condition at its next sync.
pub const NEXT_SYNC: Node = node("node-b0", Kubelet::NextSync, 12 * MILLI, 20);
/// A node whose clock is most of a second behind.
pub const SLIGHTLY_BEHIND: Node = node("node-b2", Kubelet::AtOnce, -900 * MILLI, 22);
/// A node whose clock is some seconds behind.
pub const FAR_BEHIND: Node = node("node-e0", Kubelet::AtOnce, -2_600 * MILLI, 50);
/// A node whose clock is ahead, with a kubelet that still says `PodHasNetwork`.
pub const AHEAD: Node = node("node-c0", Kubelet::PodHasNetwork, SECOND + 800 * MILLI, 30);
/// A node whose kubelet knows no network condition.
pub const WITHOUT_CONDITION: Node = node("node-d0", Kubelet::WithoutCondition, 5 * MILLI, 40);
/// A node whose kubelet is replaced, in place, by one that knows the network condition.
pub const UPGRADED: Node = node("node-u0", Kubelet::WithoutCondition, -8 * MILLI, 60);

/// Every node with its weight: most are current and keep time, as in a real cluster.
const FLEET: &[(Node, u64)] = &[
    (CURRENT, 26),
    (node("node-a1", Kubelet::AtOnce, -40 * MILLI, 11), 20),
    (node("node-a2", Kubelet::AtOnce, 250 * MILLI, 12), 10),
    (NEXT_SYNC, 18),
    (node("node-b1", Kubelet::NextSync, -120 * MILLI, 21), 12),
    (SLIGHTLY_BEHIND, 4),
    (AHEAD, 4),
    (WITHOUT_CONDITION, 3),
    (FAR_BEHIND, 2),
    (UPGRADED, 1),
];

const fn node(name: &'static str, kubelet: Kubelet, skew: i64, host: u8) -> Node {
    Node {
        name,
        kubelet,
        skew,
        host,
    }
}

/// The node that a scheduler would choose.
pub fn choose(rng: &mut Rng) -> Node {
    let total = FLEET.iter().map(|(_, weight)| weight).sum();
    let mut left = rng.below(total);
    for (node, weight) in FLEET {
        if left < *weight {
            return *node;
        }
        left -= weight;
    }
    CURRENT
}
