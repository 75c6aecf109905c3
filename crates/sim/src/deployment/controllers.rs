//! All Deployments of a cluster: what is asked of them, and what they ask of the driver of pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Event;
use serde_json::Value;

use super::object;
use super::replica_set::Pods;
use super::rollout::Deployment;
use super::spec::DeploymentSpec;
use crate::life::PodLife;
use crate::manifest;
use crate::object::ObjectKey;
use crate::plan;
use crate::rng::Rng;
use crate::store::ObjectStore;
use crate::watch_event::at_version;
use podinit_core::timestamp::Timestamp;

/// The controllers of Deployments and their ReplicaSets.
#[derive(Debug)]
pub(crate) struct DeploymentControllers {
    deployments: BTreeMap<u64, Deployment>,
    /// The Deployments by the UIDs of their ReplicaSets
    owners: BTreeMap<String, u64>,
    /// Those that are to look at their pods anyway
    queued: BTreeSet<u64>,
    /// When each looks again though nothing happens
    wakes: BTreeMap<u64, Timestamp>,
    /// The namespaces in which no pod may be created, and what the API server says of it
    refused: BTreeMap<String, String>,
    added: u64,
    rng: Rng,
    /// Of Deployments, and of ReplicaSets
    stores: [Arc<ObjectStore>; 2],
}

/// What is to be done after a look at a Deployment.
#[derive(Debug, Default)]
pub(crate) struct SyncOutcome {
    /// Pods to create, each for the ReplicaSet with this UID
    pub(crate) created: Vec<(String, PodLife)>,
    /// Pods to delete
    pub(crate) deleted: Vec<u64>,
    /// What the controllers say
    pub(crate) events: Vec<Event>,
    /// Whether anything has changed
    pub(crate) changed: bool,
    /// When to look again though nothing happens
    pub(crate) wake: Option<Timestamp>,
}

impl DeploymentControllers {
    pub(crate) fn new(stores: [Arc<ObjectStore>; 2], rng: Rng) -> Self {
        Self {
            deployments: BTreeMap::new(),
            owners: BTreeMap::new(),
            queued: BTreeSet::new(),
            wakes: BTreeMap::new(),
            refused: BTreeMap::new(),
            added: 0,
            rng,
            stores,
        }
    }

    /// Creates the Deployment, or changes it where it is there. Returns its number.
    pub(crate) fn apply(&mut self, spec: DeploymentSpec, now: Timestamp) -> u64 {
        let known = self.find(&spec.namespace, &spec.name);
        let id = known.unwrap_or(self.added);
        let deployment = (self.deployments.entry(id))
            .or_insert_with(|| Deployment::new(spec.clone(), now, &mut self.rng));
        if known.is_none() {
            self.added += 1;
        } else if deployment.spec != spec {
            deployment.spec = spec;
            deployment.generation += 1;
        }
        put(&self.stores[0], object::deployment(deployment));
        id
    }

    /// The number of a Deployment.
    pub(crate) fn find(&self, namespace: &str, name: &str) -> Option<u64> {
        let mut all = self.deployments.iter();
        let is_asked_for =
            |spec: &DeploymentSpec| (&*spec.namespace, &*spec.name) == (namespace, name);
        all.find(|(_, deployment)| is_asked_for(&deployment.spec)).map(|(id, _)| *id)
    }

    /// What a Deployment asks for, with the template of the revision before, as `kubectl rollout undo` sets it.
    pub(crate) fn undone(&self, namespace: &str, name: &str) -> Option<DeploymentSpec> {
        let deployment = self.deployments.get(&self.find(namespace, name)?)?;
        let template = deployment.former()?.template.clone();
        Some(DeploymentSpec { template, ..deployment.spec.clone() })
    }

    /// Whether what a Deployment asks for is there, and nothing else.
    pub(crate) fn is_complete(&self, namespace: &str, name: &str) -> bool {
        let id = self.find(namespace, name);
        id.and_then(|id| self.deployments.get(&id)).is_some_and(|deployment| {
            deployment.status.is_complete(&deployment.spec, deployment.generation)
        })
    }

    /// Removes a Deployment and its ReplicaSets. Returns their pods, which are to be deleted.
    pub(crate) fn remove(&mut self, id: u64) -> Vec<u64> {
        let Some(deployment) = self.deployments.remove(&id) else {
            return Vec::new();
        };
        self.wakes.remove(&id);
        let spec = &deployment.spec;
        self.stores[0].remove(&ObjectKey::new(&spec.namespace, &spec.name), at_version);
        for set in &deployment.replica_sets {
            self.owners.remove(&set.uid);
            self.stores[1].remove(&ObjectKey::new(&spec.namespace, &set.name), at_version);
        }
        deployment.replica_sets.into_iter().flat_map(|set| set.pods).collect()
    }

    /// From now on no pod may be created in `namespace`, for this reason; or any may.
    pub(crate) fn refuse(&mut self, namespace: &str, reason: Option<String>) -> Vec<u64> {
        match reason {
            Some(reason) => self.refused.insert(namespace.to_owned(), reason),
            None => self.refused.remove(namespace),
        };
        let of_namespace = self.deployments.iter();
        let of_namespace = of_namespace.filter(|(_, one)| one.spec.namespace == namespace);
        of_namespace.map(|(id, _)| *id).collect()
    }

    /// The Deployment that is to look at its pods, because one of the owner with this UID has changed: unless it will
    /// anyway.
    pub(crate) fn wake_owner(&mut self, owner: &str) -> Option<u64> {
        let id = *self.owners.get(owner)?;
        self.wake(id).then_some(id)
    }

    /// Whether a look is to be scheduled.
    pub(crate) fn wake(&mut self, id: u64) -> bool {
        self.queued.insert(id)
    }

    /// The pod numbered `pod` was created for the ReplicaSet with this UID.
    pub(crate) fn adopt(&mut self, owner: &str, pod: u64) {
        let deployment = self.owners.get(owner).and_then(|id| self.deployments.get_mut(id));
        let mut sets = deployment.into_iter().flat_map(|deployment| &mut deployment.replica_sets);
        if let Some(set) = sets.find(|set| set.uid == owner) {
            set.pods.insert(pod);
        }
    }

    /// Looks at the Deployment's pods, and takes the next step.
    pub(crate) fn sync(&mut self, id: u64, pods: &Pods, now: Timestamp) -> SyncOutcome {
        let Self { deployments, owners, queued, wakes, refused, rng, stores, .. } = self;
        queued.remove(&id);
        let mut outcome = SyncOutcome::default();
        let Some(deployment) = deployments.get_mut(&id) else {
            return outcome;
        };
        outcome.wake = deployment.sync(pods, now, rng);
        let DeploymentSpec { namespace, name, .. } = deployment.spec.clone();
        for message in std::mem::take(&mut deployment.scaled) {
            outcome.events.push(object::scaled(deployment, message, now));
        }
        for set in &mut deployment.replica_sets {
            owners.insert(set.uid.clone(), id);
            outcome.deleted.extend(set.excess(pods));
            let missing = set.missing(pods);
            let reason = refused.get(&namespace).filter(|_| missing > 0);
            outcome.wake = set.fail(reason, now).into_iter().chain(outcome.wake).min();
            match &set.failure {
                Some(failure) if failure.last == now => {
                    outcome.events.push(object::failed(set, &namespace, failure));
                }
                Some(_) => {}
                None => outcome.created.extend((0..missing).map(|_| {
                    let of_set = (&*set.name, &*set.uid, &*set.hash);
                    let image = set.template.image;
                    let manifest = manifest::of_replica_set(&namespace, &name, of_set, image, rng);
                    (set.uid.clone(), plan::kept(set.template.life, manifest, rng))
                })),
            }
        }
        outcome.changed = !outcome.created.is_empty() || !outcome.deleted.is_empty();
        for set in &deployment.replica_sets {
            outcome.changed |= put(&stores[1], object::replica_set(deployment, set));
        }
        outcome.changed |= put(&stores[0], object::deployment(deployment));
        outcome.wake = outcome.wake.filter(|wake| wakes.insert(id, *wake) != Some(*wake));
        outcome
    }
}

/// Writes `object`, and returns whether it is not there in this form.
fn put(store: &ObjectStore, object: Value) -> bool {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let known = store.get(&ObjectKey::new(text("namespace"), text("name")));
    let known = known.and_then(|known| serde_json::from_slice::<Value>(&known.json).ok());
    let known = known.map(|mut known| {
        if let Some(metadata) = known["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        known
    });
    known.as_ref() != Some(&object) && store.put_json(object).is_some()
}
