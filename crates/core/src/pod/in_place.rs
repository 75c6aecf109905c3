//! Changes of a running pod in place: native resizes, and updates by OpenKruise.

use super::Condition;
use crate::label_values;
use crate::timestamp::Timestamp;

label_values! {
    /// The state of a native resize ([§10.3](crate::specification#s10-3)).
    pub enum ResizeState {
        /// `PodResizePending` with reason `Infeasible`: the node can never grant it
        Infeasible => "infeasible",
        /// `PodResizePending` with any other reason, which is `Deferred`: the node cannot grant it now
        Deferred => "deferred",
        /// `PodResizeInProgress` with reason `Error`
        Error => "error",
        /// `PodResizeInProgress` with any other reason, or none
        InProgress => "in_progress",
    }
}

/// A native resize that is open: `PodResizePending` or `PodResizeInProgress` is True.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resize {
    /// By `PodResizePending` where both are True
    pub state: ResizeState,
    /// The earlier lastTransitionTime of those that are True; `None` where none is usable
    pub since: Option<Timestamp>,
}

/// What the conditions say of changes in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InPlaceChanges {
    /// The native resize that is open
    pub resize: Option<Resize>,
    /// The condition `InPlaceUpdateReady` of a pod that has the readiness gate of this name
    pub update_ready: Option<Condition>,
}
