//! The kinds of life of simulated pods, and how frequent each is.

use super::rng::Rng;

/// The kinds of life. Together they contain every hazard of the specification
/// ([§1](crate::specification#s1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifeKind {
    /// A Deployment's pod: scheduled, pulled, started, ready
    Plain,
    /// The same with init containers
    InitContainers,
    /// The same with a restartable init container (a sidecar)
    Sidecar,
    /// A DaemonSet's pod on the host network
    HostNetwork,
    /// Created with a scheduling gate that is lifted after a while
    Gated,
    /// No node fits at first
    Unschedulable,
    /// Waits for a readiness gate after its containers are ready
    ReadinessGate,
    /// A job of less than a second: never seen Ready
    QuickJob,
    /// A job that is Ready while it runs
    Job,
    /// A job that fails at once
    FailingJob,
    /// One after the other under one name, as some operators run their jobs
    ReusedName,
    /// A StatefulSet's pod, re-created under its name with a new UID
    StatefulSet,
    /// Ready, not ready, and ready again; or its node is lost for a while
    ReadinessFlap,
    /// The sandbox dies and everything starts over on the same UID
    SandboxRecreated,
    /// The container is restarted in place
    Restarted,
    /// Crashes again and again, and is never ready
    CrashLoop,
    /// The same of a bad release, which nobody takes back: see [`super::scene::Scene::CrashLoop`]
    BadRelease,
    /// The image cannot be pulled
    ImagePullStuck,
    /// The sandbox cannot be made (`FailedCreatePodSandBox`)
    SandboxStuck,
    /// Deleted at some point before it was ready
    DeletedEarly,
    /// Preempted or evicted before it was ready
    Disrupted,
    /// Its resources are changed in place after it was ready
    Resized,
    /// The mirror of a static pod
    Static,
    /// Created with `spec.nodeName`
    PresetNode,
    /// Bound, but `PodScheduled` stays False (k/k#139602)
    ScheduledStaysFalse,
    /// Ready while the network condition is still False
    ReadyBeforeNetwork,
    /// Image cached, no probe: everything in one write
    Coalesced,
    /// On a node whose clock is ahead
    ClockAhead,
    /// On a node whose clock is most of a second behind
    ClockSlightlyBehind,
    /// On a node whose clock is seconds behind
    ClockFarBehind,
    /// On a node whose kubelet has no network condition
    WithoutCondition,
    /// On a node whose kubelet computes the network condition at its next sync
    NextSync,
    /// Ran before its node's kubelet learnt of the network condition
    UpgradedKubelet,
}

impl LifeKind {
    /// Every kind with its weight. So few never start that a healthy cluster keeps its objectives. The
    /// weights of those that follow from a node are small: the
    /// nodes that [`super::node::choose`] draws add to them.
    pub const WEIGHTS: [(Self, u64); 33] = [
        (Self::Plain, 400),
        (Self::InitContainers, 90),
        (Self::Sidecar, 60),
        (Self::HostNetwork, 40),
        (Self::Gated, 20),
        (Self::Unschedulable, 25),
        (Self::ReadinessGate, 30),
        (Self::QuickJob, 80),
        (Self::Job, 50),
        (Self::FailingJob, 25),
        (Self::ReusedName, 10),
        (Self::StatefulSet, 25),
        (Self::ReadinessFlap, 25),
        (Self::SandboxRecreated, 12),
        (Self::Restarted, 20),
        (Self::CrashLoop, 2),
        (Self::BadRelease, 0),
        (Self::ImagePullStuck, 1),
        (Self::SandboxStuck, 1),
        (Self::DeletedEarly, 25),
        (Self::Disrupted, 6),
        (Self::Resized, 10),
        (Self::Static, 4),
        (Self::PresetNode, 6),
        (Self::ScheduledStaysFalse, 2),
        (Self::ReadyBeforeNetwork, 3),
        (Self::Coalesced, 30),
        (Self::ClockAhead, 2),
        (Self::ClockSlightlyBehind, 4),
        (Self::ClockFarBehind, 2),
        (Self::WithoutCondition, 4),
        (Self::NextSync, 10),
        (Self::UpgradedKubelet, 1),
    ];

    /// Every kind that comes by itself.
    pub fn all() -> impl Iterator<Item = Self> {
        (Self::WEIGHTS.into_iter())
            .filter(|(_, weight)| *weight > 0)
            .map(|(kind, _)| kind)
    }

    /// A kind, in proportion to the weights.
    pub fn choose(rng: &mut Rng) -> Self {
        let total = Self::WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut left = rng.below(total);
        for (kind, weight) in Self::WEIGHTS {
            if left < weight {
                return kind;
            }
            left -= weight;
        }
        Self::Plain
    }
}

/// How fast a life goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeSpeed {
    /// As in a real cluster
    Usual,
    /// A tenth of it, for the first seconds of a demonstration
    Brisk,
}

impl LifeSpeed {
    /// What every latency is divided by.
    pub const fn divisor(self) -> i64 {
        match self {
            Self::Usual => 1,
            Self::Brisk => 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_drawn_and_plain_pods_are_the_largest_group() {
        let mut rng = Rng::new(1);
        let drawn: Vec<LifeKind> = (0..20_000).map(|_| LifeKind::choose(&mut rng)).collect();
        let count = |kind| drawn.iter().filter(|drawn| **drawn == kind).count();
        assert!(LifeKind::all().all(|kind| count(kind) > 0));
        assert!(LifeKind::all().all(|kind| count(kind) <= count(LifeKind::Plain)));
    }
}
