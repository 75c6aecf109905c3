//! The containers of a pod: what its spec declares, with what its status says of each.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::label_value::LabelValue;
use crate::label_values;
use crate::timestamp::Timestamp;

/// How many containers of a pod are followed, in the order of its spec, init containers first.
pub const MOST_FOLLOWED: usize = 64;

/// Where a container stands in a pod's spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ContainerKind {
    /// `spec.initContainers`, and runs to its end
    Init,
    /// `spec.initContainers` with `restartPolicy: Always` (a sidecar)
    RestartableInit,
    /// `spec.containers`
    #[default]
    Regular,
}

label_values! {
    /// The known reasons for which a container waits ([§10.1](crate::specification#s10-1)), as Kubernetes spells them.
    pub enum WaitingReason {
        ErrImagePull => "ErrImagePull",
        ImagePullBackOff => "ImagePullBackOff",
        ErrImageNeverPull => "ErrImageNeverPull",
        InvalidImageName => "InvalidImageName",
        ImageInspectError => "ImageInspectError",
        RegistryUnavailable => "RegistryUnavailable",
        SignatureValidationFailed => "SignatureValidationFailed",
        ImageVolumeMountFailed => "ImageVolumeMountFailed",
        CreateContainerConfigError => "CreateContainerConfigError",
        CreateContainerError => "CreateContainerError",
        RunContainerError => "RunContainerError",
        PreCreateHookError => "PreCreateHookError",
        PreStartHookError => "PreStartHookError",
        PostStartHookError => "PostStartHookError",
        CrashLoopBackOff => "CrashLoopBackOff",
        /// Before the kubelet has tried anything
        ContainerCreating => "ContainerCreating",
        /// Before the kubelet has tried anything, behind init containers
        PodInitializing => "PodInitializing",
        /// No reason
        Unstated => "",
        /// Any other
        Other => "other",
    }
}

impl WaitingReason {
    /// The reason that a status states; `None` for a status without one.
    pub fn from_stated(stated: Option<&str>) -> Self {
        let stated = stated.unwrap_or_default();
        Self::from_text(stated).unwrap_or(Self::Other)
    }

    /// Whether Kubernetes states it of a container that has a problem.
    pub const fn is_problem(self) -> bool {
        !matches!(
            self,
            Self::ContainerCreating | Self::PodInitializing | Self::Unstated | Self::Other
        )
    }
}

/// The `state` of a container's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ContainerState {
    /// The status does not name the container
    #[default]
    NoStatus,
    /// `waiting`, and also a status without any state, which means waiting
    Waiting(WaitingReason),
    /// `running`
    Running,
    /// `terminated` with exit code 0
    Succeeded,
    /// `terminated` with any other exit code, or none
    Failed,
}

/// One container of a pod's spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Its name, shared with the other pods that have one of this name
    pub name: Arc<str>,
    pub kind: ContainerKind,
    pub state: ContainerState,
    /// Its start ([§9.1](crate::specification#s9-1)): the earliest of `state.running.startedAt`,
    /// `state.terminated.startedAt` and `lastState.terminated.startedAt` that is not absurd
    pub started: Option<Timestamp>,
    /// Its status says `started: true`; read of restartable init containers only
    pub has_started: bool,
    /// `restartCount` is above 0
    pub has_restarted: bool,
    /// It runs, and its status says `ready: true`
    pub is_ready: bool,
    /// Once it has ended with exit code 0, nothing runs it again ([§6.12](crate::specification#s6-12)); only of regular
    /// containers
    pub ends_for_good: bool,
}

impl ContainerSpec {
    /// Whether it has a start, or is `terminated`: what is kept of it says that it has run.
    pub fn has_run(&self) -> bool {
        let ended = matches!(self.state, ContainerState::Succeeded | ContainerState::Failed);
        ended || self.started.is_some()
    }

    /// A container without a status.
    pub fn new(name: Arc<str>, kind: ContainerKind) -> Self {
        Self {
            name,
            kind,
            state: ContainerState::NoStatus,
            started: None,
            has_started: false,
            has_restarted: false,
            is_ready: false,
            ends_for_good: false,
        }
    }
}

/// What Kubernetes says of why a container waits that has a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMessage {
    /// The position of the container among [`PodSnapshot::containers`](super::PodSnapshot::containers)
    pub container: usize,
    /// `state.waiting.message`
    pub text: Box<str>,
}
