//! How a pod is accounted for when its first snapshot comes ([§5.2](crate::specification#s5-2),
//! [§5.3](crate::specification#s5-3)): was its startup over before podinit watched it?

use super::lost_startup::LostStartup;
use crate::pod::PodSnapshot;
use crate::shard::Shard;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A pod that first appears after the first list, but was created longer than this before it,
/// existed already, outside the selection.
const OLD_PODS_NANOS: i64 = 30 * NANOS_PER_SECOND;

/// Which pods of the first list are observed as if they had been watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Backfill {
    /// No pod
    #[default]
    Nothing,
    /// Every pod
    All,
    /// Those whose status still shows when they started up; the others are reported as set aside
    Trusted,
}

impl From<bool> for Backfill {
    /// `true` is [`Backfill::All`], `false` [`Backfill::Nothing`].
    fn from(all: bool) -> Self {
        match all {
            true => Self::All,
            false => Self::Nothing,
        }
    }
}

impl Backfill {
    /// Why this pod of the first list is set aside: what its status no longer shows. `None` if it is not.
    pub(super) fn sets_aside(
        self,
        snapshot: &PodSnapshot,
        origin: SnapshotOrigin,
    ) -> Option<LostStartup> {
        let asked = self == Self::Trusted && origin == SnapshotOrigin::FirstList;
        LostStartup::from_snapshot(snapshot).filter(|_| asked && !snapshot.is_static)
    }

    fn observes(self, snapshot: &PodSnapshot) -> bool {
        match self {
            Self::Nothing => false,
            Self::All => true,
            Self::Trusted => LostStartup::from_snapshot(snapshot).is_none(),
        }
    }
}

/// How a pod that was not known before is accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodClassification {
    /// A static (mirror) pod: excluded
    Static,
    /// Its startup was over before it was first seen
    Preexisting,
    /// Still starting up: what it has reached is latched but not observed
    Adopted,
    /// Observed in full, whatever it shows already
    New,
}

/// What a snapshot was delivered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SnapshotOrigin {
    /// The first list of its source
    FirstList,
    /// Anything later; with the instant at which the first list was begun, if there was one
    Later {
        /// When the first list was begun
        first_list_began: Option<Timestamp>,
    },
    /// The first list after the shards were numbered anew ([§12](crate::specification#s12)): the first
    /// one as far as the pods of other shards before are concerned
    Resharded {
        /// The shard before
        before: Shard,
        /// When its first list was begun
        first_list_began: Option<Timestamp>,
    },
}

/// Whether a pod was created so long before the first list began that it existed then.
pub(super) fn existed_before(snapshot: &PodSnapshot, first_list_began: Option<Timestamp>) -> bool {
    let times = first_list_began.zip(snapshot.created);
    times.is_some_and(|(began, created)| began.nanos_since(created) > OLD_PODS_NANOS)
}

impl PodClassification {
    /// Classifies the first snapshot of a pod. `backfill` observes pods of the first list as if they
    /// had been watched.
    pub(super) fn from_snapshot(
        snapshot: &PodSnapshot,
        origin: SnapshotOrigin,
        backfill: Backfill,
    ) -> Self {
        if snapshot.is_static {
            return Self::Static;
        }
        let was_there = match origin {
            SnapshotOrigin::FirstList => !backfill.observes(snapshot),
            SnapshotOrigin::Later { first_list_began } => {
                existed_before(snapshot, first_list_began)
            }
            SnapshotOrigin::Resharded { before, first_list_began } => {
                !before.contains(snapshot.uid) || existed_before(snapshot, first_list_began)
            }
        };
        if !was_there {
            Self::New
        } else if snapshot.has_started_up() {
            Self::Preexisting
        } else {
            Self::Adopted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::{ConditionStatus, ConditionType, PodPhase, PodUid, StatusCondition};

    fn pod(created: i64, ready: Option<(ConditionStatus, i64)>) -> PodSnapshot {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
        pod.created = Some(Timestamp::from_seconds(created));
        pod.started = Some(Timestamp::from_seconds(created));
        if let Some((status, second)) = ready {
            let last_transition = Some(Timestamp::from_seconds(second));
            pod.conditions
                .insert(ConditionType::Ready, StatusCondition { status, last_transition });
        }
        pod
    }

    fn in_first_list(pod: &PodSnapshot) -> PodClassification {
        PodClassification::from_snapshot(pod, SnapshotOrigin::FirstList, Backfill::Nothing)
    }

    #[test]
    fn the_first_list_tells_finished_from_starting() {
        use ConditionStatus::{False, True};
        assert_eq!(in_first_list(&pod(100, None)), PodClassification::Adopted);
        assert_eq!(in_first_list(&pod(100, Some((True, 101)))), PodClassification::Preexisting);
        assert_eq!(in_first_list(&pod(100, Some((False, 105)))), PodClassification::Adopted);
        assert_eq!(in_first_list(&pod(100, Some((False, 106)))), PodClassification::Preexisting);
        let mut failed = pod(100, Some((False, 100)));
        failed.phase = PodPhase::Failed;
        assert_eq!(in_first_list(&failed), PodClassification::Preexisting);
        failed.is_static = true;
        assert_eq!(in_first_list(&failed), PodClassification::Static);
    }

    #[test]
    fn a_later_pod_is_new_unless_it_existed_before_the_first_list() {
        let seen = |created, began: Option<i64>| {
            let origin =
                SnapshotOrigin::Later { first_list_began: began.map(Timestamp::from_seconds) };
            PodClassification::from_snapshot(
                &pod(created, Some((ConditionStatus::True, 200))),
                origin,
                Backfill::Nothing,
            )
        };
        assert_eq!(seen(100, Some(130)), PodClassification::New);
        assert_eq!(seen(100, Some(131)), PodClassification::Preexisting);
        assert_eq!(seen(100, None), PodClassification::New);
    }

    #[test]
    fn backfill_observes_the_first_list() {
        let ready = pod(100, Some((ConditionStatus::True, 200)));
        assert_eq!(
            PodClassification::from_snapshot(&ready, SnapshotOrigin::FirstList, Backfill::All),
            PodClassification::New
        );
    }
}
