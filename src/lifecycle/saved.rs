//! The state of a [`Tracker`](super::tracker::Tracker) as plain values: to be kept while no process
//! runs, and to go on from.
//!
//! Kept is what was learnt: how far each source has been accounted for, and of each pod what was
//! latched and decided. What follows from that is built anew: the order of waiting, the stages,
//! the deadlines. A tracker that goes on from what was saved says what the one that was saved would
//! have said, had it lost the sync of all its sources at that moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::delivery::SourceId;
use super::reentry::to_second;
use super::seen::Seen;
use super::slo::{SloId, SloRule};
use super::sources::SavedSource;
use super::stage::Stage;
use super::startup::{SavedStartup, Startup};
use crate::pod::{PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// What a tracker knows, the pods that are starting up or done aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTracker {
    /// The latest time that was accounted for
    pub now: Option<Timestamp>,
    /// When a source last began to catch up
    pub resumed: Option<Timestamp>,
    /// The sources that have delivered something
    pub sources: BTreeMap<SourceId, SavedSource>,
    /// The SLOs that were in force; the pods name them by their positions
    pub rules: Arc<[SloRule]>,
    /// The newest second of creation of any pod that was evicted or refused (see
    /// [`Cap`](super::eviction::Cap))
    pub watermark: Option<u32>,
    /// The pods that are remembered for their deletion, in the order of it
    pub deleted: Vec<SavedDeleted>,
}

impl SavedTracker {
    /// Whether a pod that was created at `created` may have been known and evicted.
    pub fn may_have_evicted(&self, created: Timestamp) -> bool {
        self.watermark
            .is_some_and(|watermark| to_second(created) <= watermark)
    }
}

/// A pod that is remembered for its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedDeleted {
    /// Which one
    pub uid: PodUid,
    /// When it was deleted
    pub at: Timestamp,
    /// The second of its creation, since the epoch
    pub created: u32,
}

/// A pod that is starting up, or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedPod {
    /// Its startup is under way
    InFlight(Box<SavedInFlight>),
    /// Its startup is over
    Finished(PodUid, Seen),
}

/// A pod whose startup is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedInFlight {
    /// Which one
    pub uid: PodUid,
    /// What a later snapshot is held against
    pub seen: Seen,
    /// What names it
    pub info: PodInfo,
    /// What was latched of its startup
    pub startup: SavedStartup,
    /// When it was discovered
    pub discovered: Timestamp,
    /// The SLOs that match it, each with whether it has had its event
    pub slos: Vec<(SloId, bool)>,
}

impl SavedPod {
    /// Which one.
    pub fn uid(&self) -> PodUid {
        match self {
            Self::InFlight(pod) => pod.uid,
            Self::Finished(uid, _) => *uid,
        }
    }

    /// The stage it is in, if its startup is under way.
    pub fn stage(&self) -> Option<Stage> {
        match self {
            Self::InFlight(pod) => Some(Startup::from(pod.startup).stage()),
            Self::Finished(..) => None,
        }
    }

    /// What a later snapshot is held against.
    pub fn seen_mut(&mut self) -> &mut Seen {
        match self {
            Self::InFlight(pod) => &mut pod.seen,
            Self::Finished(_, seen) => seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_are_no_younger_than_the_watermark_may_have_been_evicted() {
        let evicted = |watermark, created| {
            let saved = SavedTracker {
                watermark,
                ..SavedTracker::default()
            };
            saved.may_have_evicted(Timestamp::from_seconds(created))
        };
        assert!(evicted(Some(70), 69) && evicted(Some(70), 70));
        assert!(!evicted(Some(70), 71) && !evicted(None, 69));
    }
}
