//! What the tracker remembers of one pod; of a finished one all of its [`LastSeen`], in 32 bytes with room for a
//! discriminant.

use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::eviction::{Evictable, EvictedState};
use crate::lifecycle::last_seen::LastSeen;
use crate::lifecycle::pod_in_flight::PodInFlight;
use crate::lifecycle::reentry::LastTrue;
use crate::lifecycle::saved::{SavedDeleted, SavedPod};
use crate::pod::PodUid;
use crate::timestamp::Timestamp;

/// Everything that is remembered of one pod.
#[derive(Clone, Debug)]
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

    /// What is saved of it, unless it is a tombstone.
    pub(super) fn saved(&self, uid: PodUid) -> Option<SavedPod<&PodInFlight>> {
        match self {
            Self::InFlight(pod) => Some(SavedPod::InFlight(&**pod)),
            Self::Finished(finished) => Some(SavedPod::Finished(uid, finished.last_seen())),
            Self::Deleted { .. } => None,
        }
    }

    /// What is saved of a tombstone.
    pub(super) const fn saved_deleted(&self, uid: PodUid) -> Option<SavedDeleted> {
        match *self {
            Self::Deleted { created, at } => Some(SavedDeleted { uid, at, created }),
            Self::InFlight(_) | Self::Finished(_) => None,
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

/// What is remembered of a finished pod.
///
/// The network condition has two names ([§1.1](crate::specification#s1-1)), and nearly every pod has shown
/// at most one of them, so one time and the name are enough. A pod that has shown both was there when
/// its kubelet was upgraded from Kubernetes 1.27, and is kept whole.
#[derive(Clone, Debug)]
pub(super) enum FinishedPod {
    /// A pod whose network condition has had one name at most
    Compact(Compact),
    /// Any other
    Whole(Box<LastSeen>),
}

/// [`LastSeen`] with one time for both names of the network condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    newest_version: u64,
    network: u32,
    others: [u32; 3],
    created: u32,
    source: SourceId,
    form: Form,
}

/// Which condition `network` is the time of.
#[derive(Clone, Copy, Debug)]
enum Form {
    ReadyToStartContainers,
    HasNetwork,
    /// None: the conditions of static pods are not recorded
    Static,
}

impl From<LastSeen> for FinishedPod {
    fn from(last_seen: LastSeen) -> Self {
        let [ready_to_start, has_network, others @ ..] = last_seen.last_true.seconds();
        let (form, network) = match (last_seen.is_static, ready_to_start, has_network) {
            (true, ..) => (Form::Static, 0),
            (false, second, 0) => (Form::ReadyToStartContainers, second),
            (false, 0, second) => (Form::HasNetwork, second),
            (false, ..) => return Self::Whole(Box::new(last_seen)),
        };
        Self::Compact(Compact {
            newest_version: last_seen.newest_version,
            network,
            others,
            created: last_seen.created,
            source: last_seen.source,
            form,
        })
    }
}

impl FinishedPod {
    /// What a later snapshot is compared with.
    pub(super) fn last_seen(&self) -> LastSeen {
        match self {
            Self::Compact(usual) => usual.last_seen(),
            Self::Whole(last_seen) => **last_seen,
        }
    }
}

impl Compact {
    fn last_seen(self) -> LastSeen {
        let (ready_to_start, has_network) = match self.form {
            Form::HasNetwork => (0, self.network),
            Form::ReadyToStartContainers | Form::Static => (self.network, 0),
        };
        let [initialized, containers_ready, ready] = self.others;
        let seconds = [
            ready_to_start,
            has_network,
            initialized,
            containers_ready,
            ready,
        ];
        LastSeen {
            newest_version: self.newest_version,
            last_true: LastTrue::from_seconds(seconds),
            source: self.source,
            is_static: matches!(self.form, Form::Static),
            created: self.created,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_seen(seconds: [u32; 5], is_static: bool) -> LastSeen {
        LastSeen {
            newest_version: u64::MAX,
            last_true: LastTrue::from_seconds(seconds),
            source: SourceId(u16::MAX),
            is_static,
            created: 7,
        }
    }

    #[test]
    fn nothing_is_lost() {
        let all = [
            last_seen([0; 5], false),
            last_seen([0; 5], true),
            last_seen([1, 0, 3, 4, 5], false),
            last_seen([0, 2, 3, 4, 5], false),
            last_seen([1, 2, 3, 4, 5], false),
        ];
        for last_seen in all {
            assert_eq!(FinishedPod::from(last_seen).last_seen(), last_seen);
        }
        assert!(matches!(FinishedPod::from(all[3]), FinishedPod::Compact(_)));
        assert!(matches!(FinishedPod::from(all[4]), FinishedPod::Whole(_)));
    }
}
