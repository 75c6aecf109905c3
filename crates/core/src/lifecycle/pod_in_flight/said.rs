//! What Kubernetes says of why a pod in flight waits: which texts are kept, and which are told
//! ([§10.1](crate::specification#s10-1)).

use std::borrow::Cow;
use std::sync::Arc;

use super::{PodInFlight, SharedState};
use crate::kube_event::{EventReason, KubeEvent};
use crate::lifecycle::cause::WaitReason;
use crate::lifecycle::hints::Waiting;
use crate::lifecycle::interval::Stage;
use crate::lifecycle::messages::{Said, said_by_event};
use crate::reason::telling;

impl PodInFlight {
    /// What Kubernetes says of the present cause.
    pub(in crate::lifecycle) fn told(&self) -> Option<Cow<'_, str>> {
        match &self.hints {
            Some(hints) => hints.told(self.tells(), self.message()),
            None => self.message().map(Cow::Borrowed),
        }
    }

    fn tells(&self) -> Waiting {
        Waiting {
            cause: self.waiting.cause(),
            container: self.container,
        }
    }

    /// What its status says of the present cause, or the warning that gives it.
    pub(super) fn message(&self) -> Option<&str> {
        let message = self.message.as_deref();
        let shown = message.filter(|message| message.about == self.waiting);
        shown.map(|message| &*message.text)
    }

    /// The image of a volume that cannot be pulled, where that is the present cause.
    pub(in crate::lifecycle) fn volume_image(&self) -> Option<&Arc<str>> {
        let message = self.message.as_deref();
        let message = message.filter(|message| message.about == self.waiting)?;
        message.volume_image.as_ref()
    }

    /// Takes in what an Event about the pod says; `position` is that of the container that it names.
    pub(super) fn take_text(
        &mut self,
        event: &KubeEvent,
        position: Option<usize>,
        shared: &mut SharedState,
    ) {
        let is_taken_back = self
            .message
            .as_deref()
            .is_some_and(|message| message.is_of_attachment);
        if event.reason == EventReason::VolumeAttached && is_taken_back {
            shared.messages.replace(&mut self.message, None);
        }
        self.set_message(said_by_event(event), shared);
        let Some((hint, text)) = event.hint() else {
            return;
        };
        let container = position.and_then(|position| u8::try_from(position).ok());
        let hints = self.hints.get_or_insert_default();
        hints.keep(hint, container, text, self.container, &mut shared.messages);
    }

    /// Keeps what is said of the present cause, or of one to come, and lets go what is of use no longer. What tells less
    /// of the same cause does not replace what tells more.
    pub(super) fn set_message(&mut self, said: Option<Said<'_>>, shared: &mut SharedState) {
        let hides_none = self.message().is_none();
        let said = said.filter(|said| self.is_of_use(said.about));
        let said = said.filter(|said| said.about == self.waiting || hides_none);
        let kept = self.message.as_deref();
        let tells_more = |said: &Said<'_>| {
            kept.is_some_and(|kept| {
                kept.about == said.about && telling(&kept.text) > telling(said.text)
            })
        };
        if said.as_ref().is_some_and(tells_more) {
            return;
        }
        let kept = kept.map(|message| message.about);
        if said.is_some() || kept.is_some_and(|about| !self.is_of_use(about)) {
            shared.messages.replace(&mut self.message, said);
        }
    }

    /// Lets go what is said of it, until it is said again.
    pub(in crate::lifecycle) fn forget_message(&mut self, shared: &mut SharedState) {
        self.release_messages(shared);
        (self.message, self.hints) = (None, None);
    }

    /// What is said of it counts no longer.
    pub(super) fn release_messages(&self, shared: &mut SharedState) {
        shared.messages.release(self.message.as_deref());
        if let Some(hints) = &self.hints {
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
