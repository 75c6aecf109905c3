//! The objects and the history of their changes, with one version for all of them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use super::object::{Batch, Event, EventKind, Object, ObjectKey, Page, TooOld};
use super::selector::Selectable;

/// Objects, and what happened to them after the horizon.
#[derive(Debug)]
pub(super) struct History {
    version: u64,
    /// Every event after this version is kept.
    horizon: u64,
    objects: BTreeMap<ObjectKey, Arc<Object>>,
    events: VecDeque<Event>,
    capacity: usize,
}

impl History {
    /// Nothing yet, at `version`; at most `capacity` events will be held.
    pub(super) fn new(version: u64, capacity: usize) -> Self {
        Self {
            version,
            horizon: version,
            objects: BTreeMap::new(),
            events: VecDeque::new(),
            capacity: capacity.max(1),
        }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn objects(&self) -> &BTreeMap<ObjectKey, Arc<Object>> {
        &self.objects
    }

    pub(super) fn put(
        &mut self,
        key: ObjectKey,
        selectable: Selectable,
        render: impl FnOnce(u64) -> Vec<u8>,
    ) {
        let version = self.version + 1;
        let object = Arc::new(Object {
            version,
            selectable,
            json: render(version).into(),
            key: key.clone(),
        });
        let previous = self.objects.insert(key, Arc::clone(&object));
        let kind = match previous {
            None => EventKind::Added,
            Some(_) => EventKind::Modified,
        };
        self.record(Event {
            kind,
            object,
            previous,
        });
    }

    pub(super) fn remove(&mut self, key: &ObjectKey, render: impl FnOnce(u64) -> Vec<u8>) {
        let Some(previous) = self.objects.remove(key) else {
            return;
        };
        let version = self.version + 1;
        let object = Arc::new(Object {
            key: key.clone(),
            version,
            selectable: previous.selectable.clone(),
            json: render(version).into(),
        });
        self.record(Event {
            kind: EventKind::Deleted,
            object,
            previous: Some(previous),
        });
    }

    pub(super) fn remove_unseen(&mut self, key: &ObjectKey) {
        if self.objects.remove(key).is_some() {
            self.version += 1;
        }
        self.forget();
    }

    pub(super) fn skip_versions(&mut self, count: u64) {
        self.version += count;
    }

    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.horizon = self.version;
    }

    pub(super) fn roll_back(&mut self, version: u64) -> Result<(), TooOld> {
        for (key, object) in self.undone_after(version)? {
            match object {
                Some(object) => self.objects.insert(key, object),
                None => self.objects.remove(&key),
            };
        }
        self.version = version.min(self.version);
        self.forget();
        Ok(())
    }

    pub(super) fn page(
        &self,
        version: Option<u64>,
        after: Option<&ObjectKey>,
        limit: Option<usize>,
        count_rest: bool,
        matches: impl Fn(&Object) -> bool,
    ) -> Result<Page, TooOld> {
        let version = version.unwrap_or(self.version);
        let undone = self.undone_after(version)?;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut current = self.objects.range((from, Bound::Unbounded)).peekable();
        let mut former = undone.range((from, Bound::Unbounded)).peekable();
        let limit = limit.unwrap_or(usize::MAX);
        let mut page = Page {
            version,
            objects: Vec::new(),
            more: false,
            remaining: 0,
        };
        // Both are sorted by key; where both have one, the former object wins.
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
                continue;
            }
            page.more = true;
            if !count_rest {
                return Ok(page);
            }
            page.remaining += 1;
        }
    }

    pub(super) fn events_after(&self, version: u64, limit: usize) -> Result<Batch, TooOld> {
        self.check(version)?;
        let first = (self.events).partition_point(|event| event.object.version <= version);
        let events: Vec<Event> = self.events.range(first..).take(limit).cloned().collect();
        let up_to = match events.last() {
            Some(last) if events.len() == limit => last.object.version,
            // A request for a future version waits until it is reached.
            _ => self.version.max(version),
        };
        Ok(Batch { events, up_to })
    }

    fn record(&mut self, event: Event) {
        self.version = event.object.version;
        self.events.push_back(event);
        while self.events.len() > self.capacity {
            if let Some(forgotten) = self.events.pop_front() {
                self.horizon = forgotten.object.version;
            }
        }
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

    /// Every object that has changed since `version`, as it was then.
    fn undone_after(
        &self,
        version: u64,
    ) -> Result<BTreeMap<ObjectKey, Option<Arc<Object>>>, TooOld> {
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

    fn put(history: &mut History, name: &str) {
        let render = |version: u64| version.to_string().into_bytes();
        history.put(ObjectKey::new("a", name), Selectable::default(), render);
    }

    fn names(history: &History, version: u64) -> Vec<String> {
        let page = history
            .page(Some(version), None, None, false, |_| true)
            .unwrap();
        (page.objects.iter())
            .map(|object| format!("{}@{}", object.key.name, object.version))
            .collect()
    }

    #[test]
    fn every_version_within_the_history_can_be_listed() {
        let mut history = History::new(10, 8);
        put(&mut history, "x");
        put(&mut history, "y");
        put(&mut history, "x");
        history.remove(&ObjectKey::new("a", "y"), |_| Vec::new());
        put(&mut history, "w");
        let expected: [&[&str]; 6] = [
            &[],
            &["x@11"],
            &["x@11", "y@12"],
            &["x@13", "y@12"],
            &["x@13"],
            &["w@15", "x@13"],
        ];
        for (version, expected) in (10..).zip(expected) {
            assert_eq!(names(&history, version), expected, "{version}");
        }
    }

    #[test]
    fn the_history_is_bounded_and_says_where_it_begins() {
        let mut history = History::new(0, 2);
        for name in ["x", "y", "z"] {
            put(&mut history, name);
        }
        let too_old = TooOld {
            requested: 0,
            oldest: 1,
        };
        assert_eq!(history.events_after(0, 9).err(), Some(too_old));
        assert_eq!(history.events_after(1, 9).unwrap().events.len(), 2);
        let first = history.events_after(1, 1).unwrap();
        assert_eq!((first.events.len(), first.up_to), (1, 2));
    }
}
