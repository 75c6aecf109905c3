//! The clauses of [§10](crate::specification#s10) that can be got wrong, one method each. The
//! methods' own bodies are the specification; [`SpecCauses`] leaves all of them as they are.

use super::scheduler::Clause;
use crate::oracle::reading::container::{Container, Kind, State};
use crate::oracle::reading::kube_event::KubeEvent;

/// [§10](crate::specification#s10), where nothing is overridden.
pub(crate) trait CauseRules {
    /// The first row of the table
    fn terminating_comes_first(&self) -> bool {
        true
    }

    /// "cut at ` preemption:`"
    fn cut<'m>(&self, message: &'m str) -> &'m str {
        let cut = message.split_once(" preemption:");
        cut.map_or(message, |(before, _)| before)
    }

    /// "the clause […] with the most nodes, on a tie the first"
    fn most<'c>(&self, clauses: &'c [Clause]) -> Option<&'c Clause> {
        let most = clauses.iter().map(|clause| clause.nodes).max()?;
        clauses.iter().find(|clause| clause.nodes == most)
    }

    /// "a clause without a number counts for all nodes"
    fn nodes_without_number(&self, all: u64) -> u64 {
        all
    }

    /// The warnings "from any reporter", and the cause that each of them is.
    fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
        let message = event.message.to_lowercase();
        match event.reason.as_str() {
            "FailedPrepareDynamicResources" => Some("claim"),
            "FailedMount" | "FailedAttachVolume" | "FailedMapVolume" => Some("volume"),
            "NetworkNotReady" => Some("cni"),
            "FailedCreatePodSandBox" if message.contains("network") || message.contains("cni") => {
                Some("cni")
            }
            "FailedCreatePodSandBox" => Some("sandbox"),
            _ => None,
        }
    }

    /// "what was delivered last of the warnings"
    fn which_warning(&self, delivered: &[&'static str]) -> Option<&'static str> {
        delivered.last().copied()
    }

    /// Not so is "the first init container that has neither ended with exit code 0 nor, if
    /// restartable, a start".
    fn init_is_over(&self, container: &Container, has_start: bool) -> bool {
        container.state == State::Terminated(Some(0))
            || (container.kind == Kind::RestartableInit && has_start)
    }

    /// "for an interval that was found too long when it ended: those before that delivery, `none`
    /// where the pod was not known before"
    fn blamed_of_delivery(&self, place: usize) -> Option<usize> {
        place.checked_sub(1)
    }

    /// [§10.2](crate::specification#s10-2): "without having been Ready, not as `completed`", "instead
    /// of `failed`, `deleted` or `vanished`"
    fn is_instead_of(&self, outcome: &str) -> bool {
        matches!(outcome, "failed" | "deleted" | "vanished")
    }

    /// [§10.3](crate::specification#s10-3): "One that was open at first sight is counted in the gauge
    /// alone."
    fn counts_open_at_first_sight(&self) -> bool {
        false
    }
}

/// [§10](crate::specification#s10) as the specification states it.
pub(crate) struct SpecCauses;

impl CauseRules for SpecCauses {}
