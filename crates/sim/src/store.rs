//! The state of the API server: objects by key, one resourceVersion for all of them, and a
//! bounded history from which watches are served and older lists are restored.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::history::History;
use super::object::{Batch, Object, ObjectKey, Page, TooOld};
use super::selector::Selectable;

/// The store. Writers and readers meet at one lock that is never held across an await.
#[derive(Debug)]
pub struct Store {
    history: Mutex<History>,
    changed: watch::Sender<()>,
}

impl Store {
    /// An empty store at `version` whose history holds `capacity` events.
    pub fn new(version: u64, capacity: usize) -> Self {
        Self {
            history: Mutex::new(History::new(version, capacity)),
            changed: watch::Sender::new(()),
        }
    }

    /// The present resourceVersion.
    pub fn version(&self) -> u64 {
        self.lock().version()
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.lock().objects().len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object at `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.lock().objects().get(key).cloned()
    }

    /// Notifies of every change from now on.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Creates or replaces the object at `key`; `render` is given its new version.
    pub fn put(
        &self,
        key: ObjectKey,
        selectable: Selectable,
        render: impl FnOnce(u64) -> Vec<u8>,
    ) -> u64 {
        self.change(|history| history.put(key, selectable, render))
    }

    /// Removes the object at `key`, if there is one; `render` is given the deletion's version.
    pub fn remove(&self, key: &ObjectKey, render: impl FnOnce(u64) -> Vec<u8>) -> u64 {
        self.change(|history| history.remove(key, render))
    }

    /// Removes the object at `key` and forgets all history, the deletion included: a watch that has
    /// not delivered it yet never will.
    pub fn remove_unseen(&self, key: &ObjectKey) {
        self.change(|history| history.remove_unseen(key));
    }

    /// The version moves on by `count` because objects of other kinds were written.
    pub fn skip_versions(&self, count: u64) {
        self.change(|history| history.skip_versions(count));
    }

    /// Forgets all history, as etcd does when it is compacted.
    pub fn compact(&self) {
        self.change(History::forget);
    }

    /// Goes back to what was at `version`, as etcd does when it is restored from a backup.
    pub fn roll_back(&self, version: u64) -> Result<(), TooOld> {
        let mut result = Ok(());
        self.change(|history| result = history.roll_back(version));
        result
    }

    /// The objects that `matches` accepts after the key `after`, at most `limit`, as they were at
    /// `version` (now, without one). Those that follow are counted only if `count_rest` says so,
    /// because that walks through all of them.
    pub fn page(
        &self,
        version: Option<u64>,
        after: Option<&ObjectKey>,
        limit: Option<usize>,
        count_rest: bool,
        matches: impl Fn(&Object) -> bool,
    ) -> Result<Page, TooOld> {
        self.lock().page(version, after, limit, count_rest, matches)
    }

    /// At most `limit` events after `version`.
    pub fn events_after(&self, version: u64, limit: usize) -> Result<Batch, TooOld> {
        self.lock().events_after(version, limit)
    }

    /// Changes the history, notifies of it, and returns the version after it.
    fn change(&self, change: impl FnOnce(&mut History)) -> u64 {
        let mut history = self.lock();
        change(&mut history);
        let version = history.version();
        drop(history);
        self.changed.send_replace(());
        version
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        // A writer that panicked has changed nothing but a version that no object has.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
