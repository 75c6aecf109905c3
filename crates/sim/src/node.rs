//! The nodes of the simulated cluster: each has a kubelet of some version, and a clock that is wrong
//! in its own way.

use super::rng::Rng;
use super::sim_clock::{MILLI, SECOND};

/// A kubelet's version, 1.`minor`: how it reports that a pod's sandbox and network are ready
/// ([§1](crate::specification#s1); KEP-3085).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KubeletMinor {
    /// The second number of its version
    pub minor: u8,
}

impl KubeletMinor {
    /// Knows no network condition.
    const V1_24: Self = Self { minor: 24 };
    /// Calls the condition `PodHasNetwork`.
    const V1_27: Self = Self { minor: 27 };
    /// Sets the condition late, and states no observed generation.
    const V1_33: Self = Self { minor: 33 };
    /// The last one that sets the condition late.
    const V1_35: Self = Self { minor: 35 };
    /// Sets the condition as soon as the sandbox is ready.
    pub(super) const V1_36: Self = Self { minor: 36 };
    /// Also says why the sandbox is not ready.
    pub(super) const V1_37: Self = Self { minor: 37 };

    /// The type of the condition that it reports.
    pub const fn network_condition(self) -> Option<&'static str> {
        match self.minor {
            0..=24 => None,
            25..=27 => Some("PodHasNetwork"),
            _ => Some("PodReadyToStartContainers"),
        }
    }

    /// Whether it sets the condition as soon as the sandbox is ready. Older ones compute it at the
    /// start of the next sync, so that an image pull delays it (k/k#134460).
    pub(super) const fn reports_sandbox_at_once(self) -> bool {
        self.minor >= 36
    }

    /// Whether it states why the condition is False (k/k#139602).
    pub(super) const fn explains_missing_sandbox(self) -> bool {
        self.minor >= 37
    }

    /// Whether it states the `observedGeneration` of what it reports.
    pub(super) const fn observes_generation(self) -> bool {
        self.minor >= 34
    }
}

/// The zone that the scene `zone-outage` breaks.
pub(super) const BROKEN_ZONE: &str = "example-1b";
const THIRD_ZONE: &str = "example-1c";

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedNode {
    /// `metadata.name`
    pub name: &'static str,
    /// Its kubelet
    pub kubelet: KubeletMinor,
    /// How far its clock is ahead of the API server's, in nanoseconds
    pub skew: i64,
    /// The last number of its address
    pub host: u8,
    /// How many images it pulls at a time; a kubelet's default is one
    pub(super) pulls_at_once: u8,
}

impl SimulatedNode {
    /// Whether an autoscaler adds it when a pod fits on no other.
    pub fn is_added(&self) -> bool {
        self.name.starts_with("node-s")
    }

    /// Its pool: the nodes of the third zone are in the second, the others in the first.
    pub fn pool(&self) -> &'static str {
        match self.zone() {
            THIRD_ZONE if !self.is_added() => "pool-b",
            _ => "pool-a",
        }
    }

    /// Its zone (`topology.kubernetes.io/zone`): the nodes `node-a*` are in the first, `node-b*` in the second,
    /// the others in the third.
    pub fn zone(&self) -> &'static str {
        let is_named = |prefix| self.name.starts_with(prefix);
        match () {
            () if is_named("node-a") => "example-1a",
            () if is_named("node-b") => BROKEN_ZONE,
            () => THIRD_ZONE,
        }
    }
}

/// A node with a clock that is right to a few milliseconds and a current kubelet.
pub const CURRENT: SimulatedNode =
    SimulatedNode { pulls_at_once: 5, ..node("node-a0", KubeletMinor::V1_37, 3 * MILLI, 10) };
/// A node whose kubelet computes the network condition at its next sync.
pub(super) const NEXT_SYNC: SimulatedNode = node("node-b0", KubeletMinor::V1_35, 12 * MILLI, 20);
/// A node whose clock is most of a second behind.
pub(super) const SLIGHTLY_BEHIND: SimulatedNode =
    node("node-b2", KubeletMinor::V1_36, -900 * MILLI, 22);
/// A node whose clock is some seconds behind.
pub(super) const FAR_BEHIND: SimulatedNode =
    node("node-e0", KubeletMinor::V1_36, -2_600 * MILLI, 50);
/// A node whose clock is ahead, with a kubelet that still says `PodHasNetwork`.
pub const AHEAD: SimulatedNode = node("node-c0", KubeletMinor::V1_27, SECOND + 800 * MILLI, 30);
/// A node whose kubelet knows no network condition.
pub(super) const WITHOUT_CONDITION: SimulatedNode =
    node("node-d0", KubeletMinor::V1_24, 5 * MILLI, 40);
/// A node whose kubelet is replaced, in place, by one that knows the network condition.
pub(super) const UPGRADED: SimulatedNode = node("node-u0", KubeletMinor::V1_24, -8 * MILLI, 60);

/// Every node with its weight: most are current and keep time, as in a real cluster. Few pods are on nodes
/// whose clocks are off by a second: a pod there is odd in several ways, and the alert on clocks fires at
/// one anomaly in ten pods.
const FLEET: &[(SimulatedNode, u64)] = &[
    (CURRENT, 280),
    (node("node-a1", KubeletMinor::V1_36, -40 * MILLI, 11), 220),
    (node("node-a2", KubeletMinor::V1_37, 30 * MILLI, 12), 120),
    (NEXT_SYNC, 200),
    (node("node-b1", KubeletMinor::V1_33, -120 * MILLI, 21), 125),
    (SLIGHTLY_BEHIND, 15),
    (AHEAD, 5),
    (WITHOUT_CONDITION, 25),
    (FAR_BEHIND, 5),
    (UPGRADED, 5),
];

/// How many nodes there are without those that an autoscaler adds.
pub const NODES: usize = FLEET.len();

/// The nodes that an autoscaler adds, and may add again under the same name.
const ADDED: [SimulatedNode; 6] = [
    node("node-s0", KubeletMinor::V1_37, 8 * MILLI, 70),
    node("node-s1", KubeletMinor::V1_37, -15 * MILLI, 71),
    node("node-s2", KubeletMinor::V1_37, 22 * MILLI, 72),
    node("node-s3", KubeletMinor::V1_37, -6 * MILLI, 73),
    node("node-s4", KubeletMinor::V1_37, 11 * MILLI, 74),
    node("node-s5", KubeletMinor::V1_37, -30 * MILLI, 75),
];

/// The node that an autoscaler adds for the pod `uid`.
pub(super) fn added_for(uid: &str) -> SimulatedNode {
    let sum: usize = uid.bytes().map(usize::from).sum();
    ADDED[sum % ADDED.len()]
}

const fn node(name: &'static str, kubelet: KubeletMinor, skew: i64, host: u8) -> SimulatedNode {
    SimulatedNode { name, kubelet, skew, host, pulls_at_once: 1 }
}

/// Every node.
pub(super) fn nodes() -> impl Iterator<Item = &'static SimulatedNode> {
    FLEET.iter().map(|(node, _)| node)
}

/// The node that a scheduler would choose.
pub fn choose(rng: &mut Rng) -> SimulatedNode {
    *rng.weighted(FLEET)
}
