//! What Kubernetes says of why a pod waits, in its own words, for records only
//! ([§11](crate::specification#s11)).
//!
//! It belongs to one cause, and is shown while the pod waits for that. The message of a warning may come before
//! the snapshot that makes the warning its cause, and is kept until then.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cause::{Cause, WaitReason, cause_of_warning};
use super::interval::Stage;
use crate::image_registry;
use crate::kube_event::{EventReason, KubeEvent, SandboxWarning};
use crate::pod::PodSnapshot;
use crate::reason;

/// The longest message, in bytes.
pub(super) const MOST_BYTES_OF_ONE: usize = 256;
/// Where the messages of all pods in flight take more bytes than this, the oldest are let go ...
const MOST_BYTES: usize = 4 << 20;
/// ... and what comes too fast for that is not kept beyond so many more.
const MOST_BYTES_AT_ONCE: usize = 64 << 10;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Message {
    /// The stage and cause that it is about
    pub(super) about: WaitReason,
    /// A warning says it whose volume may be attached later, which takes it back
    #[serde(default)]
    pub(super) is_of_attachment: bool,
    pub(super) text: Box<str>,
}

/// A message that is not kept yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewMessage<'a> {
    /// The stage and cause that it is about
    pub(super) about: WaitReason,
    /// A warning `FailedAttachVolume` says it
    pub(super) is_of_attachment: bool,
    /// The image of a volume that it says cannot be pulled
    pub(super) volume_image: Option<&'a Arc<str>>,
    pub(super) text: &'a str,
}

/// The bytes that the messages of pods in flight take.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MessageBudget(usize);

impl MessageBudget {
    /// Replaces the message of a pod, or removes it, also where there is no room for the new one.
    pub(super) fn replace(&mut self, message: &mut Option<Message>, new: Option<NewMessage<'_>>) {
        let cut = new.map(|said| reason::keep(said.text, MOST_BYTES_OF_ONE));
        let old = message.as_ref().map(Message::said);
        let is_same = |new: NewMessage<'_>| {
            old.map(|old| (old.about, old.is_of_attachment, old.text))
                == Some((new.about, new.is_of_attachment, cut.as_deref().unwrap_or_default()))
        };
        if new.map_or(old.is_none(), is_same) {
            return;
        }
        let kept = self.exchange(old.map(|old| old.text), cut.as_deref());
        *message = new.zip(kept).map(|(new, text)| Message {
            about: new.about,
            is_of_attachment: new.is_of_attachment,
            text,
        });
    }

    /// Takes `old` out of the budget. Returns `new`, shortened, if there is room for it.
    pub(super) fn exchange(&mut self, old: Option<&str>, new: Option<&str>) -> Option<Box<str>> {
        self.0 -= old.map_or(0, str::len);
        let new = reason::keep(new?, MOST_BYTES_OF_ONE);
        if self.0 + new.len() > MOST_BYTES + MOST_BYTES_AT_ONCE {
            return None;
        }
        self.0 += new.len();
        Some(new.into())
    }

    /// Whether the oldest messages have to go.
    pub(super) const fn is_full(&self) -> bool {
        self.0 > MOST_BYTES
    }

    /// Takes a message out of the budget.
    pub(super) fn release(&mut self, message: Option<&Message>) {
        self.0 -= message.map_or(0, |message| message.text.len());
    }
}

impl Message {
    /// The message, borrowed.
    pub(super) fn said(&self) -> NewMessage<'_> {
        NewMessage {
            about: self.about,
            is_of_attachment: self.is_of_attachment,
            volume_image: None,
            text: &self.text,
        }
    }
}

/// The message of a snapshot about why its pod waits; `None` where it has none.
pub(super) fn said_by_pod(snapshot: &PodSnapshot, waiting: WaitReason) -> Option<NewMessage<'_>> {
    let text = match waiting.stage() {
        Stage::Scheduling | Stage::Unschedulable => &*snapshot.not_scheduled.as_ref()?.message,
        // In the stage `network` for kubelets without the network condition.
        Stage::Network if waiting.cause() == Cause::Unknown && !snapshot.has_readiness_gates => {
            snapshot.said_of_ready.as_deref()?
        }
        Stage::Network | Stage::Init | Stage::Containers => {
            said_of_container(snapshot, waiting.cause())?
        }
        Stage::Readiness => snapshot.said_of_ready.as_deref()?,
        Stage::Gated => return None,
    };
    let is_said = waiting.cause() != Cause::Terminating && !text.is_empty();
    is_said.then_some(NewMessage {
        about: waiting,
        is_of_attachment: false,
        volume_image: named_volume(snapshot, waiting.cause(), text),
        text,
    })
}

/// The message of the first container whose problem is `cause`.
fn said_of_container(snapshot: &PodSnapshot, cause: Cause) -> Option<&str> {
    let mut messages = snapshot.waiting_messages.iter().flat_map(|all| all.iter());
    let message = messages.find(|message| {
        let container = snapshot.containers.get(message.container);
        container.and_then(|container| super::cause::problem(container.state)) == Some(cause)
    })?;
    Some(&message.text)
}

/// The image of a volume that `text` says cannot be pulled: kubelets say it of the container that mounts the volume.
fn named_volume<'a>(snapshot: &'a PodSnapshot, cause: Cause, text: &str) -> Option<&'a Arc<str>> {
    let images = snapshot.volume_images.iter().flat_map(|images| images.iter());
    let mut images = images.filter(|_| cause == Cause::Image);
    images.find(|image| image_registry::is_named_in(text, image))
}

/// The message of an Event about a wait in the stage `network`, also before its pod is in that stage.
pub(super) fn said_by_event(event: &KubeEvent) -> Option<NewMessage<'_>> {
    let EventReason::Warning(warning) = event.reason else {
        return None;
    };
    let text = event.message.as_deref().filter(|text| !text.is_empty())?;
    let about = about_warning(warning)?;
    Some(NewMessage {
        about,
        is_of_attachment: warning == SandboxWarning::FailedAttachVolume,
        volume_image: None,
        text,
    })
}

/// The stage and cause that a warning is about.
pub(super) fn about_warning(warning: SandboxWarning) -> Option<WaitReason> {
    WaitReason::new(Stage::Network, cause_of_warning(warning))
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
