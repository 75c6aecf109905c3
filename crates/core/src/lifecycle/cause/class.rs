//! What causes have in common ([§13.2](crate::specification#s13-2)).

use super::Cause;

/// What a cause means for the pod that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseClass {
    /// Something fails
    Failing,
    /// It waits for something outside of it
    Waiting,
    /// It does what starting pods do, which may take too long
    Working,
    /// Somebody wants it so, or no pod waits for it
    Intended,
}

impl Cause {
    /// Whether an image or a registry is held to be at fault for it ([§13.4](crate::specification#s13-4)).
    pub const fn is_of_pulls(self) -> bool {
        matches!(self, Self::Image | Self::Pull)
    }
}

impl CauseClass {
    /// The class of a cause.
    pub const fn from_cause(cause: Cause) -> Self {
        match cause {
            Cause::SchedulerError
            | Cause::Cni
            | Cause::Sandbox
            | Cause::NoIp
            | Cause::Image
            | Cause::Config
            | Cause::Crash
            | Cause::Rejected => Self::Failing,
            Cause::Gang
            | Cause::Preempting
            | Cause::Binding
            | Cause::Quota
            | Cause::Resources
            | Cause::Taint
            | Cause::Topology
            | Cause::Volume
            | Cause::Claim
            | Cause::Affinity
            | Cause::Other
            | Cause::Queue => Self::Waiting,
            Cause::Acknowledge
            | Cause::NoSandbox
            | Cause::Unknown
            | Cause::Pull
            | Cause::Create
            | Cause::Run
            | Cause::Probe
            | Cause::Exited
            | Cause::ReadinessGate => Self::Working,
            Cause::Terminating | Cause::Gate | Cause::Clock | Cause::NodeStartup => Self::Intended,
        }
    }

    /// Whether it is no fault of a pod that can never be Ready any more ([§6.12](crate::specification#s6-12)).
    pub const fn is_idle_wait(self) -> bool {
        matches!(self, Self::Waiting | Self::Working)
    }
}
