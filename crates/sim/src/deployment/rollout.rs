//! How a Deployment is rolled out: the decisions of `pkg/controller/deployment` of Kubernetes, in its order.

use super::replica_set::{Pods, ReplicaSet, ReplicaSetStatus};
use super::spec::DeploymentSpec;
use super::status::DeploymentStatus;
use crate::rng::Rng;
use podinit_core::timestamp::Timestamp;

/// A Deployment and its ReplicaSets.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    pub(super) spec: DeploymentSpec,
    pub(super) uid: String,
    pub(super) created: Timestamp,
    pub(super) generation: i64,
    /// In the order of their creation
    pub(super) replica_sets: Vec<ReplicaSet>,
    pub(super) status: DeploymentStatus,
    /// What its controller does, for its Events
    pub(super) scaled: Vec<String>,
}

impl Deployment {
    pub(super) fn new(spec: DeploymentSpec, now: Timestamp, rng: &mut Rng) -> Self {
        Self {
            spec,
            uid: rng.uuid(),
            created: now,
            generation: 1,
            replica_sets: Vec::new(),
            status: DeploymentStatus::default(),
            scaled: Vec::new(),
        }
    }

    /// Counts pods, and takes the next step. Returns when to look again though nothing happens.
    pub(super) fn sync(&mut self, pods: &Pods, now: Timestamp, rng: &mut Rng) -> Option<Timestamp> {
        self.replica_sets.iter_mut().for_each(|set| set.count(pods));
        let new = self.newest().unwrap_or_else(|| self.create(now, rng));
        let wanted = self.wanted_of(new);
        if !self.set_replicas(new, wanted) {
            self.shrink_old(new);
        }
        self.status.update(&self.spec, self.generation, &self.replica_sets, new, now)
    }

    /// The index of the ReplicaSet whose template is the present one.
    pub(super) fn new_set(&self) -> Option<usize> {
        self.replica_sets.iter().position(|set| set.template == self.spec.template)
    }

    /// The template of the revision before the present one.
    pub(super) fn former(&self) -> Option<&ReplicaSet> {
        let new = self.new_set();
        let old = self.replica_sets.iter().enumerate().filter(|(index, _)| Some(*index) != new);
        old.map(|(_, set)| set).max_by_key(|set| set.revision)
    }

    /// The ReplicaSet of the present template, if there is one. Its revision is the greatest.
    fn newest(&mut self) -> Option<usize> {
        let new = self.new_set()?;
        let next = self.next_revision(Some(new));
        let set = &mut self.replica_sets[new];
        set.revision = set.revision.max(next);
        self.status.revision = set.revision;
        Some(new)
    }

    fn next_revision(&self, new: Option<usize>) -> i64 {
        let old = self.replica_sets.iter().enumerate().filter(|(index, _)| Some(*index) != new);
        old.map(|(_, set)| set.revision).max().unwrap_or(0) + 1
    }

    fn create(&mut self, now: Timestamp, rng: &mut Rng) -> usize {
        let (spec, hash) = (&self.spec, self.spec.template.hash());
        let set = ReplicaSet {
            name: format!("{}-{hash}", spec.name),
            uid: rng.uuid(),
            hash,
            template: spec.template.clone(),
            created: now,
            generation: 1,
            replicas: 0,
            revision: self.next_revision(None),
            status: ReplicaSetStatus::default(),
            failure: None,
            pods: Default::default(),
        };
        self.status.revision = set.revision;
        self.status.created_set(&set.name, now);
        self.replica_sets.push(set);
        self.replica_sets.len() - 1
    }

    /// How many replicas the new ReplicaSet gets now: not more than the surge leaves room for.
    fn wanted_of(&self, new: usize) -> i32 {
        let has = self.replica_sets[new].replicas;
        let room = self.spec.replicas + self.spec.max_surge() - self.all_replicas();
        match has > self.spec.replicas {
            true => self.spec.replicas,
            false => has + room.max(0).min(self.spec.replicas - has),
        }
    }

    fn all_replicas(&self) -> i32 {
        self.replica_sets.iter().map(|set| set.replicas).sum()
    }

    /// Takes from the old ReplicaSets what may go: pods that are not available first, then as many as the new one
    /// makes up for.
    fn shrink_old(&mut self, new: usize) {
        let least = self.spec.replicas - self.spec.max_unavailable();
        let of_new = &self.replica_sets[new];
        let unavailable = of_new.replicas - of_new.status.ready;
        let mut unhealthy = self.all_replicas() - least - unavailable;
        if unhealthy <= 0 || self.all_replicas() == of_new.replicas {
            return;
        }
        let available: i32 = self.replica_sets.iter().map(|set| set.status.ready).sum();
        let mut spare = available - least;
        for healthy in [false, true] {
            for index in (0..self.replica_sets.len()).filter(|index| *index != new) {
                let set = &self.replica_sets[index];
                let (budget, has) = match healthy {
                    true => (&mut spare, set.replicas),
                    false => (&mut unhealthy, set.replicas - set.status.ready),
                };
                let goes = has.min(*budget).max(0);
                *budget -= goes;
                let left = set.replicas - goes;
                self.set_replicas(index, left);
            }
        }
    }

    /// Scales a ReplicaSet, and returns whether that changes it.
    fn set_replicas(&mut self, index: usize, replicas: i32) -> bool {
        let set = &mut self.replica_sets[index];
        let former = std::mem::replace(&mut set.replicas, replicas);
        if former == replicas {
            return false;
        }
        set.generation += 1;
        let direction = if former < replicas { "up" } else { "down" };
        self.scaled.push(format!(
            "Scaled {direction} replica set {} from {former} to {replicas}",
            set.name
        ));
        true
    }
}
