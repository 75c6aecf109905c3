//! The pods present in the watch stream so far, in case a bookmark turns them into a streamed list
//! (KEP-3157).
//!
//! Only the bookmark at the end of a streamed list shows that it was one. Until then the events at the
//! beginning of a recording count as plain events, and their pods are kept; when the bookmark comes,
//! accounting starts over with the list.

use std::collections::{BTreeSet, HashMap};

use podinit_core::pod::{PodSnapshot, PodUid};
use podinit_core::timestamp::Timestamp;

/// The pods present at this point of the stream.
#[derive(Debug)]
pub(super) enum StreamedList {
    /// Only events since the recording began: this may become its first list
    First {
        /// The latest snapshot of each pod
        pods: HashMap<PodUid, PodSnapshot>,
        /// `observedAt` of the first event
        began: Option<Timestamp>,
    },
    /// After a list or an error: this may become a relist after a gap
    Relist(BTreeSet<PodUid>),
}

impl StreamedList {
    /// At the beginning of a recording. `began` is the `observedAt` of its first event.
    pub(super) fn first(began: Option<Timestamp>) -> Self {
        Self::First {
            pods: HashMap::new(),
            began,
        }
    }

    /// After a list or an error.
    pub(super) fn relist() -> Self {
        Self::Relist(BTreeSet::new())
    }

    /// A pod was added or modified. An older version does not replace a newer one.
    pub(super) fn apply(&mut self, snapshot: &PodSnapshot) {
        match self {
            Self::First { pods, .. } => {
                let mut snapshot = snapshot.clone();
                let held = pods
                    .get(&snapshot.uid)
                    .and_then(|held| held.resource_version);
                if snapshot
                    .resource_version
                    .is_some_and(|version| Some(version) < held)
                {
                    return;
                }
                snapshot.resource_version = snapshot.resource_version.or(held);
                pods.insert(snapshot.uid, snapshot);
            }
            Self::Relist(pods) => {
                pods.insert(snapshot.uid);
            }
        }
    }

    /// A pod was deleted.
    pub(super) fn delete(&mut self, uid: PodUid) {
        match self {
            Self::First { pods, .. } => {
                pods.remove(&uid);
            }
            Self::Relist(pods) => {
                pods.remove(&uid);
            }
        }
    }
}

/// The pods of a streamed list in the order in which an API server lists them.
pub(super) fn in_list_order(pods: HashMap<PodUid, PodSnapshot>) -> Vec<PodSnapshot> {
    let mut pods: Vec<_> = pods.into_values().collect();
    pods.sort_by(|one, two| {
        let key = |pod: &PodSnapshot| (pod.info.namespace.clone(), pod.info.name.clone(), pod.uid);
        key(one).cmp(&key(two))
    });
    pods
}
