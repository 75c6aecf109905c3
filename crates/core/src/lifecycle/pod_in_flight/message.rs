//! The texts of Kubernetes about why a pod in flight waits: which are kept, and which are shown
//! ([§10.1](crate::specification#s10-1)).

use std::borrow::Cow;
use std::sync::Arc;

use super::{PodInFlight, SharedState};
use crate::kube_event::{EventReason, KubeEvent};
use crate::lifecycle::cause::{Cause, WaitReason};
use crate::lifecycle::hints::WaitingCause;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::messages::{MOST_BYTES_OF_ONE, Message, NewMessage, said_by_event};
use crate::lifecycle::texts::Texts;
use crate::reason::{keep, telling};

impl PodInFlight {
    /// What Kubernetes says about the present cause, with what Events add; `None` if it says nothing.
    pub(in crate::lifecycle) fn told(&self) -> Option<Cow<'_, str>> {
        match self.texts.as_ref().and_then(|texts| texts.hints.as_ref()) {
            Some(hints) => hints.told(self.tells(), self.message()),
            None => self.message().map(Cow::Borrowed),
        }
    }

    /// Why the pod's node is not Ready, where the pod waits for that ([§10.1](crate::specification#s10-1)).
    pub(in crate::lifecycle) fn said_of_node<'a>(
        &self,
        shared: &'a SharedState,
    ) -> Option<&'a str> {
        let may_wait_for_node = matches!(
            self.waiting.cause(),
            Cause::Acknowledge | Cause::Volume | Cause::NoSandbox | Cause::Unknown
        );
        let name = self.info.node.as_deref().filter(|_| may_wait_for_node)?;
        shared.nodes.as_ref()?.not_ready(name)
    }

    fn tells(&self) -> WaitingCause {
        let (stage, cause) = (self.waiting.stage(), self.waiting.cause());
        WaitingCause { stage, cause, container: self.container }
    }

    /// The message about the present cause, of the pod's status or of the warning that gives the cause.
    pub(super) fn message(&self) -> Option<&str> {
        let message = self.kept_message();
        let shown = message.filter(|message| message.about == self.waiting);
        shown.map(|message| &*message.text)
    }

    /// The kept message: about the present cause, or about one that a warning announces.
    pub(super) fn kept_message(&self) -> Option<&Message> {
        self.texts.as_ref()?.message.as_ref()
    }

    /// Replaces the kept message, or removes it where there is no room.
    pub(super) fn replace_message(
        &mut self,
        said: Option<NewMessage<'_>>,
        shared: &mut SharedState,
    ) {
        let mut texts = self.texts.take().unwrap_or_default();
        shared.messages.replace(&mut texts.message, said);
        let image = said.and_then(|said| said.volume_image);
        if image.is_some() || texts.hints.is_some() {
            texts.hints.get_or_insert_default().volume_image = image.cloned();
        }
        self.texts = Some(texts).filter(|texts| **texts != Texts::default());
    }

    /// Counts the texts of a checkpoint in the budget, and drops those without room.
    pub(super) fn count_texts(&mut self, shared: &mut SharedState) {
        let Some(mut texts) = self.texts.take() else {
            return;
        };
        let hints = texts.hints.take();
        let message = texts.message.as_ref().map(Message::said);
        self.replace_message(message, shared);
        if let Some(mut hints) = hints {
            hints.count(&mut shared.messages);
            self.texts.get_or_insert_default().hints = Some(hints);
        }
    }

    /// Restores a message of a checkpoint, which no budget counts yet.
    pub(super) fn read_message(&mut self, message: Option<Message>) {
        self.texts = message.map(|message| Box::new(Texts { message: Some(message), hints: None }));
    }

    /// The image of a volume that cannot be pulled; `None` unless that is the present cause.
    pub(in crate::lifecycle) fn volume_image(&self) -> Option<&Arc<str>> {
        let hints = self.texts.as_ref()?.hints.as_ref()?;
        let image = hints.volume_image.as_ref();
        image.filter(|_| self.waiting.cause() == Cause::Image)
    }

    /// Keeps the text of an Event about the pod. `position` is that of the container that the Event names.
    pub(super) fn take_text(
        &mut self,
        event: &KubeEvent,
        position: Option<usize>,
        shared: &mut SharedState,
    ) {
        let is_taken_back = (self.kept_message()).is_some_and(|message| message.is_of_attachment);
        if event.reason == EventReason::VolumeAttached && is_taken_back {
            self.replace_message(None, shared);
        }
        match &event.message {
            Some(said) if self.is_told_by(event) => {
                let meant = self.evidence.said_of_meant_nodes(said);
                let said = NewMessage {
                    about: self.waiting,
                    is_of_attachment: false,
                    volume_image: None,
                    text: meant.as_deref().unwrap_or(said),
                };
                self.set_message(Some(said).filter(|said| !said.text.is_empty()), shared);
            }
            _ => self.set_message(said_by_event(event), shared),
        }
        let Some((hint, text)) = event.hint() else {
            return;
        };
        let container = position.and_then(|position| u8::try_from(position).ok());
        let texts = self.texts.get_or_insert_default();
        let hints = texts.hints.get_or_insert_default();
        hints.keep(hint, container, text, self.container, &mut shared.messages);
    }

    /// Keeps a message about the present cause, or about one to come, and drops a useless one. It does not replace a
    /// message about the same cause that tells more.
    pub(super) fn set_message(&mut self, said: Option<NewMessage<'_>>, shared: &mut SharedState) {
        let hides_none = self.message().is_none();
        let said = said.filter(|said| self.is_of_use(said.about));
        let said = said.filter(|said| said.about == self.waiting || hides_none);
        let kept = self.kept_message();
        let tells_more = |said: &NewMessage<'_>| {
            kept.is_some_and(|kept| {
                kept.about == said.about && telling(&kept.text) > telling(said.text)
            })
        };
        if said.as_ref().is_some_and(tells_more) {
            return;
        }
        let kept = kept.map(|message| message.about);
        if said.is_some() || kept.is_some_and(|about| !self.is_of_use(about)) {
            self.replace_message(said, shared);
        }
    }

    /// Drops all texts until Kubernetes repeats them.
    pub(in crate::lifecycle) fn forget_message(&mut self, shared: &mut SharedState) {
        self.release_messages(shared);
        self.texts = None;
    }

    /// Keeps the text about the last cause of an ended startup, outside the budget.
    pub(super) fn settle_texts(&mut self, shared: &mut SharedState) {
        self.release_messages(shared);
        let told = self.told().map(|told| keep(&told, MOST_BYTES_OF_ONE).into());
        self.read_message(told.map(|text| Message {
            about: self.waiting,
            is_of_attachment: false,
            text,
        }));
    }

    /// Takes all texts out of the budget.
    pub(super) fn release_messages(&self, shared: &mut SharedState) {
        shared.messages.release(self.kept_message());
        if let Some(hints) = self.texts.as_ref().and_then(|texts| texts.hints.as_ref()) {
            hints.release(&mut shared.messages);
        }
    }

    /// Whether the pod waits for `about`, or may do so soon: its last warning is about that, and the pod has
    /// not left the stage.
    fn is_of_use(&self, about: WaitReason) -> bool {
        let has_left = self.waiting.stage() > Stage::Network;
        about == self.waiting || !has_left && self.evidence.warns_of(about.cause())
    }
}
