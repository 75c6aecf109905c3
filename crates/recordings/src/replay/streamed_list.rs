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
        /// The latest snapshot of each pod, and how many pods came before it
        pods: HashMap<PodUid, (u64, PodSnapshot)>,
        /// How many pods came
        came: u64,
        /// `observedAt` of the first event
        began: Option<Timestamp>,
    },
    /// After a list or an error: this may become a relist after a gap
    Relist(BTreeSet<PodUid>),
}

impl StreamedList {
    /// At the beginning of a recording. `began` is the `observedAt` of its first event.
    pub(super) fn first(began: Option<Timestamp>) -> Self {
        Self::First { pods: HashMap::new(), came: 0, began }
    }

    /// After a list or an error.
    pub(super) fn relist() -> Self {
        Self::Relist(BTreeSet::new())
    }

    /// A pod was added or modified. An older version does not replace a newer one.
    pub(super) fn apply(&mut self, snapshot: &PodSnapshot) {
        match self {
            Self::First { pods, came, .. } => {
                let mut snapshot = snapshot.clone();
                let before = pods.get(&snapshot.uid);
                let held = before.and_then(|(_, held)| held.resource_version);
                let place = before.map_or(*came, |(place, _)| *place);
                if snapshot.resource_version.is_some_and(|version| Some(version) < held) {
                    return;
                }
                snapshot.resource_version = snapshot.resource_version.or(held);
                *came += u64::from(before.is_none());
                pods.insert(snapshot.uid, (place, snapshot));
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

/// The pods of a streamed list in the order in which they came.
pub(super) fn in_order(pods: HashMap<PodUid, (u64, PodSnapshot)>) -> Vec<PodSnapshot> {
    let mut pods: Vec<_> = pods.into_values().collect();
    pods.sort_unstable_by_key(|(place, _)| *place);
    pods.into_iter().map(|(_, pod)| pod).collect()
}
