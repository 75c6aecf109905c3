//! The pods in flight by namespace and name, so that whoever asks for one does not search all of them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Where the pods of each namespace and name are in the table of pods. The names themselves are not held
/// again: an entry takes eight bytes, and callers compare the names of what they find.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    entries: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Of namespace and name; kept, so that the index can grow without them
    hash: u32,
    slot: u32,
}

impl Entry {
    /// The table takes its lowest and its highest bits.
    const fn spread(&self) -> u64 {
        (self.hash as u64) << 32 | self.hash as u64
    }
}

impl NameIndex {
    /// Adds the pod in this slot of the table.
    pub(super) fn insert(&mut self, namespace: &str, name: &str, slot: u32) {
        let entry = self.entry(namespace, name, slot);
        self.entries
            .insert_unique(entry.spread(), entry, Entry::spread);
    }

    /// Removes the pod in this slot of the table.
    pub(super) fn remove(&mut self, namespace: &str, name: &str, slot: u32) {
        let entry = self.entry(namespace, name, slot);
        let is_it = |other: &Entry| *other == entry;
        if let Ok(found) = self.entries.find_entry(entry.spread(), is_it) {
            found.remove();
        }
    }

    /// The slots of the pods of this name, and perhaps, where hashes are equal, of others.
    pub(super) fn slots(&self, namespace: &str, name: &str) -> impl Iterator<Item = u32> {
        let wanted = self.entry(namespace, name, 0);
        let found = self.entries.iter_hash(wanted.spread());
        let same = found.filter(move |entry| entry.hash == wanted.hash);
        same.map(|entry| entry.slot)
    }

    fn entry(&self, namespace: &str, name: &str, slot: u32) -> Entry {
        let hash = self.hasher.hash_one((namespace, name));
        Entry {
            hash: (hash >> 32) as u32,
            slot,
        }
    }
}
