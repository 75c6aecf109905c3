//! Sentences about a node whose clock is off ([§4.7](crate::specification#s4-7)).

use podinit_core::lifecycle::NodeClock;
use podinit_text::human_time::at_least;

/// A sentence without its full stop: `The clock of node-1 is at least 1h59m ahead`.
pub(crate) fn sentence(clock: &NodeClock) -> String {
    format!("The {}", clause(clock))
}

/// The clause without its article: `clock of node-1 is at least 1h59m ahead`.
pub fn clause(clock: &NodeClock) -> String {
    format!(
        "clock of {} is at least {} {}",
        clock.node,
        at_least(clock.seconds),
        clock.fault.as_str()
    )
}

/// The doubt about the startup of a pod on the node, as a clause.
pub(super) fn doubt(clock: &NodeClock) -> String {
    format!("the {}: times that its kubelet states are wrong by as much", clause(clock))
}
