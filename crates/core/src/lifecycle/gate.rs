//! What is observed of gates ([§16](crate::specification#s16)).

use super::judgement::Latency;
use crate::label_values;
use crate::pod::GateNames;

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
    /// The gate holds the pod from now on ([§16.4](crate::specification#s16-4))
    Held,
    /// The gate no longer holds the pod, or the pod is no longer in flight
    Released,
    /// It was passed, and took so long ([§16.2](crate::specification#s16-2), [§16.3](crate::specification#s16-3))
    Passed(Latency),
    /// The pod in flight was counted under the rest of the label's values, and moves to the gate's own
    /// ([§7.5](crate::specification#s7-5))
    Moved { is_holding: bool },
}

/// Something happened to a gate of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateObservation<'a> {
    pub kind: GateKind,
    /// Its name
    pub gate: &'a str,
    pub event: GateEvent,
}

/// What happens to all gates of a pod at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatesEvent {
    /// The pod is discovered, and has them
    Met,
    /// The pod was read of a checkpoint, and has been counted
    Restored,
    /// The pod is not in flight any more
    Left,
}

/// Something happened to all gates of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatesObservation<'a> {
    /// Their names
    pub gates: &'a GateNames,
    pub event: GatesEvent,
}

impl<'a> GatesObservation<'a> {
    /// Each gate.
    pub fn each(self) -> impl Iterator<Item = (GateKind, &'a str)> {
        let GateNames { scheduling, readiness } = self.gates;
        let scheduling = scheduling.iter().map(|gate| (GateKind::Scheduling, gate));
        scheduling.chain(readiness.iter().map(|gate| (GateKind::Readiness, gate)))
    }
}
