//! How a version of a node came.

use crate::lifecycle::estimate::TimestampMode;
use crate::timestamp::Timestamp;

/// How a delivery of nodes is accounted for.
#[derive(Clone, Copy, Debug)]
pub(in crate::lifecycle) struct NodeContext {
    pub mode: TimestampMode,
    pub now: Timestamp,
    /// The instant at which a watch event arrived (`o` in [§4.3](crate::specification#s4-3))
    pub observed: Option<Timestamp>,
}

/// How a version of a node came.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrival {
    Event,
    List { began: Timestamp, is_first: bool },
}
