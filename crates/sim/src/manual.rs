//! Changes to a cluster that tests make themselves.

use std::time::Duration;

use serde_json::Value;

use super::cluster::Cluster;
use super::life::{Change, Life, PodManifest};
use super::object::ObjectKey;
use super::scene::Scene;
use super::watch_event::at_version;
use podinit_core::timestamp::Timestamp;

impl Cluster {
    /// From now on this is broken, and nothing else.
    pub fn set_broken(&self, scene: Option<Scene>) {
        self.driver().set_broken(scene);
    }

    /// Moves a stepped clock by `by`, does all that falls due meanwhile, and returns the time.
    pub fn step(&self, by: Duration) -> Timestamp {
        let now = self.clock.step(by);
        self.driver().advance(now, usize::MAX);
        now
    }

    /// Begins `life` now; false when the pod's name is taken.
    pub fn begin(&self, life: Life) -> bool {
        self.driver().begin(life, self.clock.now())
    }

    /// Creates a pod now that only [`Self::apply`] moves; false when its name is taken.
    pub fn create(&self, manifest: PodManifest) -> bool {
        self.driver().create(manifest, self.clock.now())
    }

    /// `change` happens now to the pod `uid`; false when there is no such pod.
    pub fn apply(&self, uid: &str, change: &Change) -> bool {
        self.driver().apply(uid, change, self.clock.now())
    }

    /// Removes the pod `namespace`/`name` without a watch event: all history is compacted
    /// away. False when there is no such pod.
    pub fn remove_unseen(&self, namespace: &str, name: &str) -> bool {
        let key = ObjectKey::new(namespace, name);
        let now = self.clock.now();
        if self.driver().remove_unseen(&key, now) {
            return true;
        }
        let written_as_json = self.store.get(&key).is_some();
        self.store.remove_unseen(&key);
        written_as_json
    }

    /// Writes the pod `object` with a new resourceVersion, which is returned. It is as odd as a test makes
    /// it: `None` only when it has no namespace or name.
    pub fn put_json(&self, object: Value) -> Option<u64> {
        self.store.put_json(object)
    }

    /// The same of an Event.
    pub fn put_event_json(&self, object: Value) -> Option<u64> {
        self.events.put_json(object)
    }

    /// Removes a pod that [`Self::put_json`] wrote; the version of the removal.
    pub fn delete_json(&self, namespace: &str, name: &str) -> Option<u64> {
        let key = ObjectKey::new(namespace, name);
        self.store.get(&key)?;
        Some(self.store.remove(&key, at_version))
    }
}
