//! Why a pod finds no node, and a sandbox or a container cannot be made, in the words of the scheduler, of a
//! container runtime and of the kubelet.

use super::node::NODES;

/// The taint of a new node that its network agent removes.
pub(super) const STARTUP_TAINT: &str = "node.cilium.io/agent-not-ready";

/// The reason with which a kubelet rejects a pod whose devices it cannot allocate
/// (`pkg/kubelet/lifecycle/predicate.go`).
pub(super) const REJECTED: &str = "UnexpectedAdmissionError";
/// Its words (`pkg/kubelet/cm/devicemanager/manager.go`).
pub(super) const NO_DEVICES: &str = "Allocate failed due to no healthy devices present; cannot allocate unhealthy \
                                     devices nvidia.com/gpu, which is unexpected";

/// Why no node takes a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoNode {
    /// All are full
    Resources,
    /// The new node has a startup taint, and all others are full
    StartupTaint,
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
            Self::StartupTaint => format!(
                "0/{all} nodes are available: 1 node(s) had untolerated taint {{{STARTUP_TAINT}: }}, {NODES} \
                 Insufficient cpu. preemption: 0/{all} nodes are available: 1 Preemption is not helpful for \
                 scheduling, {NODES} No preemption victims found for incoming pod.",
                all = NODES + 1
            ),
            Self::Gang => "pod group is unschedulable, minCount (8) cannot be satisfied: \
                           0 scheduled, 3 remaining"
                .to_owned(),
        }
    }
}

/// What an autoscaler makes of a pod that fits on no node, in its words: those of cluster-autoscaler 1.33
/// (`processors/status/eventing_scale_up_processor.go`) and of Karpenter 1.15
/// (`provisioning/scheduling/events.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleUp {
    /// cluster-autoscaler adds a node
    Triggered,
    /// cluster-autoscaler adds none, since its node group has as many as it may
    NotTriggered,
    /// Karpenter starts a node
    Nominated,
    /// Karpenter starts none, since its pool has as many as it may
    OverLimit,
}

impl ScaleUp {
    /// The reason of its Event.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Triggered => "TriggeredScaleUp",
            Self::NotTriggered => "NotTriggerScaleUp",
            Self::Nominated => "Nominated",
            Self::OverLimit => "FailedScheduling",
        }
    }

    /// The message of its Event.
    pub fn message(self) -> String {
        match self {
            Self::Triggered => "pod triggered scale-up: [{pool-a 10->11 (max: 12)}]",
            Self::NotTriggered => "pod didn't trigger scale-up: 1 max node group size reached",
            Self::Nominated => "Pod should schedule on: nodeclaim/default-x7k2p",
            Self::OverLimit => {
                "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)"
            }
        }
        .to_owned()
    }
}

/// What the kubelet says of a container that cannot be created: a secret that its environment needs is not
/// there.
pub(super) const SECRET_MISSING: &str = "secret \"database\" not found";

/// Why a sandbox cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SandboxFault {
    /// The network plugin does not answer
    Network,
    /// The network plugin is not set up, so that the kubelet does not even try
    NetworkNotReady,
    /// The node's disk is full
    Disk,
}

impl SandboxFault {
    /// `message` of the Event that reports it. Each attempt has a sandbox of its own, so that
    /// no two messages of a pod are the same.
    /// `uid` is the pod's, `attempt` the number of its attempts so far.
    pub fn message(self, uid: &str, attempt: u32) -> String {
        match self {
            Self::Network => {
                let id = uid.replace('-', "");
                format!(
                    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup \
                     network for sandbox \"{id}{attempt:08x}\": plugin type=\"example-cni\" failed \
                     (add): dial unix /run/example-cni/agent.sock: connect: connection refused"
                )
            }
            Self::NetworkNotReady => "network is not ready: container runtime network not ready: \
                                      NetworkReady=false reason:NetworkPluginNotReady message:Network \
                                      plugin returns error: cni plugin not initialized"
                .to_owned(),
            Self::Disk => format!(
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start \
                 sandbox: mkdir /run/containerd/task/{attempt:08x}: no space left on device"
            ),
        }
    }
}
