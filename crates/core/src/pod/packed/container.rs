//! What a container is and where it stands, in one byte.

use std::sync::Arc;

use crate::pod::{ContainerKind, ContainerSpec, ContainerState, WaitingReason};
use crate::timestamp::Timestamp;

/// The code of a container: its kind with the flags of that kind, its state, and whether it has restarted, as the
/// digits of a number.
pub(super) fn code(container: &ContainerSpec) -> u8 {
    let kind = match container.kind {
        ContainerKind::Init => INIT,
        ContainerKind::RestartableInit if container.has_started => STARTED,
        ContainerKind::RestartableInit => RESTARTABLE,
        ContainerKind::Regular if container.ends_for_good => ENDS_FOR_GOOD,
        ContainerKind::Regular => REGULAR,
    };
    let state = match container.state {
        ContainerState::NoStatus => 0,
        ContainerState::Running if container.is_ready => READY,
        ContainerState::Running => 1,
        ContainerState::Succeeded => 2,
        ContainerState::Failed => 3,
        ContainerState::Waiting(reason) => 4 + reason as u8,
    };
    (kind * STATES + state) * 2 + u8::from(container.has_restarted)
}

/// The container of a code.
pub(super) fn container(name: Arc<str>, code: u8, started: Option<Timestamp>) -> ContainerSpec {
    let (kind, state) = (code / 2 / STATES, code / 2 % STATES);
    ContainerSpec {
        name,
        kind: match kind {
            INIT => ContainerKind::Init,
            RESTARTABLE | STARTED => ContainerKind::RestartableInit,
            _ => ContainerKind::Regular,
        },
        state: match state {
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
        has_started: kind == STARTED,
        has_restarted: code % 2 == 1,
        is_ready: state == READY,
        ends_for_good: kind == ENDS_FOR_GOOD,
    }
}

const INIT: u8 = 0;
const RESTARTABLE: u8 = 1;
/// A restartable init container that has started.
const STARTED: u8 = 2;
const REGULAR: u8 = 3;
/// A regular container that nothing runs again once it has ended with exit code 0.
const ENDS_FOR_GOOD: u8 = 4;
const KINDS: u8 = 5;

/// The state of a container that runs and is ready.
const READY: u8 = STATES - 1;
const STATES: u8 = 25;

// More reasons would need more than a byte.
const _: () = assert!(4 + WaitingReason::ALL.len() <= READY as usize);
const _: () = assert!(KINDS as usize * STATES as usize * 2 <= u8::MAX as usize);
