//! What the scheduler says of a pod that it has not bound.

use crate::label_values;

label_values! {
    /// The reasons of a `PodScheduled` condition that is not True, as Kubernetes spells them. `Other`
    /// is any other reason, or none.
    pub enum NotScheduledReason {
        /// No node fits
        Unschedulable => "Unschedulable",
        /// The pod has scheduling gates
        SchedulingGated => "SchedulingGated",
        /// The scheduler failed
        SchedulerError => "SchedulerError",
        Other => "",
    }
}

/// A `PodScheduled` condition that is not True.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotScheduled {
    /// Whether its `status` is False
    pub is_false: bool,
    pub reason: NotScheduledReason,
    /// Its `message`; empty where there is none, and where the reason says all
    pub message: Box<str>,
}
