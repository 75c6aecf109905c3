//! How far the report of passed deadlines and of stuck pods has come.

use std::collections::BTreeSet;

use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::interval::Stage;
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// The deadlines that have passed, of which not all are reported at once.
#[derive(Debug, Default)]
pub(super) struct OverduePods {
    /// How many are reported in one step
    at_once: usize,
    /// How many more are in this step
    pub(super) left: usize,
    /// Until when they have passed; `None` once all are reported
    pub(super) until: Option<Timestamp>,
    /// The stage whose stuck pods are being reported, the place of the last of them, and before when the stuck ones
    /// entered it
    pub(super) stuck: Option<(Stage, Option<StagePlace>, Timestamp)>,
    /// The pods that may have become stuck while their source is not in sync. At most those that were in flight when it
    /// lost the sync, and those that it has shown since
    pub(super) held_stuck: BTreeSet<(SourceId, PodUid)>,
    /// The held pods that may be reported now
    pub(super) released_stuck: Vec<PodUid>,
}

/// The place of a pod in the order of its stage.
pub(super) type StagePlace = (Timestamp, PodUid);

impl OverduePods {
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once, ..Self::default() }
    }

    pub(super) const fn begin_step(&mut self) {
        self.left = self.at_once;
    }

    /// Lets the pods be reported as stuck that are held for sources of which they `may`.
    pub(super) fn release(&mut self, may: impl Fn(SourceId) -> bool) {
        let Self { held_stuck, released_stuck, .. } = self;
        if held_stuck.is_empty() {
            return;
        }
        held_stuck.retain(|(source, uid)| {
            let stays = !may(*source);
            if !stays {
                released_stuck.push(*uid);
            }
            stays
        });
    }

    /// Time was lost: what is not reported has not passed ([§6.7](crate::specification#s6-7)).
    pub(super) const fn forget(&mut self) {
        self.until = None;
    }
}

/// The last place before those of pods that entered a stage at `from`.
pub(super) fn just_before(from: Timestamp) -> Option<StagePlace> {
    let before = from.as_nanos().checked_sub(1)?;
    let greatest = PodUid::from_words([u64::MAX, u64::MAX]);
    Some((Timestamp::from_nanos(before), greatest))
}
