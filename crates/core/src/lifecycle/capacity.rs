//! Whether help is on its way for a pod that fits on no node: what autoscalers say of it in Events
//! ([§10.4](crate::specification#s10-4)).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::messages::{MOST_BYTES_OF_ONE, MessageBudget};
use crate::kube_event::{CapacityState, EventReason, KubeEvent, LONGEST_REPORTER};
use crate::timestamp::{NANOS_PER_MILLI, Timestamp};

/// What is known of the capacity of a pod in flight: nothing as long as no Event was delivered, and for a pod that was not
/// unschedulable while Events were a source. Boxed, because few pods have a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodCapacity(Option<Box<KnownCapacity>>);

/// The state of capacity, and what the last Event said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownCapacity {
    state: CapacityState,
    said: Option<SaidOfCapacity>,
}

/// What an autoscaler has said of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SaidOfCapacity {
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
        self.0.get_or_insert_with(|| {
            Box::new(KnownCapacity { state: CapacityState::Unknown, said: None })
        })
    }

    fn said(&self) -> Option<&SaidOfCapacity> {
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
        known.said = Some(SaidOfCapacity { by: Arc::clone(by), since, message });
    }

    /// The pod was read: its message takes room again.
    pub(super) fn restore(&mut self, budget: &mut MessageBudget) {
        if let Some(said) = self.0.as_mut().and_then(|known| known.said.as_mut()) {
            said.message = budget.exchange(None, said.message.as_deref());
        }
    }

    /// The pod is in flight no longer.
    pub(super) fn release(&self, budget: &mut MessageBudget) {
        budget.exchange(self.message(), None);
    }

    fn message(&self) -> Option<&str> {
        self.said()?.message.as_deref()
    }

    /// What a record shows.
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

/// As much of an instant as is saved.
const fn to_milli(at: Timestamp) -> Timestamp {
    let nanos = at.as_nanos();
    Timestamp::from_nanos(nanos - nanos.rem_euclid(NANOS_PER_MILLI))
}

/// The saved form of a `PodCapacity` with a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCapacity {
    state: CapacityState,
    said: Option<SavedSaid>,
}

/// Who has said it, since when in milliseconds since the epoch, and in what words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedSaid(Arc<str>, u64, Option<Box<str>>);

impl SavedCapacity {
    /// Its form of a pod, where that has a state.
    pub(super) fn of(capacity: &PodCapacity) -> Option<Self> {
        let said = capacity.said().map(|said| {
            let millis = said.since.as_nanos().max(0) / NANOS_PER_MILLI;
            let by = Arc::clone(&said.by);
            SavedSaid(by, millis.cast_unsigned(), said.message.clone())
        });
        Some(Self { state: capacity.0.as_ref()?.state, said })
    }

    /// Checks what was read.
    ///
    /// # Errors
    /// What no pod can have.
    pub fn check(&self) -> Result<(), &'static str> {
        let Some(SavedSaid(by, _, message)) = &self.said else {
            return Ok(());
        };
        let message = message.as_deref().unwrap_or_default();
        match by.len() <= LONGEST_REPORTER && message.len() <= MOST_BYTES_OF_ONE {
            true => Ok(()),
            false => Err("more of an autoscaler's words than are kept"),
        }
    }

    /// The name of the autoscaler, which other pods may have as well.
    pub fn text_mut(&mut self) -> Option<&mut Arc<str>> {
        self.said.as_mut().map(|said| &mut said.0)
    }
}

impl From<SavedCapacity> for PodCapacity {
    fn from(saved: SavedCapacity) -> Self {
        let said = saved.said.map(|SavedSaid(by, millis, message)| {
            // The latest instant that has whole milliseconds, so that it is saved as it was read.
            let latest = i64::MAX / NANOS_PER_MILLI;
            let millis = i64::try_from(millis).map_or(latest, |millis| millis.min(latest));
            let since = Timestamp::from_nanos(millis * NANOS_PER_MILLI);
            SaidOfCapacity { by, since, message }
        });
        let state = saved.state;
        Self(Some(Box::new(KnownCapacity { state, said })))
    }
}

#[cfg(test)]
#[path = "capacity_tests.rs"]
mod tests;
