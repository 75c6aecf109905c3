//! Whether help is on its way for a pod that fits on no node: what autoscalers say of it in Events
//! ([§10.4](crate::specification#s10-4)).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::MessageBudget;
use crate::kube_event::{CapacityState, EventReason, KubeEvent};
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
        known.said = Some(CapacityStatement { by: Arc::clone(by), since, message });
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
        })
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
