//! Of which revisions a pod is or was bound ([§10.1](crate::specification#s10-1)): the selectors of their pods match
//! nodes.

use std::mem;

use hashbrown::HashSet;

use crate::pod::{PodSnapshot, Revision};

/// So many are in a generation, and two generations are known. One takes at most 10 bytes.
const GENERATION: usize = 65_536;

/// The revisions of which a pod was seen with a node, the newest.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundRevisions {
    recent: HashSet<Revision>,
    /// Those that were seen last before the recent ones
    older: HashSet<Revision>,
}

impl BoundRevisions {
    /// Takes in the snapshot of a pod that exists.
    pub(super) fn see(&mut self, snapshot: &PodSnapshot) {
        if let Some(revision) = snapshot.revision.filter(|_| snapshot.is_bound) {
            self.insert(revision);
        }
    }

    fn insert(&mut self, revision: Revision) {
        if self.recent.len() >= GENERATION && !self.recent.contains(&revision) {
            self.older = mem::take(&mut self.recent);
        }
        self.recent.insert(revision);
    }

    /// Whether another pod of the revision of this one, which has no node, is known to have or to have had one.
    pub(super) fn has_other(&self, snapshot: &PodSnapshot) -> bool {
        let has = |revision| self.recent.contains(&revision) || self.older.contains(&revision);
        !snapshot.is_bound && snapshot.revision.is_some_and(has)
    }

    /// All of them, in their order.
    pub(super) fn saved(&self) -> Vec<Revision> {
        let mut all: Vec<Revision> = self.recent.union(&self.older).copied().collect();
        all.sort_unstable();
        all
    }

    /// Takes in those of a checkpoint.
    pub(super) fn restore(&mut self, saved: Vec<Revision>) {
        saved.into_iter().for_each(|revision| self.insert(revision));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::{LastingName, PodUid};

    fn pod(revision: usize, is_bound: bool) -> PodSnapshot {
        let workload = LastingName::new("StatefulSet", "db", &[]);
        PodSnapshot {
            revision: Some(Revision::new("shop", &workload, &revision.to_string())),
            is_bound,
            ..PodSnapshot::bare(PodUid::from_text("u"), "shop", "db-0")
        }
    }

    #[test]
    fn a_revision_is_known_once_a_pod_of_it_has_a_node_and_the_oldest_are_forgotten() {
        let mut known = BoundRevisions::default();
        known.see(&pod(1, false));
        assert!(!known.has_other(&pod(1, false)));
        known.see(&pod(1, true));
        assert!(known.has_other(&pod(1, false)) && !known.has_other(&pod(1, true)));
        assert!(!known.has_other(&PodSnapshot { revision: None, ..pod(1, false) }));
        let mut again = BoundRevisions::default();
        again.restore(known.saved());
        assert!(again.has_other(&pod(1, false)) && !again.has_other(&pod(2, false)));
        (2..3 * GENERATION).for_each(|revision| known.see(&pod(revision, true)));
        assert!(!known.has_other(&pod(1, false)));
        assert!(known.has_other(&pod(2 * GENERATION, false)));
        assert!(known.recent.len().max(known.older.len()) <= GENERATION);
    }
}
