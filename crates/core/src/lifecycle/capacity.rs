//! Whether help is on its way for a pod that fits on no node: what autoscalers say of it in Events
//! ([§10.4](crate::specification#s10-4)).

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::MessageBudget;
use super::nodes::KnownNodes;
use crate::kube_event::{CapacityState, EventReason, KubeEvent};
use crate::pod::text::cut;
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// The capacity state of a pod in flight: nothing before its first Event of an autoscaler, or its first time as
/// unschedulable with Events. Boxed, because few pods have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PodCapacity(Option<Box<KnownCapacity>>);

/// The state of capacity, and what the last Event said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct KnownCapacity {
    state: CapacityState,
    said: Option<CapacityStatement>,
    /// The nodes that were chosen for the pod within 30 minutes, the newest last, at most [`MOST_CHOICES`]
    chosen: Vec<ChosenNode>,
}

/// A node that an autoscaler has chosen for a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct ChosenNode {
    /// When that was said last
    at: Timestamp,
    /// What tells it from others: the name of its NodeClaim, or else its own
    name: Box<str>,
    /// Its own name, where that is said besides: a NodeClaim has it once the node is there
    node: Option<Box<str>>,
}

/// So many choices are kept.
const MOST_CHOICES: usize = 16;
/// Choices count together within so much time.
const CHOICES_WITHIN: Duration = Duration::from_secs(1_800);
/// Fewer choices are not told.
const LEAST_CHOICES: usize = 3;

/// How often an autoscaler has chosen another node for a pod within 30 minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "node_choices")]
pub struct NodeChoices {
    /// At least 3, at most 16
    pub chosen: usize,
    /// How many of these nodes came, as far as is known
    pub came: usize,
}

/// The last Event of an autoscaler about a pod: its reporter, its arrival in milliseconds, and its message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct CapacityStatement {
    by: Arc<str>,
    since: Timestamp,
    message: Option<Box<str>>,
}

/// Whether a node is on its way for a pod that fits on none, by the last Event of an autoscaler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "unschedulable")]
pub struct RecordedCapacity {
    /// `unknown` proves nothing: autoscalers do not send an Event for every pod
    #[serde(rename = "capacity")]
    pub state: CapacityState,
    /// Who says so: a component such as `cluster-autoscaler`; left out where nobody does, or has no name
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Arc<str>>,
    /// When podinit first heard that
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// In the words of the autoscaler, at most 256 bytes of their beginning and end
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
    /// How often it has chosen another node within 30 minutes; left out below three times
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<NodeChoices>,
}

impl PodCapacity {
    /// The state of a pod in the stage `unschedulable`.
    pub(super) fn state(&self) -> CapacityState {
        (self.0.as_deref()).map_or(CapacityState::Unknown, |known| known.state)
    }

    /// The pod is unschedulable while Events are a source: from now on its record has a state.
    pub(super) fn follow(&mut self) {
        self.known();
    }

    fn known(&mut self) -> &mut KnownCapacity {
        self.0.get_or_insert_default()
    }

    fn said(&self) -> Option<&CapacityStatement> {
        self.0.as_ref()?.said.as_ref()
    }

    /// Takes in an Event of the pod, delivered at `now`.
    pub(super) fn take_event(
        &mut self,
        event: &KubeEvent,
        now: Timestamp,
        budget: &mut MessageBudget,
    ) {
        let EventReason::Capacity { state, by } = &event.reason else {
            return;
        };
        let known = self.known();
        let said = known.said.take();
        let kept = said.as_ref().and_then(|said| said.message.as_deref());
        let message = budget.exchange(kept, event.message.as_deref());
        let is_same = known.state == *state;
        let since = said.filter(|said| is_same && said.by == *by);
        let since = since.map_or(to_milli(now), |said| said.since);
        known.state = *state;
        if *state == CapacityState::Nominated {
            let at = event.occurred.last.unwrap_or(now).min(now);
            known.choose(event.message.as_deref().unwrap_or_default(), at);
        }
        known.said = Some(CapacityStatement { by: Arc::clone(by), since, message });
    }

    /// What was said last holds since `since`.
    pub(super) fn hold_since(&mut self, since: Timestamp) {
        if let Some(said) = self.0.as_mut().and_then(|known| known.said.as_mut()) {
            said.since = to_milli(since);
        }
    }

    /// How often another node was chosen, and how many of these came: of those that `nodes` knows, or whose own name is
    /// said beside that of a NodeClaim.
    pub(super) fn choices(&self, nodes: Option<&KnownNodes>) -> Option<NodeChoices> {
        let known = self.0.as_ref().filter(|known| known.state == CapacityState::Nominated)?;
        let has_come = |chosen: &&ChosenNode| {
            let is_known = nodes.is_some_and(|nodes| nodes.has_come(&chosen.name));
            is_known || chosen.node.is_some()
        };
        let chosen = known.chosen.len();
        let came = known.chosen.iter().filter(has_come).count();
        (chosen >= LEAST_CHOICES).then_some(NodeChoices { chosen, came })
    }

    /// Counts the message of a pod that was restored from a checkpoint in the budget.
    pub(super) fn restore(&mut self, budget: &mut MessageBudget) {
        if let Some(said) = self.0.as_mut().and_then(|known| known.said.as_mut()) {
            said.message = budget.exchange(None, said.message.as_deref());
        }
    }

    /// Takes the message of a pod that is no longer in flight out of the budget.
    pub(super) fn release(&self, budget: &mut MessageBudget) {
        budget.exchange(self.message(), None);
    }

    fn message(&self) -> Option<&str> {
        self.said()?.message.as_deref()
    }

    /// The capacity for a record; `None` while nothing is known.
    pub(super) fn recorded(&self) -> Option<RecordedCapacity> {
        let said = self.said();
        let by = said.map(|said| Arc::clone(&said.by));
        Some(RecordedCapacity {
            state: self.0.as_ref()?.state,
            by: by.filter(|by| !by.is_empty()),
            since: said.map(|said| said.since),
            message: self.message().map(Arc::from),
            choices: None,
        })
    }
}

impl KnownCapacity {
    /// Takes in that a node was chosen at `at`, in the words of Karpenter.
    fn choose(&mut self, message: &str, at: Timestamp) {
        let Some((name, node)) = chosen_node(message) else {
            return;
        };
        self.chosen.retain(|chosen| *chosen.name != *name && chosen.at.plus(CHOICES_WITHIN) >= at);
        if self.chosen.len() >= MOST_CHOICES {
            self.chosen.remove(0);
        }
        let at = to_milli(at);
        self.chosen.push(ChosenNode { at, name: name.into(), node: node.map(Into::into) });
    }
}

/// The name of the NodeClaim that `Pod should schedule on: nodeclaim/NAME, node/NODE` chooses, and that of its node; of
/// older versions, which name only one, the name that stands last.
fn chosen_node(message: &str) -> Option<(&str, Option<&str>)> {
    /// Longer than names of nodes are.
    const MOST_BYTES: usize = 256;
    let named = |kind: &str| {
        let begin = message.find(kind)? + kind.len();
        let name = message[begin..].split([',', ' ']).next().filter(|name| !name.is_empty())?;
        Some(cut(name, MOST_BYTES))
    };
    let node = named("node/");
    match named("nodeclaim/").or_else(|| named("machine/")) {
        Some(claim) => Some((claim, node)),
        None => {
            let last = || message.split_whitespace().next_back().map(|name| cut(name, MOST_BYTES));
            Some((node.or_else(last)?, None))
        }
    }
}

/// The instant in whole milliseconds, as a checkpoint saves it.
const fn to_milli(at: Timestamp) -> Timestamp {
    let nanos = at.as_nanos();
    Timestamp::from_nanos(nanos - nanos.rem_euclid(NANOS_PER_MILLI))
}

#[cfg(test)]
#[path = "capacity_tests.rs"]
mod tests;
