//! One revision of a Deployment, and its pods (`pkg/controller/replicaset` of Kubernetes).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::spec::PodTemplate;
use crate::active::ActivePod;
use crate::kubelet::SimulatedPhase;
use crate::sim_clock::SECOND;
use podinit_core::timestamp::Timestamp;

/// How long a controller waits before it tries again to create pods that were refused.
const RETRY: i64 = 10 * SECOND;

/// The pods of a cluster by their numbers.
pub(crate) type Pods = BTreeMap<u64, ActivePod>;

/// A ReplicaSet of a Deployment.
#[derive(Clone, Debug)]
pub(super) struct ReplicaSet {
    pub(super) name: String,
    pub(super) uid: String,
    /// `pod-template-hash`
    pub(super) hash: String,
    pub(super) template: PodTemplate,
    pub(super) created: Timestamp,
    pub(super) generation: i64,
    /// `spec.replicas`
    pub(super) replicas: i32,
    pub(super) revision: i64,
    pub(super) status: ReplicaSetStatus,
    /// Its pods cannot be created
    pub(super) failure: Option<CreationFailure>,
    /// The numbers of its pods
    pub(super) pods: BTreeSet<u64>,
}

/// What it has counted last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ReplicaSetStatus {
    pub(super) observed_generation: i64,
    pub(super) replicas: i32,
    pub(super) ready: i32,
}

/// The API server creates no pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CreationFailure {
    /// What it says
    pub(super) message: String,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// How often it has said so
    pub(super) count: u32,
}

impl ReplicaSet {
    /// Counts its pods.
    pub(super) fn count(&mut self, pods: &Pods) {
        self.pods.retain(|id| pods.contains_key(id));
        let mut status =
            ReplicaSetStatus { observed_generation: self.generation, replicas: 0, ready: 0 };
        for (_, pod) in self.active(pods) {
            status.replicas += 1;
            status.ready += i32::from(ready_since(pod).is_some());
        }
        self.status = status;
    }

    /// A pod is refused for this reason at `now`, or none is. Returns when it is tried again.
    pub(super) fn fail(&mut self, reason: Option<&String>, now: Timestamp) -> Option<Timestamp> {
        let Some(reason) = reason else {
            self.failure = None;
            return None;
        };
        let message = format!("pods \"{}-\" is forbidden: {reason}", self.name);
        let new = CreationFailure { message, first: now, last: now, count: 0 };
        let failure = self.failure.get_or_insert(new);
        if failure.count == 0 || failure.last.plus_nanos(RETRY) <= now {
            failure.count += 1;
            failure.last = now;
        }
        Some(failure.last.plus_nanos(RETRY))
    }

    /// Its pods that neither end nor have ended.
    fn active<'a>(&'a self, pods: &'a Pods) -> impl Iterator<Item = (u64, &'a ActivePod)> {
        let known = self.pods.iter().filter_map(|id| Some((*id, pods.get(id)?)));
        known.filter(|(_, pod)| !pod.pod.phase.is_terminal() && pod.pod.deletion.is_none())
    }

    /// How many pods it lacks.
    pub(super) fn missing(&self, pods: &Pods) -> usize {
        let active = self.active(pods).count();
        usize::try_from(self.replicas).unwrap_or(0).saturating_sub(active)
    }

    /// The pods that it has too many: those that serve least, and among equals the youngest.
    pub(super) fn excess(&self, pods: &Pods) -> Vec<u64> {
        let mut active: Vec<(u64, &ActivePod)> = self.active(pods).collect();
        let excess = active.len().saturating_sub(usize::try_from(self.replicas).unwrap_or(0));
        active.sort_by_cached_key(|(id, active)| {
            let pod = &active.pod;
            let restarts = pod.report.map_or(0, |(report, _)| report.restarts);
            let ready = ready_since(active);
            let runs = pod.phase == SimulatedPhase::Running;
            let ranks = (pod.node.is_some(), runs, ready.is_some());
            (ranks, Reverse(ready), Reverse(restarts), Reverse(pod.created), *id)
        });
        active.into_iter().take(excess).map(|(id, _)| id).collect()
    }
}

/// Since when a pod is Ready, if it is.
fn ready_since(active: &ActivePod) -> Option<Timestamp> {
    let ready = active.pod.condition("Ready").filter(|ready| ready.verdict.holds)?;
    Some(ready.since)
}
