//! The state of the API server: objects by key, one resourceVersion for all of them, and a
//! bounded history from which watches are served and older lists are restored.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::selector::Selectable;

/// Namespace and name; lists are in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
}

impl ObjectKey {
    /// The key of `namespace`/`name`.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

/// One version of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Where it stands
    pub key: ObjectKey,
    /// Its `metadata.resourceVersion`
    pub version: u64,
    /// What selectors look at
    pub selectable: Selectable,
    /// The object without `kind` and `apiVersion`
    pub json: Bytes,
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was created
    Added,
    /// It was changed
    Modified,
    /// It was removed
    Deleted,
}

/// One entry of the history.
#[derive(Clone, Debug)]
pub struct Event {
    /// What happened
    pub kind: EventKind,
    /// The object after it (for a deletion: as it last stood, at the deletion's version)
    pub object: Arc<Object>,
    /// The object before it
    pub previous: Option<Arc<Object>>,
}

/// The version asked for is older than the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooOld {
    /// The version asked for
    pub requested: u64,
    /// The oldest version that can still be served
    pub oldest: u64,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The version of the whole list
    pub version: u64,
    /// The objects of this part
    pub objects: Vec<Arc<Object>>,
    /// How many objects follow after this part
    pub remaining: usize,
}

/// Events that follow a version.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The events, oldest first
    pub events: Vec<Event>,
    /// The version up to which this tells everything
    pub up_to: u64,
}

/// The store. Writers and readers meet at one lock that is never held across an await.
#[derive(Debug)]
pub struct Store {
    state: Mutex<State>,
    changed: watch::Sender<()>,
    capacity: usize,
}

#[derive(Debug)]
struct State {
    version: u64,
    /// The history tells everything after this version.
    horizon: u64,
    objects: BTreeMap<ObjectKey, Arc<Object>>,
    history: VecDeque<Event>,
}

impl Store {
    /// An empty store at `version` whose history holds `capacity` events.
    pub fn new(version: u64, capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                version,
                horizon: version,
                objects: BTreeMap::new(),
                history: VecDeque::new(),
            }),
            changed: watch::Sender::new(()),
            capacity: capacity.max(1),
        }
    }

    /// The present resourceVersion.
    pub fn version(&self) -> u64 {
        self.lock().version
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.lock().objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object at `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        self.lock().objects.get(key).cloned()
    }

    /// Tells of every change from now on.
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
        self.write(|state| {
            let version = state.version + 1;
            let object = Arc::new(Object {
                version,
                selectable,
                json: render(version).into(),
                key: key.clone(),
            });
            let previous = state.objects.insert(key, Arc::clone(&object));
            let kind = match previous {
                None => EventKind::Added,
                Some(_) => EventKind::Modified,
            };
            Some(Event {
                kind,
                object,
                previous,
            })
        })
    }

    /// Removes the object at `key`, if there is one; `render` is given the deletion's version.
    pub fn remove(&self, key: &ObjectKey, render: impl FnOnce(u64) -> Vec<u8>) -> u64 {
        self.write(|state| remove(state, key, render))
    }

    /// Removes the object at `key` and forgets all history, the deletion included: whoever was
    /// not told before will never be told.
    pub fn remove_unseen(&self, key: &ObjectKey) {
        let mut state = self.lock();
        if state.objects.remove(key).is_some() {
            state.version += 1;
        }
        state.forget();
        drop(state);
        self.changed.send_replace(());
    }

    /// The version moves on by `count` because objects of other kinds were written.
    pub fn skip_versions(&self, count: u64) {
        self.lock().version += count;
        self.changed.send_replace(());
    }

    /// Forgets all history, as etcd does when it is compacted.
    pub fn compact(&self) {
        self.lock().forget();
        self.changed.send_replace(());
    }

    /// Goes back to what was at `version`, as etcd does when it is restored from a backup.
    pub fn roll_back(&self, version: u64) -> Result<(), TooOld> {
        let mut state = self.lock();
        let undone = state.undone_after(version)?;
        for (key, object) in undone {
            match object {
                Some(object) => state.objects.insert(key, object),
                None => state.objects.remove(&key),
            };
        }
        state.version = version.min(state.version);
        state.forget();
        drop(state);
        self.changed.send_replace(());
        Ok(())
    }

    /// The objects that `matches` accepts after the key `after`, at most `limit`, as they stood at
    /// `version` (now, without one).
    pub fn page(
        &self,
        version: Option<u64>,
        after: Option<&ObjectKey>,
        limit: Option<usize>,
        matches: impl Fn(&Object) -> bool,
    ) -> Result<Page, TooOld> {
        let state = self.lock();
        let version = version.unwrap_or(state.version);
        let undone = state.undone_after(version)?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut current = state.objects.range((from, Bound::Unbounded)).peekable();
        let mut former = undone.range((from, Bound::Unbounded)).peekable();
        let limit = limit.unwrap_or(usize::MAX);
        let mut page = Page {
            version,
            objects: Vec::new(),
            remaining: 0,
        };
        // Both are sorted by key; where both have one, what stood then wins.
        loop {
            let former_first = match (former.peek(), current.peek()) {
                (None, None) => return Ok(page),
                (None, Some(_)) => false,
                (Some(_), None) => true,
                (Some((then, _)), Some((now, _))) => then <= now,
            };
            let object = if former_first {
                let Some((key, object)) = former.next() else {
                    return Ok(page);
                };
                current.next_if(|(now, _)| *now == key);
                object.as_ref()
            } else {
                current.next().map(|(_, object)| object)
            };
            let Some(object) = object.filter(|object| matches(object)) else {
                continue;
            };
            if page.objects.len() < limit {
                page.objects.push(Arc::clone(object));
            } else {
                page.remaining += 1;
            }
        }
    }

    /// At most `limit` events after `version`.
    pub fn events_after(&self, version: u64, limit: usize) -> Result<Batch, TooOld> {
        let state = self.lock();
        state.check(version)?;
        let first = (state.history).partition_point(|event| event.object.version <= version);
        let events: Vec<Event> = state.history.range(first..).take(limit).cloned().collect();
        let up_to = match events.last() {
            Some(last) if events.len() == limit => last.object.version,
            // A version from the future is answered when it comes.
            _ => state.version.max(version),
        };
        Ok(Batch { events, up_to })
    }

    fn write(&self, change: impl FnOnce(&mut State) -> Option<Event>) -> u64 {
        let mut state = self.lock();
        if let Some(event) = change(&mut state) {
            state.version = event.object.version;
            state.history.push_back(event);
            while state.history.len() > self.capacity {
                if let Some(forgotten) = state.history.pop_front() {
                    state.horizon = forgotten.object.version;
                }
            }
        }
        let version = state.version;
        drop(state);
        self.changed.send_replace(());
        version
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A writer that panicked has not half-written anything: the maps are changed in one call.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove(
    state: &mut State,
    key: &ObjectKey,
    render: impl FnOnce(u64) -> Vec<u8>,
) -> Option<Event> {
    let previous = state.objects.remove(key)?;
    let version = state.version + 1;
    let object = Arc::new(Object {
        key: key.clone(),
        version,
        selectable: previous.selectable.clone(),
        json: render(version).into(),
    });
    Some(Event {
        kind: EventKind::Deleted,
        object,
        previous: Some(previous),
    })
}

impl State {
    fn forget(&mut self) {
        self.history.clear();
        self.horizon = self.version;
    }

    fn check(&self, version: u64) -> Result<(), TooOld> {
        if version >= self.horizon {
            return Ok(());
        }
        Err(TooOld {
            requested: version,
            oldest: self.horizon,
        })
    }

    /// What stood at `version` of every object that has changed since.
    fn undone_after(
        &self,
        version: u64,
    ) -> Result<BTreeMap<ObjectKey, Option<Arc<Object>>>, TooOld> {
        self.check(version)?;
        let newer = (self.history.iter().rev())
            .take_while(|event| event.object.version > version)
            // Newest first, so that the oldest of them has the last word.
            .map(|event| (event.object.key.clone(), event.previous.clone()));
        Ok(newer.collect())
    }
}
