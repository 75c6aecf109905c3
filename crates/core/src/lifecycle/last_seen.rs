//! What is remembered of every pod for later snapshots: the newest version, and when conditions were
//! last True.

use super::delivery::SourceId;
use super::observation::PodObservation;
use super::reentry::{LastTrue, ReentryBaseline, to_second};
use crate::pod::PodSnapshot;
use crate::timestamp::Timestamp;

/// What a later snapshot is compared with, for a pod in flight and for one that has finished. All
/// that is kept of a finished pod (see `FinishedPod`), so it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        }
    }

    /// Forgets the newest version, because it belongs to another history: the next one is accepted,
    /// whatever it is.
    pub const fn forget_version(&mut self) {
        self.newest_version = 0;
    }

    /// Records a snapshot and emits the re-entries that it shows
    /// ([§5.6](crate::specification#s5-6); none for static pods). Returns false, and does nothing, if it
    /// is older than the newest version seen ([§5.1](crate::specification#s5-1)). A snapshot without a
    /// usable version is never older.
    pub fn accept(
        &mut self,
        snapshot: &PodSnapshot,
        baseline: ReentryBaseline,
        emit: &mut impl FnMut(PodObservation),
    ) -> bool {
        if let Some(version) = snapshot.resource_version {
            if version < self.newest_version {
                return false;
            }
            self.newest_version = version;
        }
        if !self.is_static {
            let conditions = &snapshot.conditions;
            (self.last_true).update(conditions, baseline, |milestone| {
                emit(PodObservation::Reentered(milestone));
            });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
