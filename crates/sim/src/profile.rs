//! The kinds of life of simulated pods, and how frequent each is.

use super::rng::Rng;

/// Declares each kind of life with its weight.
macro_rules! kinds_of_life {
    ($($(#[$doc:meta])* $kind:ident = $weight:literal,)*) => {
        /// The kinds of life. Together they contain every hazard of the specification
        /// ([§1](crate::specification#s1)).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum LifeKind {
            $($(#[$doc])* $kind,)*
        }

        impl LifeKind {
            /// Every kind with its weight. So few never start that a healthy cluster keeps its objectives. The
            /// weights of those that follow from a node are small: the
            /// nodes that [`super::node::choose`] draws add to them.
            const WEIGHTS: &[(Self, u64)] = &[$((Self::$kind, $weight)),*];
        }
    };
}

kinds_of_life! {
    /// A Deployment's pod: scheduled, pulled, started, ready
    Plain = 350,
    /// The same of a model server, which says by a condition of its own that it has loaded its model
    ModelServer = 30,
    /// The same with init containers
    InitContainers = 90,
    /// The same with a restartable init container (a sidecar)
    Sidecar = 60,
    /// A DaemonSet's pod on the host network
    HostNetwork = 40,
    /// Created with a scheduling gate that is lifted after a while
    Gated = 40,
    /// No node fits at first
    Unschedulable = 25,
    /// Waits for a readiness gate after its containers are ready
    ReadinessGate = 30,
    /// A job of less than a second: never seen Ready
    QuickJob = 80,
    /// A job that is Ready while it runs
    Job = 50,
    /// A job that fails at once
    FailingJob = 25,
    /// One after the other under one name, as some operators run their jobs
    ReusedName = 10,
    /// A StatefulSet's pod, re-created under its name with a new UID
    StatefulSet = 25,
    /// Ready, not ready, and ready again; or its node is lost for a while
    ReadinessFlap = 25,
    /// The sandbox dies and everything starts over on the same UID
    SandboxRecreated = 12,
    /// The container ends once and is restarted in place
    Restarted = 20,
    /// Crashes again and again, and is never ready
    CrashLoop = 2,
    /// The same of a bad release, which nobody takes back: see [`super::scene::Scene::CrashLoop`]
    BadRelease = 0,
    /// Of a release whose image has a wrong tag: see [`super::scene::Scene::BadImage`]
    BadTag = 0,
    /// Rejected by the kubelet of its node: see [`super::scene::Scene::DevicePluginGone`]
    Rejected = 0,
    /// The image cannot be pulled
    ImagePullStuck = 1,
    /// The sandbox cannot be made (`FailedCreatePodSandBox`)
    SandboxStuck = 1,
    /// Deleted at some point before it was ready
    DeletedEarly = 25,
    /// Preempted or evicted before it was ready
    Disrupted = 6,
    /// Its resources are changed in place after it was ready
    Resized = 10,
    /// The mirror of a static pod
    Static = 4,
    /// Created with `spec.nodeName`
    PresetNode = 6,
    /// Bound, but `PodScheduled` stays False (k/k#139602)
    ScheduledStaysFalse = 2,
    /// Ready while the network condition is still False
    ReadyBeforeNetwork = 3,
    /// Image cached, no probe: everything in one write
    Coalesced = 30,
    /// On a node whose clock is ahead
    ClockAhead = 2,
    /// On a node whose clock is most of a second behind
    ClockSlightlyBehind = 4,
    /// On a node whose clock is seconds behind
    ClockFarBehind = 2,
    /// On a node whose kubelet has no network condition
    WithoutCondition = 4,
    /// On a node whose kubelet computes the network condition at its next sync
    NextSync = 10,
    /// Ran before its node's kubelet learnt of the network condition
    UpgradedKubelet = 1,
}

impl LifeKind {
    /// Every kind that comes by itself.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::WEIGHTS.iter().filter(|(_, weight)| *weight > 0).map(|(kind, _)| *kind)
    }

    /// Whether its pods never start, each for a reason of its own.
    pub const fn is_hopeless(self) -> bool {
        matches!(self, Self::CrashLoop | Self::ImagePullStuck | Self::SandboxStuck)
    }

    /// A kind, in proportion to the weights.
    pub fn choose(rng: &mut Rng) -> Self {
        *rng.weighted(Self::WEIGHTS)
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
    pub(super) const fn divisor(self) -> i64 {
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
