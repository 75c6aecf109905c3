//! The state of the API server: objects by key, one resourceVersion for all of them, and a
//! bounded history from which watches are served and older lists are restored.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::object::{
    EventBatch, EventKind, HistoryEvent, ObjectKey, ObjectPage, SelectableFields, StoredObject,
    TooOld,
};

/// The store. Writers and readers meet at one lock that is never held across an await.
#[derive(Debug)]
pub struct ObjectStore {
    history: Mutex<ObjectHistory>,
    changed: watch::Sender<()>,
}

/// Objects, and what happened to them after the horizon.
#[derive(Debug)]
struct ObjectHistory {
    version: u64,
    /// Every event after this version is kept.
    horizon: u64,
    objects: BTreeMap<ObjectKey, Arc<StoredObject>>,
    events: VecDeque<HistoryEvent>,
    capacity: usize,
}

impl ObjectStore {
    /// An empty store at `version` whose history holds `capacity` events.
    pub fn new(version: u64, capacity: usize) -> Self {
        Self {
            history: Mutex::new(ObjectHistory {
                version,
                horizon: version,
                objects: BTreeMap::new(),
                events: VecDeque::new(),
                capacity: capacity.max(1),
            }),
            changed: watch::Sender::new(()),
        }
    }

    /// The present resourceVersion.
    pub fn version(&self) -> u64 {
        self.history.lock().version
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.history.lock().objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object at `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<StoredObject>> {
        self.history.lock().objects.get(key).cloned()
    }

    /// Notifies of every change from now on.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Creates or replaces the object at `key`; `render` is given its new version.
    pub fn put(
        &self,
        key: ObjectKey,
        selectable: SelectableFields,
        render: impl FnOnce(u64) -> Vec<u8>,
    ) -> u64 {
        self.change(|history| {
            let version = history.version + 1;
            let object = Arc::new(StoredObject {
                version,
                selectable,
                json: render(version).into(),
                key: key.clone(),
            });
            let previous = history.objects.insert(key, Arc::clone(&object));
            let kind = match previous {
                None => EventKind::Added,
                Some(_) => EventKind::Modified,
            };
            history.record(HistoryEvent { kind, object, previous });
        })
    }

    /// Creates or replaces an object that is as odd as it likes; the version that it gets. `None` when
    /// `metadata.namespace` or `metadata.name` is not a text.
    pub fn put_json(&self, mut object: Value) -> Option<u64> {
        let text = |name: &str| object["metadata"][name].as_str();
        let key = ObjectKey::new(text("namespace")?, text("name")?);
        let selectable = SelectableFields::of_json(&object);
        if let Some(fields) = object.as_object_mut() {
            fields.remove("kind");
            fields.remove("apiVersion");
        }
        Some(self.put(key, selectable, |version| {
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            object.to_string().into_bytes()
        }))
    }

    /// Removes the object at `key`, if there is one; `render` is given the object and the deletion's
    /// version.
    pub fn remove(
        &self,
        key: &ObjectKey,
        render: impl FnOnce(&StoredObject, u64) -> Vec<u8>,
    ) -> u64 {
        self.change(|history| {
            let Some(previous) = history.objects.remove(key) else {
                return;
            };
            let version = history.version + 1;
            let object = Arc::new(StoredObject {
                key: key.clone(),
                version,
                selectable: previous.selectable.clone(),
                json: render(&previous, version).into(),
            });
            history.record(HistoryEvent {
                kind: EventKind::Deleted,
                object,
                previous: Some(previous),
            });
        })
    }

    /// Removes the object at `key` and forgets all history, the deletion included: a watch that has
    /// not delivered it yet never will.
    pub fn remove_unseen(&self, key: &ObjectKey) {
        self.change(|history| {
            if history.objects.remove(key).is_some() {
                history.version += 1;
            }
            history.forget();
        });
    }

    /// The version moves on by `count` because objects of other kinds were written.
    pub fn skip_versions(&self, count: u64) {
        self.change(|history| history.version += count);
    }

    /// Forgets all history, as etcd does when it is compacted.
    pub fn compact(&self) {
        self.change(ObjectHistory::forget);
    }

    /// Goes back to what was at `version`, as etcd does when it is restored from a backup.
    pub fn roll_back(&self, version: u64) -> Result<(), TooOld> {
        let mut result = Ok(());
        self.change(|history| match history.undone_after(version) {
            Ok(undone) => {
                for (key, object) in undone {
                    match object {
                        Some(object) => history.objects.insert(key, object),
                        None => history.objects.remove(&key),
                    };
                }
                history.version = version.min(history.version);
                history.forget();
            }
            Err(too_old) => result = Err(too_old),
        });
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
        matches: impl Fn(&StoredObject) -> bool,
    ) -> Result<ObjectPage, TooOld> {
        let history = self.history.lock();
        let version = version.unwrap_or(history.version);
        let undone = history.undone_after(version)?;
        let after = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let mut current = history.objects.range(after).peekable();
        let mut former = undone.range(after).peekable();
        let limit = limit.unwrap_or(usize::MAX);
        let mut page = ObjectPage { version, objects: Vec::new(), more: false, remaining: 0 };
        // Both are sorted by key; where both have one, the former object wins.
        loop {
            let next = match (former.peek(), current.peek()) {
                (None, None) => return Ok(page),
                (Some((then, _)), Some((now, _))) if now < then => None,
                (None, Some(_)) => None,
                (Some(_), _) => former.next(),
            };
            let object = match next {
                Some((key, object)) => {
                    current.next_if(|(now, _)| *now == key);
                    object.as_ref()
                }
                None => current.next().map(|(_, object)| object),
            };
            let Some(object) = object.filter(|object| matches(object)) else {
                continue;
            };
            if page.objects.len() < limit {
                page.objects.push(Arc::clone(object));
                continue;
            }
            page.more = true;
            if !count_rest {
                return Ok(page);
            }
            page.remaining += 1;
        }
    }

    /// At most `limit` events after `version`.
    pub fn events_after(&self, version: u64, limit: usize) -> Result<EventBatch, TooOld> {
        let history = self.history.lock();
        history.check(version)?;
        let first = (history.events).partition_point(|event| event.object.version <= version);
        let events: Vec<HistoryEvent> =
            (history.events.range(first..)).take(limit).cloned().collect();
        let up_to = match events.last() {
            Some(last) if events.len() == limit => last.object.version,
            // A request for a future version waits until it is reached.
            _ => history.version.max(version),
        };
        Ok(EventBatch { events, up_to })
    }

    /// Changes the history, notifies of it, and returns the version after it.
    fn change(&self, change: impl FnOnce(&mut ObjectHistory)) -> u64 {
        let mut history = self.history.lock();
        change(&mut history);
        let version = history.version;
        drop(history);
        self.changed.send_replace(());
        version
    }
}

impl ObjectHistory {
    fn forget(&mut self) {
        self.events.clear();
        self.horizon = self.version;
    }

    fn record(&mut self, event: HistoryEvent) {
        self.version = event.object.version;
        self.events.push_back(event);
        if self.events.len() > self.capacity
            && let Some(forgotten) = self.events.pop_front()
        {
            self.horizon = forgotten.object.version;
        }
    }

    fn check(&self, version: u64) -> Result<(), TooOld> {
        if version >= self.horizon {
            return Ok(());
        }
        Err(TooOld { requested: version, oldest: self.horizon })
    }

    /// Every object that has changed since `version`, as it was then.
    fn undone_after(
        &self,
        version: u64,
    ) -> Result<BTreeMap<ObjectKey, Option<Arc<StoredObject>>>, TooOld> {
        self.check(version)?;
        let newer = (self.events.iter().rev())
            .take_while(|event| event.object.version > version)
            // Newest first, so that the oldest of them overwrites the others.
            .map(|event| (event.object.key.clone(), event.previous.clone()));
        Ok(newer.collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn put(history: &ObjectStore, name: &str) {
        let render = |version: u64| version.to_string().into_bytes();
        history.put(ObjectKey::new("a", name), SelectableFields::default(), render);
    }

    fn names(history: &ObjectStore, version: u64) -> Vec<String> {
        let page = history.page(Some(version), None, None, false, |_| true).unwrap();
        (page.objects.iter())
            .map(|object| format!("{}@{}", object.key.name, object.version))
            .collect()
    }

    #[test]
    fn every_version_within_the_history_can_be_listed() {
        let history = ObjectStore::new(10, 8);
        put(&history, "x");
        put(&history, "y");
        put(&history, "x");
        history.remove(&ObjectKey::new("a", "y"), |_, _| Vec::new());
        put(&history, "w");
        let expected: [&[&str]; 6] =
            [&[], &["x@11"], &["x@11", "y@12"], &["x@13", "y@12"], &["x@13"], &["w@15", "x@13"]];
        for (version, expected) in (10..).zip(expected) {
            assert_eq!(names(&history, version), expected, "{version}");
        }
    }

    #[test]
    fn the_history_is_bounded_and_says_where_it_begins() {
        let history = ObjectStore::new(0, 2);
        for name in ["x", "y", "z"] {
            put(&history, name);
        }
        let too_old = TooOld { requested: 0, oldest: 1 };
        assert_eq!(history.events_after(0, 9).err(), Some(too_old));
        assert_eq!(history.events_after(1, 9).unwrap().events.len(), 2);
        let first = history.events_after(1, 1).unwrap();
        assert_eq!((first.events.len(), first.up_to), (1, 2));
    }
}
