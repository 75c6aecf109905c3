//! How a snapshot of a pod was seen.

use super::classification::SnapshotOrigin;
use super::delivery::SourceId;
use super::estimate::TimestampMode;
use super::reentry::ReentryBaseline;
use crate::timestamp::Timestamp;

/// How a snapshot was delivered, and what is known of its source and pod then.
#[derive(Clone, Copy, Debug)]
pub(super) struct SnapshotContext {
    pub source: SourceId,
    /// When it is accounted for
    pub now: Timestamp,
    /// The instant at which a watch event showed it (`o` in
    /// [§4.3](crate::specification#s4-3))
    pub observed: Option<Timestamp>,
    pub origin: SnapshotOrigin,
    /// Whether it is one of a list
    pub is_listed: bool,
    pub mode: TimestampMode,
    /// Whether it is delivered when it happens, as far as its source is known to
    pub in_sync: bool,
    /// What its transitions are compared with
    pub baseline: ReentryBaseline,
    /// Whether it is the first one of a pod that was adopted in flight. Otherwise the milestones that it is the
    /// first to show have just been reached, so that the delay of the delivery can be measured.
    pub adopted: bool,
    /// Whether earlier ones have shown the pod, and all of them without a node
    pub unbound: bool,
    /// Whether the pod's kubelet sets the network condition in time ([§14.8](crate::specification#s14-8))
    pub(super) exact_network: bool,
}

impl SnapshotContext {
    /// How many nanoseconds after `stated` a watch event of a pod that was not adopted has arrived; below zero if
    /// before.
    pub(super) fn shown_after(&self, stated: Option<Timestamp>) -> Option<i64> {
        let observed = self.observed.filter(|_| !self.adopted)?;
        Some(observed.nanos_since(stated?))
    }
}
