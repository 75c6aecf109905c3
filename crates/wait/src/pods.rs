//! The pods of a target, as their newest versions show them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use podinit_core::pod::{
    ConditionType, ContainerKind, ContainerSpec, ContainerState, PodPhase, PodSnapshot, PodUid,
    Revision, WaitingReason, Workload,
};
use podinit_core::timestamp::Timestamp;

/// A container that crashed is up again once it has run for so long. Without a readiness probe, one in a crash loop makes
/// its pod Ready each time that it runs for a moment.
pub(crate) const UP_AFTER: Duration = Duration::from_secs(10);

/// The pods that a target has.
#[derive(Debug, Default)]
pub(crate) struct TargetPods(HashMap<PodUid, TargetPod>);

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TargetPod {
    /// Its newest version
    pub newest: PodSnapshot,
    crash: Option<PodCrash>,
}

/// That containers of a pod crashed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PodCrash {
    /// When that was first seen
    since: Timestamp,
    /// Since when all of them run again
    runs_since: Option<Timestamp>,
}

impl PodCrash {
    /// Whether they have not run for long enough since.
    fn lasts(self, now: Timestamp) -> bool {
        self.runs_since.is_none_or(|since| since.plus(UP_AFTER) > now)
    }
}

/// Whether a container crashed, and is not over since.
fn has_crashed(container: &ContainerSpec) -> bool {
    let ends = container.kind == ContainerKind::Init || container.ends_for_good;
    let is_over = ends && container.state == ContainerState::Succeeded;
    let backs_off = ContainerState::Waiting(WaitingReason::CrashLoopBackOff);
    let has_failed = [ContainerState::Failed, backs_off].contains(&container.state);
    !is_over && (container.has_restarted || has_failed)
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
        self.newest.phase == PodPhase::Active && !self.newest.terminating
    }

    /// Since when containers of it crash that have not run for a while.
    pub(crate) fn crashes_since(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.crash.filter(|crash| self.stays() && crash.lasts(now))?.since)
    }

    /// Whether it is Ready, stays so far, and does not crash.
    pub(crate) fn is_up(&self, now: Timestamp) -> bool {
        let is_ready = self.newest.conditions.holding(ConditionType::Ready).is_some();
        is_ready && self.stays() && self.crashes_since(now).is_none()
    }

    /// Whether it is up or has succeeded.
    pub(crate) fn has_arrived(&self, now: Timestamp) -> bool {
        self.is_up(now) || self.newest.phase == PodPhase::Succeeded
    }
}

impl TargetPods {
    /// Takes in all pods.
    pub(crate) fn list(&mut self, pods: &[PodSnapshot], now: Timestamp) {
        let listed: HashSet<PodUid> = pods.iter().map(|pod| pod.uid).collect();
        self.0.retain(|uid, _| listed.contains(uid));
        pods.iter().for_each(|pod| self.apply(pod, now));
    }

    /// Takes in the newest version of a pod, which was seen at `now`.
    pub(crate) fn apply(&mut self, pod: &PodSnapshot, now: Timestamp) {
        let ready = pod.conditions.holding(ConditionType::Ready);
        let known = self.0.get(&pod.uid).map(|known| known.crash);
        let mut crashed = pod.containers.iter().filter(|one| has_crashed(one)).peekable();
        let crash = crashed.peek().is_some().then(|| {
            let lasting = known.flatten().filter(|crash| crash.lasts(now));
            let since = match known {
                Some(_) => known.flatten().and_then(|crash| crash.runs_since),
                // Of a pod that was not seen before, its condition says since when they run.
                None => ready.and_then(|ready| ready.last_transition),
            };
            let run = crashed.all(|one| one.state == ContainerState::Running);
            PodCrash {
                since: lasting.map_or(now, |crash| crash.since),
                runs_since: run.then(|| since.unwrap_or(now).min(now)),
            }
        });
        self.0.insert(pod.uid, TargetPod { newest: pod.clone(), crash });
    }

    pub(crate) fn remove(&mut self, uid: PodUid) {
        self.0.remove(&uid);
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&PodUid, &TargetPod)> {
        self.0.iter()
    }

    /// When the newest pod was created.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        self.0.values().filter_map(|pod| pod.newest.created).max()
    }

    /// The pods of the new revision.
    pub(crate) fn of_revision(&self, revision: NewRevision) -> HashSet<PodUid> {
        let youngest = match revision {
            NewRevision::Youngest => self.youngest(),
            _ => HashSet::new(),
        };
        let is_new = |pod: &TargetPod| match revision {
            NewRevision::Every => true,
            NewRevision::Is(revision) => revision.is_some() && pod.newest.revision == revision,
            NewRevision::Youngest => {
                pod.newest.revision.is_none_or(|revision| youngest.contains(&revision))
            }
        };
        self.0.iter().filter(|(_, pod)| is_new(pod)).map(|(uid, _)| *uid).collect()
    }

    /// Of each workload the revision whose oldest pod is the youngest.
    fn youngest(&self) -> HashSet<Revision> {
        let mut oldest: HashMap<(&Option<Arc<Workload>>, Revision), Option<Timestamp>> =
            HashMap::new();
        for pod in self.0.values().filter(|pod| pod.stays()) {
            if let Some(revision) = pod.newest.revision {
                let first = oldest
                    .entry((&pod.newest.info.workload, revision))
                    .or_insert(pod.newest.created);
                *first = (*first).min(pod.newest.created);
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
        staying.all(|pod| {
            *known.entry(&pod.newest.info.workload).or_insert(pod.newest.revision)
                == pod.newest.revision
        })
    }
}
