//! What a demonstration breaks, and how that shows in the pods that start from then on.

use super::active::ActivePod;
use super::component_fault::{NoNode, SandboxFault, ScaleUp};
use super::container::{ContainerRef, KubeletReport};
use super::image::{DEFAULT_REGISTRY, OWN_REGISTRY, PullFault};
use super::life::{PodChange, PodLife};
use super::node::{BROKEN_ZONE, CURRENT, NEXT_SYNC};
use super::profile::LifeKind;
use super::rng::Rng;
use super::sim_clock::SECOND;

/// How long until somebody looks again whether a scheduling gate can go.
const GATE_RETRY: i64 = 30 * SECOND;
/// How long after a sandbox failed it is tried again.
const SANDBOX_RETRY: i64 = 12 * SECOND;
/// How long after the scheduler has found no node it looks again.
const SCHEDULING_RETRY: i64 = 30 * SECOND;
/// After so many of these an autoscaler says once more that it does not help.
const AUTOSCALER_REPEATS: u32 = 10;
/// How long after a failed pull the kubelet says that it backs off.
const SYNC_AFTER_FAILURE: i64 = 11 * SECOND;
/// The kubelet's back-off of pulls: the first one, and the longest.
const PULL_BACK_OFF: i64 = 10 * SECOND;
const LONGEST_PULL_BACK_OFF: i64 = 300 * SECOND;
/// How long after a container could not be created the kubelet tries again.
const CREATION_RETRY: i64 = 12 * SECOND;
/// The namespace that loses a secret.
const WITHOUT_SECRET: &str = "payments";
/// The share of new pods that belong to a rollout while it lasts.
const ROLLOUT_SHARE: f64 = 0.4;
/// The share of new pods that fit on no node while new nodes are slow.
const SURGE_SHARE: f64 = 0.1;

/// How far clocks are ahead in [`Scene::WrongClocks`].
const CLOCK_AHEAD: i64 = 120 * SECOND;
const CLOCK_BEHIND: i64 = -90 * SECOND;

/// One thing that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scene {
    /// The organization's registry refuses connections: images that are not on the node yet cannot be
    /// pulled
    RegistryDown,
    /// The network plugin does not answer on any node: no sandbox comes up
    CniOutage,
    /// The disk of one node is full: no sandbox comes up there
    BadNode,
    /// All nodes are full: no pod is bound
    NoCapacity,
    /// A release of which every container crashes is rolled out
    CrashLoop,
    /// Pods that have to be scheduled together do not fit together
    Gang,
    /// [`Self::RegistryDown`] and [`Self::BadNode`] at once
    TwoProblems,
    /// A release is rolled out whose image has a wrong tag
    BadImage,
    /// The network plugin does not answer on the nodes of one zone
    ZoneOutage,
    /// A secret that the main containers of one namespace need is not there
    SecretMissing,
    /// The network agent of new nodes does not start, so that they keep a startup taint
    SlowNodes,
    /// The device plugin of the nodes is gone: kubelets reject each pod of a release that needs its devices
    DevicePluginGone,
    /// The controller is gone that admits pods from their queue: nobody removes their scheduling gate any more
    GateForgotten,
    /// The clock of one node is two minutes ahead, and that of another a minute and a half behind
    WrongClocks,
    /// [`Self::RegistryDown`], and the registry of images that name none serves nobody
    TwoRegistries,
    /// A release of one Deployment is rolled out whose image has a wrong tag: the old pods go on to serve
    BadRollout,
}

/// How a step of a pod's life is held up.
#[derive(Debug)]
pub(super) struct BlockedStep {
    /// What happens instead
    pub(super) changes: Vec<PodChange>,
    /// After how many nanoseconds the step is tried again
    pub(super) retry: i64,
}

impl Scene {
    /// Every scene.
    pub const ALL: [Self; 16] = [
        Self::RegistryDown,
        Self::CniOutage,
        Self::BadNode,
        Self::NoCapacity,
        Self::CrashLoop,
        Self::Gang,
        Self::TwoProblems,
        Self::BadImage,
        Self::ZoneOutage,
        Self::SecretMissing,
        Self::SlowNodes,
        Self::DevicePluginGone,
        Self::GateForgotten,
        Self::WrongClocks,
        Self::TwoRegistries,
        Self::BadRollout,
    ];

    /// Its name, as `podinit demo --scene` takes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RegistryDown => "registry-down",
            Self::CniOutage => "cni-outage",
            Self::BadNode => "bad-node",
            Self::NoCapacity => "no-capacity",
            Self::CrashLoop => "crashloop",
            Self::Gang => "gang",
            Self::TwoProblems => "two-problems",
            Self::BadImage => "bad-image",
            Self::ZoneOutage => "zone-outage",
            Self::SecretMissing => "secret-missing",
            Self::SlowNodes => "slow-nodes",
            Self::DevicePluginGone => "device-plugin-gone",
            Self::GateForgotten => "gate-forgotten",
            Self::WrongClocks => "wrong-clocks",
            Self::TwoRegistries => "two-registries",
            Self::BadRollout => "bad-rollout",
        }
    }

    /// What breaks, as a clause.
    pub const fn breaks(self) -> &'static str {
        match self {
            Self::RegistryDown => "registry.example.com refuses connections",
            Self::CniOutage => "the network plugin answers on no node",
            Self::BadNode => "the disk of node-a0 is full",
            Self::NoCapacity => "no node has room",
            Self::CrashLoop => "two of five new pods are of a release that crashes",
            Self::Gang => "pod groups do not fit",
            Self::TwoProblems => {
                "registry.example.com refuses connections, and the disk of node-a0 is full"
            }
            Self::BadImage => "two of five new pods are of a release whose image has a wrong tag",
            Self::ZoneOutage => "the network plugin answers on no node of zone example-1b",
            Self::SecretMissing => "a secret that pods of namespace payments need is not there",
            Self::SlowNodes => "new nodes of pool-a keep a startup taint, and more pods need them",
            Self::DevicePluginGone => {
                "two of five new pods need devices that no node has any more, and are rejected"
            }
            Self::GateForgotten => {
                "nobody removes the scheduling gate kueue.x-k8s.io/admission any more"
            }
            Self::WrongClocks => {
                "the clock of node-a1 is 2m ahead, and that of node-b1 is 1m30s behind"
            }
            Self::TwoRegistries => {
                "registry.example.com refuses connections, and docker.io answers 503"
            }
            Self::BadRollout => "payments/ledger gets a release whose image has a wrong tag",
        }
    }

    /// The scene of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scene| scene.as_str() == name)
    }

    /// The kind of the next pod's life, where the scene chooses it.
    pub(super) fn kind(self, rng: &mut Rng) -> Option<LifeKind> {
        let released = match self {
            Self::CrashLoop => LifeKind::BadRelease,
            Self::BadImage => LifeKind::BadTag,
            Self::DevicePluginGone => LifeKind::Rejected,
            Self::SlowNodes => return rng.chance(SURGE_SHARE).then_some(LifeKind::Unschedulable),
            _ => return None,
        };
        rng.chance(ROLLOUT_SHARE).then_some(released)
    }

    /// How far the clock of the node `name` is ahead, where the scene sets it.
    pub(super) fn clock_of(self, name: &str) -> Option<i64> {
        match (self, name) {
            (Self::WrongClocks, "node-a1") => Some(CLOCK_AHEAD),
            (Self::WrongClocks, "node-b1") => Some(CLOCK_BEHIND),
            _ => None,
        }
    }

    /// Sets the clock of the node to which a new pod will be bound, where the scene does.
    pub(super) fn set_clock(self, life: &mut PodLife) {
        for step in &mut life.steps {
            if let PodChange::Bind { node, .. } = &mut step.change {
                node.skew = self.clock_of(node.name).unwrap_or(node.skew);
            }
        }
    }

    /// Whether, and how, it holds up the next step of a pod's life.
    pub(super) fn blocks(self, active: &ActivePod, step: &PodChange) -> Option<BlockedStep> {
        let pod = &active.pod;
        match (self, step) {
            (Self::CniOutage, PodChange::MakeSandbox) => {
                // Where the node has been restarted meanwhile, its kubelet does not even try.
                Some(match pod.node == Some(NEXT_SYNC) {
                    true => no_sandbox(active, SandboxFault::NetworkNotReady),
                    false => no_sandbox(active, SandboxFault::Network),
                })
            }
            (Self::BadNode, PodChange::MakeSandbox) => {
                (pod.node == Some(CURRENT)).then(|| no_sandbox(active, SandboxFault::Disk))
            }
            (Self::NoCapacity, PodChange::Bind { .. }) => Some(no_node(active, NoNode::Resources)),
            (Self::SlowNodes, PodChange::Bind { node, .. }) if node.is_added() => {
                Some(no_node(active, NoNode::StartupTaint))
            }
            (Self::GateForgotten, PodChange::Ungate(_)) => {
                Some(BlockedStep { changes: Vec::new(), retry: GATE_RETRY })
            }
            (Self::Gang, PodChange::Bind { .. }) if pod.manifest.pod_group.is_some() => {
                Some(no_node(active, NoNode::Gang))
            }
            (Self::RegistryDown, PodChange::Pull { container, .. }) => {
                let image = pod.manifest.container(*container)?.image;
                let own = image.registry() == OWN_REGISTRY;
                own.then(|| no_image(active, step, PullFault::Unreachable)).flatten()
            }
            (Self::TwoRegistries, PodChange::Pull { container, .. }) => {
                let image = pod.manifest.container(*container)?.image;
                let is_default = image.registry() == DEFAULT_REGISTRY;
                let of_default =
                    is_default.then(|| no_image(active, step, PullFault::Unavailable)).flatten();
                of_default.or_else(|| Self::RegistryDown.blocks(active, step))
            }
            (Self::TwoProblems, _) => {
                let of_registry = Self::RegistryDown.blocks(active, step);
                of_registry.or_else(|| Self::BadNode.blocks(active, step))
            }
            (Self::ZoneOutage, PodChange::MakeSandbox) => {
                let is_in_zone = pod.node.is_some_and(|node| node.zone() == BROKEN_ZONE);
                is_in_zone.then(|| Self::CniOutage.blocks(active, step)).flatten()
            }
            (Self::SecretMissing, PodChange::Start(ContainerRef::MAIN))
                if pod.manifest.namespace == WITHOUT_SECRET =>
            {
                Some(no_secret(active))
            }
            _ => None,
        }
    }
}

/// The kubelet writes its first status before it makes the sandbox. Where that succeeds at once, no
/// API server may see this status; where it fails, it does.
fn no_sandbox(active: &ActivePod, fault: SandboxFault) -> BlockedStep {
    let mut changes = vec![PodChange::FailSandbox(fault)];
    if active.pod.report.is_none() {
        changes.insert(0, PodChange::Report(active.pod.manifest.first_report()));
    }
    BlockedStep { changes, retry: SANDBOX_RETRY }
}

/// The scheduler writes a condition, and an Event, only where it did not say so before. Then cluster-autoscaler says
/// that it does not help, again and again.
fn no_node(active: &ActivePod, why: NoNode) -> BlockedStep {
    let changes = match active.blocked_steps {
        0 => vec![PodChange::Unschedulable(why)],
        again if why == NoNode::Resources && again % AUTOSCALER_REPEATS == 1 => {
            vec![PodChange::Autoscale(ScaleUp::NotTriggered)]
        }
        _ => Vec::new(),
    };
    BlockedStep { changes, retry: SCHEDULING_RETRY }
}

/// Attempts to pull and syncs that back off take turns.
fn no_image(active: &ActivePod, pull: &PodChange, fault: PullFault) -> Option<BlockedStep> {
    let PodChange::Pull { container, .. } = *pull else {
        return None;
    };
    let pod = &active.pod;
    let last = (pod.report).map_or_else(|| pod.manifest.first_report(), |(last, _)| last);
    // The sync after the failed pull sees the sandbox, on old kubelets too.
    let write = PodChange::Report(KubeletReport { sandbox: true, ..last });
    let back_off = PULL_BACK_OFF << (active.blocked_steps / 2).min(5);
    Some(match active.blocked_steps % 2 {
        0 => BlockedStep {
            changes: vec![pull.clone(), PodChange::FailPull(container, fault), write],
            retry: SYNC_AFTER_FAILURE,
        },
        _ => BlockedStep {
            changes: vec![PodChange::BackOffPull(container, fault), write],
            retry: (back_off.min(LONGEST_PULL_BACK_OFF) - SYNC_AFTER_FAILURE).max(SECOND),
        },
    })
}

/// The kubelet says at each sync that the main container cannot be created.
fn no_secret(active: &ActivePod) -> BlockedStep {
    let pod = &active.pod;
    let last = (pod.report).map_or_else(|| pod.manifest.first_report(), |(last, _)| last);
    let write = PodChange::Report(KubeletReport { sandbox: true, ..last });
    BlockedStep {
        changes: vec![PodChange::FailCreate(ContainerRef::MAIN), write],
        retry: CREATION_RETRY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_found_by_their_names() {
        for scene in Scene::ALL {
            assert_eq!(Scene::named(scene.as_str()), Some(scene));
        }
        assert_eq!(Scene::named("sunset"), None);
    }
}
