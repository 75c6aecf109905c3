//! The state of a [`Tracker`](super::tracker::Tracker) as plain values that a checkpoint holds.
//!
//! Saved is only what cannot be derived: how far each source has been accounted for, and for each pod
//! what was latched and decided. The rest is rebuilt: the order of waiting pods, their
//! stages, the deadlines. A restored tracker behaves as the saved one would have, had it lost the
//! sync of all its sources at that moment.
//!
//! This is the one file of the core that names serde: the form in which these values are written is
//! a promise to existing checkpoints, so the types are together here. [`form`] has the form of types that
//! are defined elsewhere in the core, and [`conversions`] converts from and to the core's own types. Change any of it together with
//! `checkpoint::frame::VERSION`.

mod conversions;
mod evidence;
mod form;
mod image_pulls;
mod record;

pub use evidence::{Named, SavedEvidence, SavedShown};
pub use image_pulls::{SavedImage, SavedImagePull};
pub use record::{
    SavedCause, SavedCollected, SavedEnded, SavedVerdict, SavedWaiting, UnreadWaiting,
    WaitingNames, WaitingTable,
};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cause::{MOST_FOLLOWED, WaitEvidence, WaitReason};
use super::delivery::SourceId;
use super::in_place::OpenChanges;
use super::interval::Interval;
use super::last_seen::LastSeen;
use super::milestone::Milestone;
use super::reentry::to_second;
use super::slo::SloRule;
use super::slo_verdict::SloId;
use super::sources::{FirstList, SourceProgress};
use super::startup::Startup;
use super::stuck::StuckBefore;
use crate::pod::{ConditionType, PodInfo, PodUid};
use crate::timestamp::Timestamp;

/// What a tracker knows, except for the pods that are starting up or finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedTracker {
    /// The latest time that was accounted for
    #[serde(with = "form::optional_time")]
    pub now: Option<Timestamp>,
    /// When a source last began to catch up
    #[serde(with = "form::optional_time")]
    pub resumed: Option<Timestamp>,
    /// The sources that have delivered something
    #[serde(with = "form::sources")]
    pub sources: BTreeMap<SourceId, SavedSource>,
    /// The SLOs that were in force; the pods name them by their positions
    #[serde(with = "form::rules")]
    pub rules: Arc<[SloRule]>,
    /// Which pods are stuck
    #[serde(with = "form::stuck")]
    pub stuck: StuckBefore,
    /// The newest second of creation of any pod that was evicted or refused (see
    /// `eviction.rs`)
    pub watermark: Option<u32>,
    /// The deleted pods that are still remembered, in the order of their deletion
    pub deleted: Vec<SavedDeleted>,
    /// What is changed in place of pods whose startup is over
    pub in_place: Vec<SavedInPlace>,
}

impl SavedTracker {
    /// Whether a pod that was created at `created` may have been known and evicted.
    pub fn may_have_evicted(&self, created: Timestamp) -> bool {
        self.watermark
            .is_some_and(|watermark| to_second(created) <= watermark)
    }
}

/// What is saved of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSource {
    /// Its first list, if it has been delivered
    #[serde(with = "form::first_list")]
    pub first_list: Option<FirstList>,
    /// How far it has been accounted for
    #[serde(with = "form::SavedSourceProgress")]
    pub progress: SourceProgress,
}

/// The SLOs that were in force at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRules(#[serde(with = "form::rules")] pub Arc<[SloRule]>);

/// A deleted pod that is still remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDeleted {
    /// Which one
    #[serde(with = "form::uid")]
    pub uid: PodUid,
    /// When it was deleted
    #[serde(with = "form::time")]
    pub at: Timestamp,
    /// The second of its creation, since the epoch
    pub created: u32,
}

/// A pod whose startup is over and that is changed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedInPlace {
    /// Which one
    #[serde(with = "form::uid")]
    pub uid: PodUid,
    /// What is open
    #[serde(with = "form::open_changes")]
    pub open: OpenChanges,
}

/// A pod that is starting up or finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedPod {
    /// Its startup is under way
    InFlight(Box<SavedInFlight>),
    /// Its startup is over
    Finished(
        #[serde(with = "form::uid")] PodUid,
        #[serde(with = "form::last_seen")] LastSeen,
    ),
}

/// A pod whose startup is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedInFlight {
    /// Which one
    #[serde(with = "form::uid")]
    pub uid: PodUid,
    /// What a later snapshot is compared with
    #[serde(with = "form::last_seen")]
    pub last_seen: LastSeen,
    /// Its names
    #[serde(with = "form::SavedPodInfo")]
    pub info: PodInfo,
    /// What was latched of its startup
    pub startup: SavedStartup,
    /// When it was discovered
    #[serde(with = "form::time")]
    pub discovered: Timestamp,
    /// The SLOs that match it, each with whether it has had its event
    #[serde(with = "form::slos")]
    pub slos: Vec<(SloId, bool)>,
    /// Why it waits
    pub evidence: SavedEvidence,
    /// How the images of its containers came to its node
    pub images: Vec<SavedImagePull>,
    /// It has a volume that makes it stateful
    pub is_stateful: bool,
    /// It has had its event for the startup SLI, or was adopted while Events were no source, and is to
    /// have none
    pub has_startup_sli: bool,
    /// Its newest status shows that the cluster has no network condition
    pub lacks_network_condition: bool,
    /// What its record has collected; saved in a section of its own, which a checkpoint of an earlier
    /// podinit does not have
    #[serde(skip)]
    pub collected: SavedCollected,
}

/// A saved pod in flight, as far as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct WaitingPod<'a> {
    /// Its names
    pub info: &'a PodInfo,
    /// Where it waits
    pub waiting: WaitReason,
    /// It has had its event for the startup SLI, or was adopted while Events were no source, and is to
    /// have none
    pub has_startup_sli: bool,
}

/// What was latched of a startup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedStartup {
    /// By milestone: when it was reached, where that is known
    #[serde(with = "form::optional_times")]
    pub times: [Option<Timestamp>; Milestone::ALL.len()],
    /// By milestone, a bit: whether it was reached
    pub reached: u16,
    /// By condition type, a bit: whether it was ever in the status
    pub types_seen: u16,
    /// By interval, a bit: whether it was judged, or is never going to be
    pub decided: u16,
    /// The time of the first Event that showed the network as ready before Scheduled was latched
    #[serde(with = "form::optional_time")]
    pub kept_evidence: Option<Timestamp>,
    /// `spec.initContainers` is not empty
    pub has_init_containers: bool,
    /// `spec.readinessGates` is not empty
    pub has_readiness_gates: bool,
    /// Seen with scheduling gates
    pub seen_gated: bool,
    /// Seen `Unschedulable`
    pub seen_unschedulable: bool,
}

impl SavedStartup {
    /// Whether it names only milestones, condition types and intervals that there are.
    const fn is_known(&self) -> bool {
        let unknown = self.reached as u32 >> Milestone::ALL.len()
            | self.types_seen as u32 >> ConditionType::ALL.len()
            | self.decided as u32 >> Interval::ALL.len();
        unknown == 0
    }
}

impl SavedPod {
    /// Which one.
    pub fn uid(&self) -> PodUid {
        match self {
            Self::InFlight(pod) => pod.uid,
            Self::Finished(uid, _) => *uid,
        }
    }

    /// The pod and where it waits, if its startup is under way.
    pub fn waiting(&self) -> Option<WaitingPod<'_>> {
        match self {
            Self::InFlight(pod) => {
                let evidence = WaitEvidence::from(pod.evidence.clone());
                let waiting = evidence.waiting(Startup::from(pod.startup).standing());
                Some(WaitingPod {
                    info: &pod.info,
                    waiting,
                    has_startup_sli: pod.has_startup_sli,
                })
            }
            Self::Finished(..) => None,
        }
    }

    /// What a later snapshot is compared with.
    pub fn last_seen_mut(&mut self) -> &mut LastSeen {
        match self {
            Self::InFlight(pod) => &mut pod.last_seen,
            Self::Finished(_, last_seen) => last_seen,
        }
    }

    /// Checks what was read from a checkpoint with `slos` SLOs.
    ///
    /// # Errors
    /// What it holds that no pod can have.
    pub fn check(&self, slos: usize) -> Result<(), &'static str> {
        match self {
            Self::InFlight(pod) => pod.check(slos),
            Self::Finished(..) => Ok(()),
        }
    }
}

impl SavedInFlight {
    fn check(&self, slos: usize) -> Result<(), &'static str> {
        if !self.startup.is_known() {
            return Err("no such milestone, condition or interval");
        }
        if self.images.len().max(self.evidence.containers.len()) > MOST_FOLLOWED {
            return Err("more containers than are followed");
        }
        match self.slos.iter().all(|(slo, _)| usize::from(slo.0) < slos) {
            true => Ok(()),
            false => Err("no such SLO"),
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
