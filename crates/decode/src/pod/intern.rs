//! Interns the texts that many pods have in common.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::{Equivalent, HashSet};

use podinit_core::pod::Workload;

/// More distinct values than this are not shared: the table is emptied and starts over, which
/// costs nothing but memory that could have been shared.
const CAPACITY: usize = 16_384;

/// A bounded table of shared values.
#[derive(Debug)]
pub(crate) struct Interner<T: ?Sized>(HashSet<Arc<T>>);

impl<T: ?Sized> Default for Interner<T> {
    fn default() -> Self {
        Self(HashSet::new())
    }
}

impl<T: ?Sized + Eq + Hash> Interner<T> {
    /// The shared value of `key`, made by `make` when it is not there yet.
    pub(crate) fn get<K>(&mut self, key: &K, make: impl FnOnce() -> Arc<T>) -> Arc<T>
    where
        K: ?Sized + Hash + Equivalent<Arc<T>>,
    {
        match self.shared(key) {
            Some(value) => value,
            None => self.insert(make()),
        }
    }

    /// The shared value of `key`, if there is one.
    pub(crate) fn shared<K>(&self, key: &K) -> Option<Arc<T>>
    where
        K: ?Sized + Hash + Equivalent<Arc<T>>,
    {
        self.0.get(key).cloned()
    }

    /// Shares a value from now on.
    pub(crate) fn insert(&mut self, value: Arc<T>) -> Arc<T> {
        if self.0.len() >= CAPACITY {
            self.0.clear();
        }
        self.0.insert(Arc::clone(&value));
        value
    }
}

/// A [`Workload`] that is looked up without being made; hashes like one.
#[derive(Hash)]
pub(crate) struct WorkloadLookup<'a> {
    pub kind: &'a str,
    pub name: &'a str,
}

impl Equivalent<Arc<Workload>> for WorkloadLookup<'_> {
    fn equivalent(&self, workload: &Arc<Workload>) -> bool {
        *workload.kind == *self.kind && *workload.name == *self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_one_copy_and_the_table_is_bounded() {
        let mut texts = Interner::<str>::default();
        let first = texts.get("default", || Arc::from("default"));
        let second = texts.get("default", || unreachable!());
        assert!(Arc::ptr_eq(&first, &second));
        for number in 0..3 * CAPACITY {
            let text = number.to_string();
            texts.get(text.as_str(), || Arc::from(text.as_str()));
        }
        assert!(texts.0.len() <= CAPACITY);
    }

    #[test]
    fn a_workload_is_found_by_its_parts() {
        let mut workloads = Interner::default();
        let key = WorkloadLookup { kind: "Job", name: "backup" };
        let make = || Arc::new(Workload { kind: "Job".into(), name: "backup".into() });
        let first = workloads.get(&key, make);
        let second = workloads.get(&key, || unreachable!());
        assert!(Arc::ptr_eq(&first, &second));
    }
}
