//! Why a pod in flight waits ([§10.1](crate::specification#s10-1)): one cause at any time, out of a
//! closed list.
//!
//! ```text
//! snapshot ─▶ WaitEvidence ─▶ Cause of the pod's stage
//! Event ────▶      │
//! ```

mod bad;
mod class;
mod containers;
mod detours;
mod evidence;
mod log;
mod scheduler_message;
mod waiting;

use crate::label_values;

pub use bad::BadReason;
pub use class::CauseClass;
pub(super) use containers::{ContainerEvidence, MOST_FOLLOWED, problem};
pub(super) use evidence::{WaitEvidence, cause_of_warning, depends_on_others};
pub(super) use log::CauseLog;
pub use scheduler_message::{names_several_faults, said_of_nodes, taints_said};
pub(super) use waiting::PodStage;
pub use waiting::WaitReason;

label_values! {
    /// Why a pod in flight waits, or did not arrive, in the order of the specification's table. Which of them a
    /// pod in flight can have in a stage is in [`WaitReason::ALL`].
    pub enum Cause {
        /// `metadata.deletionTimestamp` is set
        Terminating => "terminating",
        /// It has scheduling gates
        Gate => "gate",
        /// The scheduler has found a node, and waits for plugins before it binds the pod
        Binding => "binding",
        /// The scheduler has not tried it yet, as far as is known
        Queue => "queue",
        /// Its pod group is not complete, or does not fit as a whole
        Gang => "gang",
        /// Pods of lower priority make room for it
        Preempting => "preempting",
        /// The scheduler failed
        SchedulerError => "scheduler_error",
        /// A queue or a quota refuses it
        Quota => "quota",
        /// Nodes lack CPU, memory, other resources, or room for another pod
        Resources => "resources",
        /// Nodes have taints that it does not tolerate, or are cordoned
        Taint => "taint",
        /// Its topology spread constraints
        Topology => "topology",
        /// A volume: in the scheduler's message, or attached or mounted too slowly
        Volume => "volume",
        /// A resource claim: in the scheduler's message, or not prepared on the node
        Claim => "claim",
        /// Its node selector, or affinity to nodes or pods
        Affinity => "affinity",
        /// The scheduler's message says something else
        Other => "other",
        /// The kubelet has not accepted it yet
        Acknowledge => "acknowledge",
        /// The network of the node is not ready, or a sandbox failed for its network
        Cni => "cni",
        /// A sandbox failed for another reason
        Sandbox => "sandbox",
        /// The kubelet says that there is no sandbox
        NoSandbox => "no_sandbox",
        /// The kubelet says that the sandbox has no address
        NoIp => "no_ip",
        /// Nothing says why the network is not ready
        Unknown => "unknown",
        /// An image cannot be pulled, or not be used
        Image => "image",
        /// A container cannot be made as it is specified, or a hook fails
        Config => "config",
        /// A container ends with a failure
        Crash => "crash",
        /// A regular container has ended with exit code 0
        Exited => "exited",
        /// An image is being pulled
        Pull => "pull",
        /// A container is being made
        Create => "create",
        /// An init container runs
        Run => "run",
        /// The containers run; a startup or readiness probe has not succeeded yet
        Probe => "probe",
        /// A readiness gate is not true yet
        ReadinessGate => "readiness_gate",
        /// The kubelet has refused it. A pod in flight never has this cause: it is that of one that ended so
        Rejected => "rejected",
        /// The clock of its node is wrong. No pod waits for that: it is the cause of a problem alone
        Clock => "clock",
        /// Nodes that it fits on do not become schedulable. It is the cause of a problem alone, like `clock`
        NodeStartup => "node_startup",
    }
}
