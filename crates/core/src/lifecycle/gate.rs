//! What is observed of gates ([§16](crate::specification#s16)).

use std::sync::Arc;

use super::judgement::Latency;
use crate::label_values;

label_values! {
    /// What a gate keeps a pod from.
    pub enum GateKind {
        /// `spec.schedulingGates`: the scheduler does not look at the pod
        Scheduling => "scheduling",
        /// `spec.readinessGates`: the pod is not Ready
        Readiness => "readiness",
    }
}

/// One event of one gate of a pod that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateEvent {
    /// The pod is discovered, and has the gate
    Met,
    /// The gate holds the pod from now on ([§16.4](crate::specification#s16-4))
    Held,
    /// It does so no longer, or the pod is not in flight any more
    Released,
    /// It was passed, and took so long ([§16.2](crate::specification#s16-2), [§16.3](crate::specification#s16-3))
    Passed(Latency),
}

/// Something happened to a gate of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateObservation<'a> {
    pub kind: GateKind,
    /// Its name
    pub gate: &'a Arc<str>,
    pub event: GateEvent,
}
