//! The pods that a rollout has seen begin to end.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::pod::{PodSnapshot, PodUid};
use crate::timestamp::Timestamp;

/// A rollout remembers so many.
const MOST: usize = 64;

/// A pod whose deletion was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndingPod {
    /// Which pod
    pub uid: PodUid,
    /// When its grace period is over
    pub due: Option<Timestamp>,
    /// Its node, as far as nodes of pods are wanted
    pub node: Option<Arc<str>>,
    /// Whether that node is known and not Ready; false until somebody asks
    #[serde(skip)]
    pub node_is_not_ready: bool,
}

/// The last pods that began to end. Those that have gone since are among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EndingPods(VecDeque<EndingPod>);

impl EndingPods {
    /// Remembers a pod that begins to end, in place of the first if there are too many.
    pub(super) fn note(&mut self, snapshot: &PodSnapshot) {
        self.0.retain(|known| known.uid != snapshot.uid);
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(EndingPod {
            uid: snapshot.uid,
            due: snapshot.deletion_due,
            node: snapshot.info.node.clone(),
            node_is_not_ready: false,
        });
    }

    /// All of them, the first first.
    pub(super) fn all(&self) -> Vec<EndingPod> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pods_are_remembered_once_each() {
        let mut pods = EndingPods::default();
        let uid = |number: usize| PodUid::from_text(&number.to_string());
        for number in (0..MOST + 1).chain([5]) {
            pods.note(&PodSnapshot::bare(uid(number), "shop", "web"));
        }
        let all = pods.all();
        assert_eq!((all.len(), all[0].uid, all[MOST - 1].uid), (MOST, uid(1), uid(5)));
    }
}
