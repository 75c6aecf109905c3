//! Where the rows that give a pod's cause are not those of its stage ([§10.1](crate::specification#s10-1)).

use serde::{Deserialize, Serialize};

use crate::pod::{ConditionType, ContainerKind, ContainerSpec, ContainerState, PodSnapshot};

/// Which detours the newest snapshot shows; one byte, because a pod in flight has little room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedDetours", into = "SavedDetours")]
pub(in crate::lifecycle) struct Detours(u8);

/// The saved form of [`Detours`], by name.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedDetours {
    past_network: bool,
    init_again: bool,
}

impl From<Detours> for SavedDetours {
    fn from(detours: Detours) -> Self {
        Self { past_network: detours.is_past_network(), init_again: detours.runs_init_again() }
    }
}

impl From<SavedDetours> for Detours {
    fn from(saved: SavedDetours) -> Self {
        Self::new(saved.past_network, saved.init_again)
    }
}

const PAST_NETWORK: u8 = 1;
const INIT_AGAIN: u8 = 1 << 1;

impl Detours {
    pub(in crate::lifecycle) fn from_snapshot(snapshot: &PodSnapshot) -> Self {
        Self::new(is_past_network(snapshot), runs_init_again(&snapshot.containers))
    }

    fn new(is_past_network: bool, runs_init_again: bool) -> Self {
        Self((PAST_NETWORK * u8::from(is_past_network)) | (INIT_AGAIN * u8::from(runs_init_again)))
    }

    /// The kubelet has no network condition to state, and the containers show that the network is there.
    pub(in crate::lifecycle) const fn is_past_network(self) -> bool {
        self.0 & PAST_NETWORK != 0
    }

    /// No regular container runs, and an init container has to end again: in a new sandbox.
    pub(in crate::lifecycle) const fn runs_init_again(self) -> bool {
        self.0 & INIT_AGAIN != 0
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
fn runs_init_again(containers: &[ContainerSpec]) -> bool {
    let is_open = |one: &ContainerSpec| {
        one.kind == ContainerKind::Init
            && !matches!(one.state, ContainerState::NoStatus | ContainerState::Succeeded)
    };
    let runs = |one: &ContainerSpec| {
        one.kind == ContainerKind::Regular && one.state == ContainerState::Running
    };
    containers.iter().any(is_open) && !containers.iter().any(runs)
}
