//! Which pods stand in the watch stream that is being read, so that a bookmark that closes a
//! streamed list (KEP-3157) can say what the list was.
//!
//! Whether a recording begins with a streamed list shows only at its end. Until then its events
//! are accounted for as plain events, and their pods are kept; if the list is closed after all,
//! the accounting begins anew with the list.

use std::collections::{BTreeSet, HashMap};

use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// The pods that stand at this point, since the stream began.
#[derive(Debug)]
pub(super) enum Stream {
    /// Nothing but events since the recording began: this may become its first list
    Opening {
        /// The latest snapshot of each pod that stands
        standing: HashMap<PodUid, PodSnapshot>,
        /// `observedAt` of the first event
        began: Option<Timestamp>,
    },
    /// There was a list, or an error: a list that is closed now closes a gap
    Later(BTreeSet<PodUid>),
}

impl Stream {
    /// The stream with which a recording begins, at the first event that says when.
    pub(super) fn opening(began: Option<Timestamp>) -> Self {
        Self::Opening {
            standing: HashMap::new(),
            began,
        }
    }

    /// A stream after a list or an error.
    pub(super) fn later() -> Self {
        Self::Later(BTreeSet::new())
    }

    /// A pod was added or modified. An older version does not take the place of a newer one.
    pub(super) fn apply(&mut self, snapshot: &PodSnapshot) {
        match self {
            Self::Opening { standing, .. } => {
                let mut snapshot = snapshot.clone();
                let held = standing
                    .get(&snapshot.uid)
                    .and_then(|held| held.resource_version);
                if snapshot
                    .resource_version
                    .is_some_and(|version| Some(version) < held)
                {
                    return;
                }
                snapshot.resource_version = snapshot.resource_version.or(held);
                standing.insert(snapshot.uid, snapshot);
            }
            Self::Later(standing) => {
                standing.insert(snapshot.uid);
            }
        }
    }

    /// A pod was deleted.
    pub(super) fn delete(&mut self, uid: PodUid) {
        match self {
            Self::Opening { standing, .. } => {
                standing.remove(&uid);
            }
            Self::Later(standing) => {
                standing.remove(&uid);
            }
        }
    }
}

/// The pods of a streamed list in the order in which an API server lists them.
pub(super) fn in_list_order(standing: HashMap<PodUid, PodSnapshot>) -> Vec<PodSnapshot> {
    let mut pods: Vec<_> = standing.into_values().collect();
    pods.sort_by(|one, two| {
        let key = |pod: &PodSnapshot| (pod.info.namespace.clone(), pod.info.name.clone(), pod.uid);
        key(one).cmp(&key(two))
    });
    pods
}
