//! What a Deployment says of itself: its counts, and the conditions Available, Progressing and ReplicaFailure.

use super::replica_set::ReplicaSet;
use super::spec::DeploymentSpec;
use crate::sim_clock::SECOND;
use podinit_core::timestamp::Timestamp;

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";
const REPLICA_FAILURE: &str = "ReplicaFailure";
const COMPLETE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// The status of a Deployment.
#[derive(Clone, Debug, Default)]
pub(super) struct DeploymentStatus {
    /// `deployment.kubernetes.io/revision`
    pub(super) revision: i64,
    pub(super) observed_generation: i64,
    pub(super) replicas: i32,
    pub(super) updated: i32,
    /// How many are ready, and so available
    pub(super) ready: i32,
    pub(super) conditions: Vec<DeploymentCondition>,
}

/// A condition, with its times as the API shows them.
#[derive(Clone, Debug)]
pub(super) struct DeploymentCondition {
    pub(super) kind: &'static str,
    /// `True`, `False` or `Unknown`
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// `lastUpdateTime`
    pub(super) updated: Timestamp,
    /// `lastTransitionTime`
    pub(super) since: Timestamp,
}

impl DeploymentStatus {
    /// Whether all that is asked for is there, and nothing else.
    pub(super) fn is_complete(&self, spec: &DeploymentSpec, generation: i64) -> bool {
        [self.updated, self.replicas, self.ready] == [spec.replicas; 3]
            && self.observed_generation >= generation
    }

    /// Counts anew, and says what becomes of the rollout to the ReplicaSet at `new`. Returns when it is to be looked at
    /// again, because its deadline has passed.
    pub(super) fn update(
        &mut self,
        spec: &DeploymentSpec,
        generation: i64,
        sets: &[ReplicaSet],
        new: usize,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let sum = |count: fn(&ReplicaSet) -> i32| sets.iter().map(count).sum::<i32>();
        let before = self.clone();
        self.observed_generation = generation;
        self.replicas = sum(|set| set.status.replicas);
        self.updated = sets[new].status.replicas;
        self.ready = sum(|set| set.status.ready);
        let (status, reason, has) = match self.ready >= spec.replicas - spec.max_unavailable() {
            true => ("True", "MinimumReplicasAvailable", "has"),
            false => ("False", "MinimumReplicasUnavailable", "does not have"),
        };
        let message = format!("Deployment {has} minimum availability.");
        self.set(AVAILABLE, status, reason, message, now);
        let name = format!("ReplicaSet \"{}\"", sets[new].name);
        let deadline = self.judge(&before, spec, generation, &name, now);
        let mut failures =
            sets[new..=new].iter().chain(sets).filter_map(|set| set.failure.as_ref());
        match failures.next() {
            Some(failure) => {
                let message = failure.message.clone();
                self.set(REPLICA_FAILURE, "True", "FailedCreate", message, now);
            }
            None => self.conditions.retain(|condition| condition.kind != REPLICA_FAILURE),
        }
        deadline
    }

    /// Whether the rollout of `name` is complete, goes on, or has made no progress for too long.
    fn judge(
        &mut self,
        before: &Self,
        spec: &DeploymentSpec,
        generation: i64,
        name: &str,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let current = self.condition(PROGRESSING).cloned();
        let was_complete = current.as_ref().is_some_and(|current| current.reason == COMPLETE);
        if was_complete && self.replicas == self.updated {
            return None;
        }
        if self.is_complete(spec, generation) {
            let message = format!("{name} has successfully progressed.");
            self.set(PROGRESSING, "True", COMPLETE, message, now);
            return None;
        }
        let progresses = self.updated > before.updated
            || self.replicas - self.updated < before.replicas - before.updated
            || self.ready > before.ready;
        if progresses {
            let since = current.filter(|current| current.status == "True").map(|one| one.since);
            self.conditions.retain(|condition| condition.kind != PROGRESSING);
            let message = format!("{name} is progressing.");
            self.set(PROGRESSING, "True", "ReplicaSetUpdated", message, now);
            if let (Some(condition), Some(since)) = (self.conditions.last_mut(), since) {
                condition.since = since;
            }
        }
        let current = self.condition(PROGRESSING)?;
        if [COMPLETE, TIMED_OUT].contains(&current.reason) {
            return None;
        }
        let allowed = i64::from(spec.progress_deadline_seconds) * SECOND;
        let deadline = current.updated.plus_nanos(allowed);
        if deadline >= now {
            // A second more, as the controller waits.
            return Some(deadline.plus_nanos(SECOND));
        }
        let message = format!("{name} has timed out progressing.");
        self.set(PROGRESSING, "False", TIMED_OUT, message, now);
        None
    }

    /// A ReplicaSet was created.
    pub(super) fn created_set(&mut self, name: &str, now: Timestamp) {
        let message = format!("Created new replica set \"{name}\"");
        self.set(PROGRESSING, "True", "NewReplicaSetCreated", message, now);
    }

    fn condition(&self, kind: &str) -> Option<&DeploymentCondition> {
        self.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Says so, unless it is said already with this status and reason. What is new comes last.
    fn set(
        &mut self,
        kind: &'static str,
        status: &'static str,
        reason: &'static str,
        message: String,
        now: Timestamp,
    ) {
        let now = now.truncate_to_second();
        let current = self.condition(kind);
        if current.is_some_and(|current| (current.status, current.reason) == (status, reason)) {
            return;
        }
        let since = current.filter(|current| current.status == status).map(|one| one.since);
        self.conditions.retain(|condition| condition.kind != kind);
        let since = since.unwrap_or(now);
        let condition = DeploymentCondition { kind, status, reason, message, updated: now, since };
        self.conditions.push(condition);
    }
}
