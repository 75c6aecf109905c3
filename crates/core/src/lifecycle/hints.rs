//! Texts of a kubelet's Events that give no cause of a pod in flight, but explain one
//! ([§10.1](crate::specification#s10-1)). They are for records only, as the messages of causes are.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::interval::Stage;
use super::messages::MessageBudget;
use crate::kube_event::{Hint, ProbeKind};
use crate::reason::{self, Telling};

/// The longest text of a failed probe, in characters, so that a sentence has room for how the container ended.
const MOST_OF_PROBE: usize = 80;

/// What is kept of a pod beside the message of its cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Hints {
    /// The newest text of each kind: at most one for each [`Hint`], the newest last
    texts: Vec<Kept>,
    /// The image of a volume that the status says cannot be pulled ([§13.3](crate::specification#s13-3))
    pub volume_image: Option<Arc<str>>,
}

/// One text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    hint: Hint,
    /// The position of the container that it is about; `None` where it is about the pod
    #[serde(default)]
    container: Option<u8>,
    text: Box<str>,
}

/// A cause, and the position of the container that gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitingCause {
    pub stage: Stage,
    pub cause: Cause,
    pub container: Option<u8>,
}

impl Hints {
    /// Keeps a text that is not blank. A text about the container that the pod waits for now is not replaced by one of
    /// the same kind about another container.
    pub(super) fn keep(
        &mut self,
        hint: Hint,
        container: Option<u8>,
        text: &str,
        waits_for: Option<u8>,
        budget: &mut MessageBudget,
    ) {
        if matches!(hint, Hint::Claim | Hint::Provisioner) {
            return self.keep_of_claims(hint, text, budget);
        }
        let old = self.texts.iter().position(|kept| kept.hint == hint);
        let is_of_other = |kept: &Kept| {
            kept.container.is_some() && kept.container == waits_for && container != waits_for
        };
        if reason::telling(text) == Telling::Nothing
            || old.is_some_and(|old| is_of_other(&self.texts[old]))
        {
            return;
        }
        let old = old.map(|old| self.texts.remove(old));
        let kept = budget.exchange(old.as_ref().map(|old| &*old.text), Some(text));
        self.texts.extend(kept.map(|text| Kept { hint, container, text }));
    }

    /// Keeps what is said of the claims of the pod in place of what was; nothing where `text` is blank.
    fn keep_of_claims(&mut self, hint: Hint, text: &str, budget: &mut MessageBudget) {
        let is_of_claims = |kept: &mut Kept| matches!(kept.hint, Hint::Claim | Hint::Provisioner);
        for old in self.texts.extract_if(.., is_of_claims) {
            budget.exchange(Some(&old.text), None);
        }
        let text = Some(text).filter(|text| !text.trim().is_empty());
        let kept = budget.exchange(None, text);
        self.texts.extend(kept.map(|text| Kept { hint, container: None, text }));
    }

    /// Counts the texts of a checkpoint in the budget, and drops those without room.
    pub(super) fn count(&mut self, budget: &mut MessageBudget) {
        self.texts.retain(|kept| budget.exchange(None, Some(&kept.text)).is_some());
    }

    /// Takes the texts out of the budget.
    pub(super) fn release(&self, budget: &mut MessageBudget) {
        for kept in &self.texts {
            budget.exchange(Some(&kept.text), None);
        }
    }

    /// The newest text of one of these kinds about the container that is waited for.
    fn newest(&self, waiting: WaitingCause, is: impl Fn(Hint) -> bool) -> Option<&Kept> {
        let is_about = |kept: &&Kept| {
            let is_there = kept.container.is_none() || kept.container == waiting.container;
            is_there && is(kept.hint)
        };
        self.texts.iter().rev().find(is_about)
    }

    /// The text that explains the cause `waiting`. `message` is that of the pod's status, or of the warning that gives
    /// the cause. `None` where no text is known.
    pub(super) fn told<'a>(
        &'a self,
        waiting: WaitingCause,
        message: Option<&'a str>,
    ) -> Option<Cow<'a, str>> {
        match waiting.cause {
            Cause::Image => {
                let is_of_pull = |hint| matches!(hint, Hint::Pull | Hint::Start);
                let said = self.more_telling(waiting, message, is_of_pull);
                self.with_secret(said)
            }
            Cause::Config | Cause::Create => {
                let said = self.more_telling(waiting, message, |hint| hint == Hint::Start);
                said.or_else(|| self.of_sync(waiting)).map(Cow::Borrowed)
            }
            Cause::Crash => self.crash(waiting, message),
            Cause::Volume => self.of_claims(waiting, message).or(message).map(Cow::Borrowed),
            Cause::Probe | Cause::Run => {
                let is_of_probe = |hint| matches!(hint, Hint::Unhealthy(_));
                let said = self.newest(waiting, is_of_probe).map(|kept| &*kept.text);
                said.or(message).map(Cow::Borrowed)
            }
            Cause::NoSandbox | Cause::NoIp | Cause::Unknown | Cause::Pull => {
                message.or_else(|| self.of_sync(waiting)).map(Cow::Borrowed)
            }
            _ => message.map(Cow::Borrowed),
        }
    }

    /// What is said of the claims, where that tells more than `message`: that is of a scheduler, which asks for no more than
    /// a volume, or of a kubelet, which has one.
    fn of_claims<'a>(&'a self, waiting: WaitingCause, message: Option<&str>) -> Option<&'a str> {
        /// What schedulers say of a claim without a volume
        const WITHOUT_VOLUME: [&str; 3] = ["unbound", "binding volumes", "VolumeBinding"];
        let is_of_claims = |hint| matches!(hint, Hint::Claim | Hint::Provisioner);
        let kept = self.newest(waiting, is_of_claims)?;
        let is_bound = waiting.stage > Stage::Unschedulable;
        let tells_more = message.is_none_or(|message| match (kept.hint, is_bound) {
            (Hint::Claim, false) => true,
            (Hint::Claim, true) => reason::telling(&kept.text) > reason::telling(message),
            (_, is_bound) => !is_bound && WITHOUT_VOLUME.iter().any(|said| message.contains(said)),
        });
        tells_more.then_some(&*kept.text)
    }

    fn of_sync(&self, waiting: WaitingCause) -> Option<&str> {
        let kept = self.newest(waiting, |hint| hint == Hint::Sync)?;
        Some(&kept.text)
    }

    /// The message, or a text of these kinds if that is more telling; `None` without either.
    fn more_telling<'a>(
        &'a self,
        waiting: WaitingCause,
        message: Option<&'a str>,
        is: impl Fn(Hint) -> bool,
    ) -> Option<&'a str> {
        let kept = self.newest(waiting, is).map(|kept| &*kept.text);
        match (message, kept) {
            (Some(message), Some(kept)) => {
                let is_more = reason::telling(kept) > reason::telling(message);
                Some(if is_more { kept } else { message })
            }
            (message, kept) => message.or(kept),
        }
    }

    /// The text of a pull with its missing secrets, because a registry refuses without them.
    fn with_secret<'a>(&'a self, said: Option<&'a str>) -> Option<Cow<'a, str>> {
        let kept = self.texts.iter().find(|kept| kept.hint == Hint::PullSecret);
        let Some(kept) = kept else {
            return said.map(Cow::Borrowed);
        };
        let secret = kept.text.split(';').next().unwrap_or_default().trim();
        let secret = secret.replacen("Unable to retrieve", "unable to retrieve", 1);
        Some(Cow::Owned(match said.map(reason::extract) {
            Some(said) => format!("{said}; {secret}"),
            None => secret,
        }))
    }

    /// The text of a crash with the probe for which the kubelet killed the container, or that failed before.
    fn crash<'a>(
        &'a self,
        waiting: WaitingCause,
        message: Option<&'a str>,
    ) -> Option<Cow<'a, str>> {
        let kills = |kind| matches!(kind, ProbeKind::Startup | ProbeKind::Liveness);
        let is_killed = |hint| matches!(hint, Hint::Killed(_));
        let fails = |hint| matches!(hint, Hint::Unhealthy(kind) if kills(kind));
        let killed = self.newest(waiting, is_killed).map(|kept| kept.hint);
        let failed = self.newest(waiting, |hint| match killed {
            // How the probe failed that it was killed for.
            Some(Hint::Killed(kind)) => hint == Hint::Unhealthy(kind),
            _ => fails(hint),
        });
        let kind = match (killed, failed.map(|kept| kept.hint)) {
            (Some(Hint::Killed(kind)), _) | (None, Some(Hint::Unhealthy(kind))) => kind.as_str(),
            _ => return message.map(Cow::Borrowed),
        };
        let why = failed.map(|kept| {
            let (_, why) = kept.text.split_once(": ").unwrap_or(("", &kept.text));
            reason::shorten(&reason::extract(why), MOST_OF_PROBE).into_owned()
        });
        let ended = reason::crash(message.unwrap_or_default());
        // Where it ended by itself, that comes first.
        let by_signal = ["exit code 137", "exit code 143"];
        let is_killed = killed.is_some()
            && (ended.is_empty() || by_signal.iter().any(|code| ended.starts_with(code)));
        Some(Cow::Owned(match (is_killed, why) {
            (true, why) => {
                let why = why.map_or_else(String::new, |why| format!(" ({why})"));
                let ended = match ended {
                    "" => String::new(),
                    ended => format!(", {ended}"),
                };
                format!("killed by its {kind} probe{why}{ended}")
            }
            (false, Some(why)) if ended.is_empty() => format!("its {kind} probe failed: {why}"),
            (false, Some(why)) => format!("{ended}; its {kind} probe failed: {why}"),
            (false, None) => format!("{ended}; its {kind} probe failed"),
        }))
    }
}

#[cfg(test)]
#[path = "hints_tests.rs"]
mod tests;
