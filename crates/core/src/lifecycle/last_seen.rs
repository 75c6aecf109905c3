//! What is remembered of every pod for later snapshots: the newest version, and when conditions were
//! last True.

use serde::{Deserialize, Serialize};

use super::delivery::SourceId;
use super::label_hold::LabelHold;
use super::observation::PodObservation;
use super::reentry::{LastTrue, ReentryBaseline, to_second};
use super::rollouts::RolloutPod;
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

/// What a later snapshot is compared with, for a pod in flight or finished. It is small, because it is nearly all that
/// is kept of a finished pod (see `FinishedPod`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedLastSeen", into = "SavedLastSeen")]
pub struct LastSeen {
    /// The newest resourceVersion as a decimal integer; zero, which Kubernetes gives to no
    /// object, for none
    pub newest_version: u64,
    /// When each condition was last seen True
    pub last_true: LastTrue,
    /// The list-watch that the pod belongs to
    pub source: SourceId,
    /// Whether it is a static pod
    pub is_static: bool,
    /// The second in which the pod was created, since the epoch; that of its first snapshot, which
    /// is no earlier, where its creation time is unusable
    pub created: u32,
    /// The label values under which it is counted
    pub hold: LabelHold,
    /// How it stands in the rollouts of its workload
    pub rollout: RolloutPod,
}

impl LastSeen {
    /// The state before `snapshot`, the first of a pod, is accepted at `now`.
    pub fn new(snapshot: &PodSnapshot, source: SourceId, now: Timestamp) -> Self {
        let last_true = LastTrue::default();
        Self {
            newest_version: 0,
            last_true,
            source,
            is_static: snapshot.is_static,
            created: to_second(snapshot.created.unwrap_or(now)),
            hold: LabelHold::UNKNOWN,
            rollout: RolloutPod::NONE,
        }
    }

    /// Whether a snapshot is no older than the newest version seen.
    pub(super) fn is_newest(&self, snapshot: &PodSnapshot) -> bool {
        snapshot.resource_version.is_none_or(|version| version >= self.newest_version)
    }

    /// Forgets the newest version, because it belongs to another history: the next one is accepted,
    /// whatever it is.
    pub(super) const fn forget_version(&mut self) {
        self.newest_version = 0;
    }

    /// Records a snapshot and emits the re-entries that it shows
    /// ([§5.6](crate::specification#s5-6); none for static pods). Returns false, and does nothing, if it
    /// is older than the newest version seen ([§5.1](crate::specification#s5-1)). A snapshot without a
    /// usable version is never older.
    pub(crate) fn accept(
        &mut self,
        snapshot: &PodSnapshot,
        baseline: ReentryBaseline,
        emit: &mut impl FnMut(PodObservation),
    ) -> bool {
        if !self.is_newest(snapshot) {
            return false;
        }
        self.newest_version = snapshot.resource_version.unwrap_or(self.newest_version);
        if !self.is_static {
            let conditions = &snapshot.conditions;
            (self.last_true).update(conditions, baseline, |milestone| {
                emit(PodObservation::Reentered(milestone));
            });
        }
        true
    }
}

/// [`LastSeen`] in few bytes, since most saved pods are finished.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedLastSeen {
    version: u64,
    source: SourceId,
    is_static: bool,
    created: u32,
    hold: u32,
    rollout: RolloutPod,
    last_true: SavedLastTrue,
}

/// When each condition was last true, in the order of [`LastTrue::seconds`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedLastTrue {
    pod_ready_to_start_containers: SavedSecond,
    pod_has_network: SavedSecond,
    initialized: SavedSecond,
    containers_ready: SavedSecond,
    ready: SavedSecond,
}

impl From<[SavedSecond; 5]> for SavedLastTrue {
    fn from(seconds: [SavedSecond; 5]) -> Self {
        let [pod_ready_to_start_containers, pod_has_network, initialized, containers_ready, ready] =
            seconds;
        Self {
            pod_ready_to_start_containers,
            pod_has_network,
            initialized,
            containers_ready,
            ready,
        }
    }
}

impl SavedLastTrue {
    const fn seconds(&self) -> [SavedSecond; 5] {
        [
            self.pod_ready_to_start_containers,
            self.pod_has_network,
            self.initialized,
            self.containers_ready,
            self.ready,
        ]
    }
}

impl From<LastSeen> for SavedLastSeen {
    fn from(last_seen: LastSeen) -> Self {
        let created = last_seen.created;
        let seconds = last_seen.last_true.seconds();
        Self {
            version: last_seen.newest_version,
            source: last_seen.source,
            is_static: last_seen.is_static,
            created,
            hold: last_seen.hold.get(),
            rollout: last_seen.rollout,
            last_true: seconds.map(|second| SavedSecond::new(second, created)).into(),
        }
    }
}

impl From<SavedLastSeen> for LastSeen {
    fn from(saved: SavedLastSeen) -> Self {
        let seconds = saved.last_true.seconds().map(|second| second.second(saved.created));
        Self {
            newest_version: saved.version,
            last_true: LastTrue::from_seconds(seconds),
            source: saved.source,
            is_static: saved.is_static,
            created: saved.created,
            hold: LabelHold::new(saved.hold),
            rollout: saved.rollout,
        }
    }
}

/// A second at which a condition was last true. Conditions become true shortly after the pod's
/// creation, so it is an offset from that: 0 for never, else one more than the offset in zigzag order
/// (0, -1, 1, -2, ...), so that small offsets of either sign take one byte. Every number stands for
/// some second.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct SavedSecond(u32);

impl SavedSecond {
    const fn new(second: u32, created: u32) -> Self {
        if second == 0 {
            return Self(0);
        }
        let offset = second.wrapping_sub(created).cast_signed();
        let zigzag = (offset << 1 ^ offset >> (i32::BITS - 1)).cast_unsigned();
        // The one offset without a number of its own is 68 years, and loses a second.
        Self(zigzag.saturating_add(1))
    }

    const fn second(self, created: u32) -> u32 {
        let Some(zigzag) = self.0.checked_sub(1) else {
            return 0;
        };
        let offset = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        created.wrapping_add_signed(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_near_the_creation_takes_one_byte_and_is_restored() {
        let created = 1_000;
        for (second, saved) in [(0, 0), (1_000, 1), (999, 2), (1_001, 3), (1_062, 125)] {
            assert_eq!(SavedSecond::new(second, created).0, saved, "{second}");
        }
        for created in [0, 1, 1_000, u32::MAX] {
            for second in [0, 1, 999, 1_000, 1 << 31, u32::MAX] {
                let saved = SavedSecond::new(second, created);
                let lost = u32::from(second.wrapping_sub(created) == 1 << 31 && second != 0);
                let restored = saved.second(created);
                assert_eq!(restored, second.wrapping_sub(lost), "{second} from {created}");
            }
        }
    }
    use crate::pod::PodUid;

    #[test]
    fn only_a_snapshot_with_a_lower_version_is_older() {
        let mut pod = PodSnapshot::bare(PodUid::from_text("u"), "ns", "pod");
        let mut last_seen = LastSeen::new(&pod, SourceId(0), Timestamp::from_seconds(1));
        for (version, accepted) in [
            (Some(10), true),
            (Some(9), false),
            (None, true),
            (Some(10), true),
            (Some(11), true),
            (Some(10), false),
        ] {
            pod.resource_version = version;
            let accept = last_seen.accept(&pod, ReentryBaseline::Last, &mut |_| {});
            assert_eq!(accept, accepted, "{version:?}");
        }
    }
}
