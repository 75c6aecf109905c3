//! The saved form of why a pod waits. Causes and reasons are saved by name, so that a later podinit
//! may have more of them.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::kube_event::SandboxWarning;
use crate::label_value::LabelValue;
use crate::lifecycle::cause::{Cause, ContainerEvidence, MOST_FOLLOWED, WaitEvidence};
use crate::pod::{ContainerKind, DisruptionReason, SandboxNotReady};

/// A value of a closed list, saved as its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<T>(pub T);

impl<T: LabelValue> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_str().serialize(serializer)
    }
}

impl<'de, T: LabelValue> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        let value = T::from_text(name).map(Self);
        value.ok_or_else(|| de::Error::custom("no such cause or reason"))
    }
}

/// Why a pod in flight waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEvidence {
    /// `metadata.deletionTimestamp` is set
    pub terminating: bool,
    /// The cause while it is not scheduled
    pub scheduling: Named<Cause>,
    /// `status.startTime` is set
    pub acknowledged: bool,
    /// The warning about its sandbox that was delivered last
    pub warning: Option<Named<SandboxWarning>>,
    /// What the kubelet says of its sandbox
    pub sandbox_not_ready: Option<Named<SandboxNotReady>>,
    /// It has no network condition, and shows that the network is there; saved beside the pods
    #[serde(skip)]
    pub is_past_network: bool,
    /// The message is not about its cause, but about its last warning; saved beside the pods
    #[serde(skip)]
    pub is_announced: bool,
    /// How long its init containers have run; saved beside the pods
    #[serde(skip)]
    pub init_runs: Duration,
    /// Its containers
    pub containers: Vec<SavedContainer>,
    /// It has more containers than are followed
    pub has_more_containers: bool,
    /// Why it is about to be ended
    pub disruption: Option<Named<DisruptionReason>>,
}

/// A container of a pod in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedContainer {
    /// Its name
    pub name: Arc<str>,
    /// In `spec.initContainers`
    pub init: bool,
    /// With `restartPolicy: Always` there
    pub restartable: bool,
    /// What its state says
    pub problem: Option<Named<Cause>>,
    /// Terminated with exit code 0
    pub succeeded: bool,
    /// It has a start
    pub started: bool,
    /// Its status says `started: true`; saved beside the pods
    #[serde(skip)]
    pub has_started: bool,
    /// An Event `Pulling` was delivered
    pub pulling: bool,
    /// An Event `Pulled` was delivered
    pub pulled: bool,
}

/// What is saved beside the pods, since earlier checkpoints do not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedShown {
    is_past_network: bool,
    is_announced: bool,
    /// By container, a bit: whether its status says `started: true`
    has_started: u64,
    init_runs: Duration,
}

impl SavedEvidence {
    /// What is saved beside the pods.
    pub fn shown(&self) -> SavedShown {
        const _: () = assert!(MOST_FOLLOWED <= u64::BITS as usize);
        let containers = self.containers.iter().rev();
        SavedShown {
            is_past_network: self.is_past_network,
            is_announced: self.is_announced,
            init_runs: self.init_runs,
            has_started: containers.fold(0, |bits, one| bits << 1 | u64::from(one.has_started)),
        }
    }

    /// Takes back what was saved beside the pods. A checkpoint without it is of a podinit that took a sidecar with
    /// a start for one that has started.
    pub fn take_shown(&mut self, shown: Option<SavedShown>) {
        self.is_past_network = shown.is_some_and(|shown| shown.is_past_network);
        self.is_announced = shown.is_some_and(|shown| shown.is_announced);
        self.init_runs = shown.map(|shown| shown.init_runs).unwrap_or_default();
        for (place, container) in self.containers.iter_mut().enumerate() {
            container.has_started = match shown {
                Some(shown) => shown.has_started >> place & 1 == 1,
                None => container.init && container.restartable && container.started,
            };
        }
    }
}

impl Default for SavedEvidence {
    fn default() -> Self {
        Self::from(&WaitEvidence::default())
    }
}

impl From<&WaitEvidence> for SavedEvidence {
    fn from(evidence: &WaitEvidence) -> Self {
        Self {
            terminating: evidence.terminating,
            scheduling: Named(evidence.scheduling),
            acknowledged: evidence.acknowledged,
            warning: evidence.warning.map(Named),
            sandbox_not_ready: evidence.sandbox_not_ready.map(Named),
            is_past_network: evidence.is_past_network,
            is_announced: false,
            init_runs: evidence.init_runs,
            containers: evidence
                .containers
                .iter()
                .map(SavedContainer::from)
                .collect(),
            has_more_containers: evidence.has_more_containers,
            disruption: evidence.disruption.map(Named),
        }
    }
}

impl From<SavedEvidence> for WaitEvidence {
    fn from(saved: SavedEvidence) -> Self {
        let containers = saved.containers.into_iter().map(ContainerEvidence::from);
        Self {
            terminating: saved.terminating,
            scheduling: saved.scheduling.0,
            acknowledged: saved.acknowledged,
            warning: saved.warning.map(|Named(warning)| warning),
            sandbox_not_ready: saved.sandbox_not_ready.map(|Named(not_ready)| not_ready),
            is_past_network: saved.is_past_network,
            init_runs: saved.init_runs,
            containers: containers.collect(),
            has_more_containers: saved.has_more_containers,
            disruption: saved.disruption.map(|Named(reason)| reason),
        }
    }
}

impl From<&ContainerEvidence> for SavedContainer {
    fn from(container: &ContainerEvidence) -> Self {
        Self {
            name: Arc::clone(&container.name),
            init: container.kind != ContainerKind::Regular,
            restartable: container.kind == ContainerKind::RestartableInit,
            problem: container.problem.map(Named),
            succeeded: container.succeeded,
            started: container.started,
            has_started: container.has_started,
            pulling: container.pulling,
            pulled: container.pulled,
        }
    }
}

impl From<SavedContainer> for ContainerEvidence {
    fn from(saved: SavedContainer) -> Self {
        let kind = match (saved.init, saved.restartable) {
            (false, _) => ContainerKind::Regular,
            (true, false) => ContainerKind::Init,
            (true, true) => ContainerKind::RestartableInit,
        };
        Self {
            name: saved.name,
            kind,
            problem: saved.problem.map(|Named(problem)| problem),
            succeeded: saved.succeeded,
            started: saved.started,
            has_started: saved.has_started,
            is_ready: false,
            pulling: saved.pulling,
            pulled: saved.pulled,
        }
    }
}
