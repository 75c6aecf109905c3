//! What a container is and where it stands, in one byte.

use std::sync::Arc;

use crate::pod::{Container, ContainerKind, ContainerState, WaitingReason};
use crate::timestamp::Timestamp;

/// Of a container: its kind and whether that has started, its state, and whether it has restarted: 2, 5 and 1
/// bits.
pub(super) fn code(container: &Container) -> u8 {
    let kind = match container.kind {
        ContainerKind::Init => 0,
        ContainerKind::RestartableInit if container.has_started => 3,
        ContainerKind::RestartableInit => 1,
        ContainerKind::Regular => 2,
    };
    let state = match container.state {
        ContainerState::NoStatus => 0,
        ContainerState::Running if container.is_ready => READY,
        ContainerState::Running => 1,
        ContainerState::Succeeded => 2,
        ContainerState::Failed => 3,
        ContainerState::Waiting(reason) => 4 + reason as u8,
    };
    kind | state << 2 | u8::from(container.has_restarted) << 7
}

/// The container of a code.
pub(super) fn container(name: Arc<str>, code: u8, started: Option<Timestamp>) -> Container {
    Container {
        name,
        kind: match code & 3 {
            0 => ContainerKind::Init,
            2 => ContainerKind::Regular,
            _ => ContainerKind::RestartableInit,
        },
        state: match code >> 2 & 0x1f {
            0 => ContainerState::NoStatus,
            1 | READY => ContainerState::Running,
            2 => ContainerState::Succeeded,
            3 => ContainerState::Failed,
            reason => {
                let reason = WaitingReason::ALL.get(usize::from(reason) - 4);
                ContainerState::Waiting(*reason.unwrap_or(&WaitingReason::Other))
            }
        },
        started,
        has_started: code & 3 == 3,
        has_restarted: code >> 7 == 1,
        is_ready: code >> 2 & 0x1f == READY,
    }
}

/// The state of a container that runs and is ready.
const READY: u8 = (1 << 5) - 1;

// More reasons would need more bits.
const _: () = assert!(4 + WaitingReason::ALL.len() <= READY as usize);
