//! What is counted for each value of one label, within the cap on its values: all values past it share one place.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::labels::OTHER;

/// A `T` for each value: met by the recorder, read by scrapes. A value keeps its place for as long as the process
/// runs.
#[derive(Debug)]
pub(super) struct Capped<T> {
    max_values: usize,
    values: RwLock<BTreeMap<Arc<str>, Arc<T>>>,
}

impl<T: Default> Capped<T> {
    pub(super) const fn new(max_values: usize) -> Self {
        Self { max_values, values: RwLock::new(BTreeMap::new()) }
    }

    /// What `value` has: a place of its own, where there is room, and otherwise that of [`OTHER`].
    pub(super) fn get(&self, value: &str) -> Arc<T> {
        let known = self.values.read().get(value).cloned();
        known.unwrap_or_else(|| {
            let mut values = self.values.write();
            let own = values.len() - usize::from(values.contains_key(OTHER));
            let name = if own < self.max_values { value } else { OTHER };
            Arc::clone(values.entry(Arc::from(name)).or_default())
        })
    }

    /// Whether `value`, which was met, lies past the cap.
    pub(super) fn drops(&self, value: &str) -> bool {
        let values = self.values.read();
        value == OTHER || !values.contains_key(value)
    }

    /// All values met so far, sorted.
    pub(super) fn met(&self) -> Vec<(Arc<str>, Arc<T>)> {
        let values = self.values.read();
        values.iter().map(|(value, one)| (Arc::clone(value), Arc::clone(one))).collect()
    }
}
