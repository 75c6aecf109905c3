//! What Kubernetes says of why a pod waits, in its own words, for records only
//! ([§11](crate::specification#s11)).
//!
//! It belongs to the present cause: when the cause changes and nothing is said of the new one, it goes.

use super::cause::{Cause, Waiting};
use super::interval::Stage;
use crate::kube_event::{EventReason, KubeEvent};
use crate::pod::{PodSnapshot, text};

/// A message is cut to so many bytes.
pub(super) const MOST_BYTES_OF_ONE: usize = 256;
/// The messages of all pods in flight take no more bytes than this; a further one is not kept.
const MOST_BYTES: usize = 4 << 20;

/// A message; boxed twice, because a pod in flight has little room for what few pods have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message(pub(super) Box<str>);

/// How many bytes the messages of pods in flight take.
#[derive(Debug, Default)]
pub(super) struct MessageBudget(usize);

impl MessageBudget {
    /// Replaces the message of a pod, or removes it, also where there is no room for the new one.
    pub(super) fn replace(&mut self, message: &mut Option<Box<Message>>, new: Option<&str>) {
        let new = new.map(|new| text::cut(new, MOST_BYTES_OF_ONE));
        let old = message.as_ref().map(|message| &*message.0);
        if old == new {
            return;
        }
        self.release(old);
        let room = MOST_BYTES - self.0;
        let new = new.filter(|new| new.len() <= room);
        *message = new.map(|new| Box::new(Message(new.into())));
        self.0 += new.map_or(0, str::len);
    }

    /// A pod with this message is in flight no longer.
    pub(super) fn release(&mut self, message: Option<&str>) {
        self.0 -= message.map_or(0, str::len);
    }
}

/// What a snapshot says of why its pod waits.
pub(super) fn said_by_pod(snapshot: &PodSnapshot, waiting: Waiting) -> Option<&str> {
    let said = match waiting.stage() {
        Stage::Scheduling | Stage::Unschedulable => &*snapshot.not_scheduled.as_ref()?.message,
        Stage::Init | Stage::Containers => said_of_container(snapshot, waiting.cause())?,
        Stage::Gated | Stage::Network | Stage::Readiness => return None,
    };
    let is_said = waiting.cause() != Cause::Terminating && !said.is_empty();
    is_said.then_some(said)
}

/// What the first container says of itself that has the problem which is the cause.
fn said_of_container(snapshot: &PodSnapshot, cause: Cause) -> Option<&str> {
    let mut messages = snapshot.waiting_messages.iter().flat_map(|all| all.iter());
    let message = messages.find(|message| {
        let container = snapshot.containers.get(message.container);
        container.and_then(|container| super::cause::problem(container.state)) == Some(cause)
    })?;
    Some(&message.text)
}

/// What an Event says of why its pod waits.
pub(super) fn said_by_event(event: &KubeEvent, waiting: Waiting) -> Option<&str> {
    let is_warned = matches!(
        waiting.cause(),
        Cause::Claim | Cause::Volume | Cause::Cni | Cause::Sandbox
    );
    let is_about = waiting.stage() == Stage::Network
        && is_warned
        && matches!(event.reason, EventReason::Warning(_));
    event.message.as_deref().filter(|_| is_about)
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
