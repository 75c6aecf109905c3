//! What the tracker remembers of one pod.

use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::eviction::{Evictable, EvictedState};
use crate::lifecycle::finished_pod::FinishedPod;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::timestamp::Timestamp;

/// Everything that is remembered of one pod.
#[derive(Debug)]
pub(super) enum RememberedPod {
    InFlight(Box<PodInFlight>),
    Finished(FinishedPod),
    /// A tombstone, so that a late duplicate does not bring the pod back
    Deleted {
        /// The second of its creation, since the epoch
        created: u32,
        /// When it was deleted
        at: Timestamp,
    },
}

impl RememberedPod {
    /// The list-watch that the pod belongs to. A tombstone belongs to none.
    pub(super) fn source(&self) -> Option<SourceId> {
        match self {
            Self::InFlight(pod) => Some(pod.last_seen.source),
            Self::Finished(finished) => Some(finished.last_seen().source),
            Self::Deleted { .. } => None,
        }
    }

    /// The second of the pod's creation, since the epoch.
    pub(super) fn created(&self) -> u32 {
        match self {
            Self::InFlight(pod) => pod.last_seen.created,
            Self::Finished(finished) => finished.last_seen().created,
            Self::Deleted { created, .. } => *created,
        }
    }

    /// The pod as a candidate for eviction. A pod in flight is none.
    pub(super) fn evictable(&self) -> Option<Evictable> {
        let state = match self {
            Self::InFlight(_) => return None,
            Self::Finished(_) => EvictedState::Finished,
            Self::Deleted { .. } => EvictedState::Deleted,
        };
        let created = self.created();
        Some(Evictable { created, state })
    }
}
