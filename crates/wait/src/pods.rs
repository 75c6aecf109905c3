//! The pods of a target, as their newest versions show them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use podinit_core::pod::{ConditionType, PodPhase, PodSnapshot, PodUid, Revision, Workload};
use podinit_core::timestamp::Timestamp;

/// The pods that a target has.
#[derive(Debug, Default)]
pub(crate) struct TargetPods(HashMap<PodUid, TargetPod>);

/// A pod, as its newest version shows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetPod {
    pub name: Box<str>,
    pub workload: Option<Arc<Workload>>,
    pub revision: Option<Revision>,
    pub created: Option<Timestamp>,
    pub phase: PodPhase,
    /// It is Ready, and not being deleted
    pub is_up: bool,
    /// It is being deleted
    pub is_ending: bool,
}

/// Which revision is the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NewRevision {
    /// There is only one
    #[default]
    Every,
    /// This one, which may have no pod yet; `None` before it is there
    Is(Option<Revision>),
    /// Of each workload the one whose oldest pod is the youngest, since nothing says which it is
    /// ([§17.4](crate::specification#s17-4))
    Youngest,
}

impl TargetPod {
    /// Whether it is neither terminal nor being deleted.
    pub(crate) fn stays(&self) -> bool {
        self.phase == PodPhase::Active && !self.is_ending
    }
}

impl TargetPods {
    pub(crate) fn apply(&mut self, pod: &PodSnapshot) {
        let is_ready = pod.conditions.holding(ConditionType::Ready).is_some();
        let is_active = pod.phase == PodPhase::Active;
        self.0.insert(
            pod.uid,
            TargetPod {
                name: pod.info.name.clone(),
                workload: pod.info.workload.clone(),
                revision: pod.revision,
                created: pod.created,
                phase: pod.phase,
                is_up: is_ready && is_active && !pod.terminating,
                is_ending: pod.terminating,
            },
        );
    }

    pub(crate) fn remove(&mut self, uid: PodUid) {
        self.0.remove(&uid);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&PodUid, &TargetPod)> {
        self.0.iter()
    }

    /// The pod of this name, if there is one.
    pub(crate) fn named(&self, name: &str) -> Option<PodUid> {
        self.0.iter().find(|(_, pod)| *pod.name == *name).map(|(uid, _)| *uid)
    }

    /// When the newest pod was created.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        self.0.values().filter_map(|pod| pod.created).max()
    }

    /// The pods of the new revision.
    pub(crate) fn of_revision(&self, revision: NewRevision) -> HashSet<PodUid> {
        let youngest = match revision {
            NewRevision::Youngest => self.youngest(),
            _ => HashSet::new(),
        };
        let is_new = |pod: &TargetPod| match revision {
            NewRevision::Every => true,
            NewRevision::Is(revision) => revision.is_some() && pod.revision == revision,
            NewRevision::Youngest => {
                pod.revision.is_none_or(|revision| youngest.contains(&revision))
            }
        };
        self.0.iter().filter(|(_, pod)| is_new(pod)).map(|(uid, _)| *uid).collect()
    }

    /// Of each workload the revision whose oldest pod is the youngest.
    fn youngest(&self) -> HashSet<Revision> {
        let mut oldest: HashMap<(&Option<Arc<Workload>>, Revision), Option<Timestamp>> =
            HashMap::new();
        for pod in self.0.values().filter(|pod| pod.stays()) {
            if let Some(revision) = pod.revision {
                let first = oldest.entry((&pod.workload, revision)).or_insert(pod.created);
                *first = (*first).min(pod.created);
            }
        }
        let mut youngest = HashMap::new();
        for ((workload, revision), created) in oldest {
            let last = youngest.entry(workload).or_insert((created, revision));
            *last = (*last).max((created, revision));
        }
        youngest.into_values().map(|(_, revision)| revision).collect()
    }

    /// Whether the pods that stay are of one revision in each workload.
    pub(crate) fn are_of_one_revision(&self) -> bool {
        let mut known = HashMap::new();
        let mut staying = self.0.values().filter(|pod| pod.stays());
        staying.all(|pod| *known.entry(&pod.workload).or_insert(pod.revision) == pod.revision)
    }
}
