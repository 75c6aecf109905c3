//! Where the rows that give a pod's cause are not those of its stage ([§10.1](crate::specification#s10-1)).

use crate::pod::{ConditionType, Container, ContainerKind, ContainerState, PodSnapshot};

/// What of this the newest snapshot shows; one byte, because a pod in flight has little room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::lifecycle) struct Detours(u8);

const PAST_NETWORK: u8 = 1;
const INIT_AGAIN: u8 = 1 << 1;

impl Detours {
    /// All bits that [`Detours::bits`] gives.
    pub(in crate::lifecycle) const BITS: u8 = PAST_NETWORK | INIT_AGAIN;

    pub(in crate::lifecycle) fn of(snapshot: &PodSnapshot) -> Self {
        let init_again = runs_init_again(&snapshot.containers);
        Self(
            (PAST_NETWORK * u8::from(is_past_network(snapshot)))
                | (INIT_AGAIN * u8::from(init_again)),
        )
    }

    /// The kubelet has no network condition to state, and the containers show that the network is there.
    pub(in crate::lifecycle) const fn is_past_network(self) -> bool {
        self.0 & PAST_NETWORK != 0
    }

    /// No regular container runs, and an init container has to end again: in a new sandbox.
    pub(in crate::lifecycle) const fn runs_init_again(self) -> bool {
        self.0 & INIT_AGAIN != 0
    }

    /// The bits, to be saved.
    pub(in crate::lifecycle) const fn bits(self) -> u8 {
        self.0
    }

    /// What was saved. Other bits are not of these.
    pub(in crate::lifecycle) const fn of_bits(bits: u8) -> Self {
        Self(bits & Self::BITS)
    }
}

fn is_past_network(snapshot: &PodSnapshot) -> bool {
    use ConditionType::{PodHasNetwork, PodReadyToStartContainers};
    let stated =
        [PodReadyToStartContainers, PodHasNetwork].map(|kind| snapshot.conditions.get(kind));
    snapshot.started.is_some()
        && stated == [None; 2]
        && super::containers::show_network(&snapshot.containers)
}

/// An init container that the status does not name does not have to run again.
fn runs_init_again(containers: &[Container]) -> bool {
    let is_open = |one: &Container| {
        one.kind == ContainerKind::Init
            && !matches!(one.state, ContainerState::NoStatus | ContainerState::Succeeded)
    };
    let runs = |one: &Container| {
        one.kind == ContainerKind::Regular && one.state == ContainerState::Running
    };
    containers.iter().any(is_open) && !containers.iter().any(runs)
}
