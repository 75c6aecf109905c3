//! The containers of a pod in flight, as far as they say why it waits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Cause;
use crate::kube_event::EventContainer;
use crate::lifecycle::interval::Stage;
use crate::pod::{ContainerKind, ContainerSpec, ContainerState, WaitingReason};

/// How many containers of a pod are followed. Others have no part in its cause, and the pod has no startup SLI
/// (`no_evidence`). Each takes 24 bytes, and 32 more once an Event names its image.
pub(in crate::lifecycle) use crate::pod::MOST_FOLLOWED;

/// What is known of one container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::lifecycle) struct ContainerEvidence {
    pub name: Arc<str>,
    pub kind: ContainerKind,
    /// The cause of its state in the newest snapshot: `image`, `config`, `crash` or `create`
    pub problem: Option<Cause>,
    /// Terminated with exit code 0 in the newest snapshot
    pub succeeded: bool,
    /// It has a start in the newest snapshot ([§9.1](crate::specification#s9-1))
    pub started: bool,
    /// The newest snapshot says `started: true` of it; of restartable init containers only
    pub has_started: bool,
    /// It is ready in the newest snapshot
    #[serde(skip)]
    pub is_ready: bool,
    /// An Event `Pulling` was delivered
    pub pulling: bool,
    /// An Event `Pulled` was delivered
    pub pulled: bool,
}

impl ContainerEvidence {
    fn from_container(container: &ContainerSpec) -> Self {
        let mut evidence = Self {
            name: Arc::clone(&container.name),
            kind: container.kind,
            problem: None,
            succeeded: false,
            started: false,
            has_started: false,
            is_ready: false,
            pulling: false,
            pulled: false,
        };
        evidence.update(container);
        evidence
    }

    fn update(&mut self, container: &ContainerSpec) {
        self.problem = problem(container.state);
        self.succeeded = container.state == ContainerState::Succeeded;
        self.started = container.started.is_some();
        self.has_started = container.has_started;
        self.is_ready = container.is_ready;
    }

    /// Whether an Event names it.
    pub(in crate::lifecycle) fn is(&self, named: &EventContainer) -> bool {
        let init = self.kind != ContainerKind::Regular;
        init == named.init && *self.name == *named.name
    }

    /// Whether it keeps the pod in the stage `init`.
    fn is_initializing(&self) -> bool {
        match self.kind {
            ContainerKind::Init => !self.succeeded,
            ContainerKind::RestartableInit => !self.succeeded && !self.has_started,
            ContainerKind::Regular => false,
        }
    }

    /// Whether the row of `cause` holds for it.
    pub(in crate::lifecycle) fn has(&self, cause: Cause) -> bool {
        match cause {
            Cause::Image | Cause::Config | Cause::Crash | Cause::Create => {
                self.problem == Some(cause)
            }
            Cause::Exited => self.has_exited(),
            Cause::Pull => !self.started && self.pulling && !self.pulled,
            Cause::Run => true,
            Cause::Probe => !self.is_ready,
            _ => false,
        }
    }

    /// Whether it is a regular container that has ended with exit code 0.
    pub(in crate::lifecycle) fn has_exited(&self) -> bool {
        self.kind == ContainerKind::Regular && self.succeeded
    }
}

/// The cause that the state of a container gives; `None` if it runs or has ended well.
pub(in crate::lifecycle) const fn problem(state: ContainerState) -> Option<Cause> {
    use WaitingReason as Reason;
    match state {
        ContainerState::Waiting(reason) => Some(match reason {
            Reason::ErrImagePull
            | Reason::ImagePullBackOff
            | Reason::ErrImageNeverPull
            | Reason::InvalidImageName
            | Reason::ImageInspectError
            | Reason::RegistryUnavailable
            | Reason::SignatureValidationFailed
            | Reason::ImageVolumeMountFailed => Cause::Image,
            Reason::CreateContainerConfigError
            | Reason::CreateContainerError
            | Reason::RunContainerError
            | Reason::PreCreateHookError
            | Reason::PreStartHookError
            | Reason::PostStartHookError => Cause::Config,
            Reason::CrashLoopBackOff => Cause::Crash,
            Reason::ContainerCreating
            | Reason::PodInitializing
            | Reason::Unstated
            | Reason::Other => Cause::Create,
        }),
        ContainerState::NoStatus => Some(Cause::Create),
        ContainerState::Failed => Some(Cause::Crash),
        ContainerState::Running | ContainerState::Succeeded => None,
    }
}

/// Whether `containers` show that their pod's sandbox has a network: one of them has a start, or waits for
/// something that comes later.
pub(super) fn show_network(containers: &[ContainerSpec]) -> bool {
    use WaitingReason::{ContainerCreating, PodInitializing, Unstated};
    let is_later = |state| match state {
        ContainerState::Waiting(reason) => {
            !matches!(reason, ContainerCreating | PodInitializing | Unstated)
        }
        _ => false,
    };
    let mut followed = containers.iter().take(MOST_FOLLOWED);
    followed.any(|container| container.started.is_some() || is_later(container.state))
}

/// Brings `evidence` up to date with `containers`, those of the newest snapshot. Their names and
/// order never change in Kubernetes; if they do all the same, what Events said of them is forgotten.
pub(super) fn update(evidence: &mut Box<[ContainerEvidence]>, containers: &[ContainerSpec]) {
    let containers = &containers[..containers.len().min(MOST_FOLLOWED)];
    let names = containers.iter().map(|container| (&container.name, container.kind));
    let known = evidence.iter().map(|known| (&known.name, known.kind));
    if !known.eq(names) {
        *evidence = containers.iter().map(ContainerEvidence::from_container).collect();
        return;
    }
    for (known, container) in evidence.iter_mut().zip(containers) {
        known.update(container);
    }
}

/// The container that an Event names.
pub(super) fn named<'a>(
    evidence: &'a mut [ContainerEvidence],
    name: &EventContainer,
) -> Option<&'a mut ContainerEvidence> {
    evidence.iter_mut().find(|container| container.is(name))
}

/// The container whose state keeps a pod in the stage `init`: the first init container that is not done.
fn initializing(evidence: &[ContainerEvidence]) -> Option<usize> {
    let mut containers = evidence.iter();
    containers.position(|container| container.is_initializing())
}

/// The cause of a pod in the stage `init`.
pub(super) fn init_cause(evidence: &[ContainerEvidence]) -> Option<Cause> {
    let container = initializing(evidence).map(|position| &evidence[position]);
    cause_of(container.into_iter())
}

/// The cause of a pod in the stage `containers`: its regular containers and its sidecars decide.
pub(super) fn containers_cause(evidence: &[ContainerEvidence]) -> Option<Cause> {
    let containers = evidence.iter();
    cause_of(containers.filter(|container| container.kind != ContainerKind::Init))
}

/// The position of the first container of the stage whose rows give `cause` for which the row holds
/// ([§13.3](crate::specification#s13-3)); `None` where the cause is not about a container.
pub(super) fn container_with(
    evidence: &[ContainerEvidence],
    rows: Stage,
    cause: Cause,
) -> Option<usize> {
    match rows {
        Stage::Init => initializing(evidence).filter(|position| evidence[*position].has(cause)),
        Stage::Containers => {
            let first = |kind: ContainerKind| {
                let mut containers = evidence.iter();
                containers.position(|one| one.kind == kind && one.has(cause))
            };
            first(ContainerKind::Regular).or_else(|| first(ContainerKind::RestartableInit))
        }
        _ => None,
    }
}

/// The first row of the table that fits one of the containers of a stage; `None` where only the last
/// one does.
fn cause_of<'a>(containers: impl Iterator<Item = &'a ContainerEvidence> + Clone) -> Option<Cause> {
    use Cause::{Config, Crash, Create, Exited, Image, Pull};
    let has = |cause: &Cause| containers.clone().any(|container| container.has(*cause));
    [Image, Config, Crash, Exited, Pull, Create].into_iter().find(has)
}
