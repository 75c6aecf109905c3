//! The pods in flight by namespace and name, so that whoever asks for one does not search all of them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Where the pods of each namespace and name are in the table of pods. It holds no names, because a pod in
/// flight has little room: an entry takes four bytes, and callers say what the names of a slot are.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    slots: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl NameIndex {
    /// Adds the pod in this slot of the table. `names_of` has the names of each slot that was added.
    pub(super) fn insert<'a>(
        &mut self,
        slot: u32,
        names_of: impl Fn(u32) -> Option<(&'a str, &'a str)>,
    ) {
        let Self { slots, hasher } = self;
        let hash = |slot: &u32| names_of(*slot).map_or(0, |names| hasher.hash_one(names));
        slots.insert_unique(hash(&slot), slot, hash);
    }

    /// Removes the pod in this slot of the table.
    pub(super) fn remove(&mut self, (namespace, name): (&str, &str), slot: u32) {
        let hash = self.hasher.hash_one((namespace, name));
        if let Ok(found) = self.slots.find_entry(hash, |other| *other == slot) {
            found.remove();
        }
    }

    /// The slots of the pods of this name, and perhaps of others: the caller compares the names.
    pub(super) fn slots(&self, namespace: &str, name: &str) -> impl Iterator<Item = u32> {
        let hash = self.hasher.hash_one((namespace, name));
        self.slots.iter_hash(hash).copied()
    }
}
