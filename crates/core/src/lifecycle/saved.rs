//! What a checkpoint holds of a [`Tracker`](super::tracker::Tracker).
//!
//! A checkpoint has only what cannot be derived: how far each source is accounted for, and what was latched and decided
//! for each pod. The tracker rebuilds the order of waiting pods, their stages and deadlines. A restored tracker behaves
//! as the saved one would after all its sources had lost the sync.
//!
//! These types are only for checkpoints; the other types of the core are saved as they are. Serde writes all by the
//! names of fields and variants. A field that is added needs a default, for older files.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::crashes::SavedCrash;
use super::delivery::SourceId;
use super::followed::FollowedPod;
use super::in_place::OpenChanges;
#[cfg(test)]
use super::interval::Stage;
use super::label_hold::LabelHold;
use super::last_seen::LastSeen;
use super::nodes::SavedNodes;
use super::pod_in_flight::PodInFlight;
use super::reentry::to_second;
use super::rollouts::SavedRollouts;
use super::slo::{SloMatches, SloRule};
use super::sources::SavedSource;
use super::stuck::StuckBefore;
use crate::pod::{PodUid, Revision};
use crate::saved::by_position;
use crate::timestamp::Timestamp;

/// What a tracker knows, except for the pods that are starting up or finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedTracker {
    /// The latest time that was accounted for
    pub now: Option<Timestamp>,
    /// When a source last began to catch up
    pub resumed: Option<Timestamp>,
    /// The sources that have delivered something
    pub sources: BTreeMap<SourceId, SavedSource>,
    /// The SLOs that were in force; the pods name them by their positions
    #[serde(with = "by_position")]
    pub rules: Arc<[SloRule]>,
    /// What they have matched; `None` where that is not known
    pub slo_matches: Option<SloMatches>,
    /// Which pods are stuck
    pub stuck: StuckBefore,
    /// The newest second of creation of any pod that was evicted or refused (see
    /// `eviction.rs`)
    pub watermark: Option<u32>,
    /// The newest second of creation of any pod that was forgotten otherwise; 0 for none, and `None` where an older
    /// version has not saved it
    pub forgotten: Option<u32>,
    /// The deleted pods that are still remembered
    pub deleted: Vec<SavedDeleted>,
    /// What is changed in place of pods whose startup is over
    pub in_place: Vec<(PodUid, OpenChanges)>,
    /// The nodes, where they were a source of evidence
    pub nodes: Option<SavedNodes>,
    /// The pods that crash right after they were ready
    pub crashes: Vec<SavedCrash>,
    /// The revisions of which a pod is or was bound
    pub bound_revisions: Vec<Revision>,
    /// The rollouts
    pub rollouts: SavedRollouts,
}

impl SavedTracker {
    /// Checks what was read.
    ///
    /// # Errors
    /// What no tracker can have.
    pub fn check(&self) -> Result<(), &'static str> {
        self.nodes.as_ref().map_or(Ok(()), SavedNodes::check)?;
        SavedCrash::check(&self.crashes)
    }

    /// Whether a pod that was created at `created` may have been known and evicted.
    pub fn may_have_evicted(&self, created: Timestamp) -> bool {
        self.watermark.is_some_and(|watermark| to_second(created) <= watermark)
    }
}

/// A deleted pod that is still remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDeleted {
    /// Which one
    pub uid: PodUid,
    /// When it was deleted
    pub at: Timestamp,
    /// The second of its creation, since the epoch
    pub created: u32,
}

/// A pod that is starting up or finished. One that is written is borrowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedPod<P = Box<PodInFlight>> {
    /// Its startup is under way
    InFlight(P),
    /// Its startup is over
    Finished(SavedFinished),
}

/// A pod whose startup is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFinished {
    /// Which one
    pub uid: PodUid,
    /// What a later snapshot is compared with
    #[serde(default)]
    pub last_seen: LastSeen,
    /// Since when it has been Ready, of one that may still relapse ([§5.10](crate::specification#s5-10))
    #[serde(default)]
    pub ready: Option<Timestamp>,
    /// What is followed of one that was ready before a milestone of your own
    #[serde(default)]
    pub followed: Option<Box<FollowedPod>>,
}

impl<P: Borrow<PodInFlight>> SavedPod<P> {
    /// Which one.
    pub fn uid(&self) -> PodUid {
        match self {
            Self::InFlight(pod) => pod.borrow().uid,
            Self::Finished(finished) => finished.uid,
        }
    }

    /// When it was Ready first, if it may still relapse.
    pub const fn ready(&self) -> Option<Timestamp> {
        match self {
            Self::InFlight(_) => None,
            Self::Finished(finished) => finished.ready,
        }
    }

    /// The label values under which it is counted, if its startup is over.
    pub const fn hold(&self) -> Option<LabelHold> {
        match self {
            Self::InFlight(_) => None,
            Self::Finished(finished) => Some(finished.last_seen.hold),
        }
    }

    /// The pod, if its startup is under way.
    pub fn in_flight(&self) -> Option<&PodInFlight> {
        match self {
            Self::InFlight(pod) => Some(pod.borrow()),
            Self::Finished(..) => None,
        }
    }
}

impl SavedPod {
    /// The pod, if its startup is under way.
    pub fn in_flight_mut(&mut self) -> Option<&mut PodInFlight> {
        match self {
            Self::InFlight(pod) => Some(pod),
            Self::Finished(..) => None,
        }
    }

    /// The label values under which it is counted, to change them, if its startup is over.
    pub const fn hold_mut(&mut self) -> Option<&mut LabelHold> {
        match self {
            Self::InFlight(_) => None,
            Self::Finished(finished) => Some(&mut finished.last_seen.hold),
        }
    }

    /// What a later snapshot is compared with.
    pub(super) fn last_seen_mut(&mut self) -> &mut LastSeen {
        match self {
            Self::InFlight(pod) => &mut pod.last_seen,
            Self::Finished(finished) => &mut finished.last_seen,
        }
    }
}

/// The pods of a tracker as they are when they were written and read.
#[cfg(test)]
pub(super) fn read_back(tracker: &super::tracker::Tracker) -> Vec<SavedPod> {
    let pods = tracker.saved_pods().map(|pod| match pod {
        SavedPod::InFlight(pod) => SavedPod::InFlight(Box::new(PodInFlight {
            entered: None,
            entered_stage: Stage::Gated,
            stuck: None,
            ..pod.clone()
        })),
        SavedPod::Finished(finished) => SavedPod::Finished(finished),
    });
    pods.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_are_no_younger_than_the_watermark_may_have_been_evicted() {
        let evicted = |watermark, created| {
            let saved = SavedTracker { watermark, ..SavedTracker::default() };
            saved.may_have_evicted(Timestamp::from_seconds(created))
        };
        assert!(evicted(Some(70), 69) && evicted(Some(70), 70));
        assert!(!evicted(Some(70), 71) && !evicted(None, 69));
    }
}
