//! The table of remembered pods: compact, because a finished pod is remembered for as long as it
//! exists, and most pods of a cluster have finished their startup.
//!
//! Entries live in chunks that never move, and a hash index of 32-bit slots points at them. That
//! bounds an entry's share at its own size plus at most twelve bytes of index, where a hash map
//! of entries would double all of them whenever it grows.

mod frozen;

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use self::frozen::FrozenTable;
use crate::pod::PodUid;

const CHUNK: usize = 1024;

/// A map from [`PodUid`] to `T` whose entries do not move.
#[derive(Debug)]
pub(super) struct PodTable<T> {
    index: HashTable<u32>,
    entries: TableChunks<T>,
    free: Vec<u32>,
    hasher: DefaultHashBuilder,
    /// The frozen moment, until all of it is taken
    frozen: Option<FrozenTable<T>>,
}

impl<T> Default for PodTable<T> {
    fn default() -> Self {
        Self {
            index: HashTable::new(),
            entries: TableChunks(Vec::new()),
            free: Vec::new(),
            hasher: DefaultHashBuilder::default(),
            frozen: None,
        }
    }
}

impl<T: Clone> PodTable<T> {
    /// How many pods are remembered.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn get(&self, uid: PodUid) -> Option<&T> {
        self.at(self.slot(uid)?)
    }

    pub(super) fn get_mut(&mut self, uid: PodUid) -> Option<&mut T> {
        let slot = self.slot(uid)?;
        self.keep(slot);
        self.entries.get_mut(slot)
    }

    /// Where the entry of `uid` is as long as there is one.
    pub(super) fn slot(&self, uid: PodUid) -> Option<u32> {
        let hash = self.hasher.hash_one(uid);
        let found = self.index.find(hash, |slot| self.entries.holds(*slot, uid));
        found.copied()
    }

    /// The entry in a slot.
    pub(super) fn at(&self, slot: u32) -> Option<&T> {
        self.entries.at(slot).map(|(_, entry)| entry)
    }

    /// Sets the entry of `uid`, in place of any earlier one.
    pub(super) fn insert(&mut self, uid: PodUid, entry: T) {
        if let Some(old) = self.get_mut(uid) {
            *old = entry;
            return;
        }
        let slot = match self.free.pop() {
            Some(slot) => {
                self.keep(slot);
                self.entries.put(slot, (uid, entry));
                slot
            }
            None => self.entries.push((uid, entry)),
        };
        let hash = self.hasher.hash_one(uid);
        let Self { index, entries, hasher, .. } = self;
        index.insert_unique(hash, slot, |slot| entries.hash(*slot, hasher));
    }

    /// Forgets `uid`.
    pub(super) fn remove(&mut self, uid: PodUid) -> Option<T> {
        let hash = self.hasher.hash_one(uid);
        let found = self.index.find_entry(hash, |slot| self.entries.holds(*slot, uid)).ok()?;
        let (slot, _) = found.remove();
        self.keep(slot);
        self.free.push(slot);
        self.entries.take(slot)
    }

    /// Forgets every pod for whose entry `keep` returns false.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let Self { index, entries, free, frozen, .. } = self;
        index.retain(|slot| {
            let held = entries.at(*slot);
            let stays = held.is_some_and(|(_, entry)| keep(entry));
            if !stays {
                if let Some(frozen) = frozen {
                    frozen.keep(*slot, held);
                }
                entries.take(*slot);
                free.push(*slot);
            }
            stays
        });
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.keep_all();
        self.entries.0.iter_mut().flatten().flatten().map(|(_, entry)| entry)
    }

    /// Freezes the table as it is, in place of any earlier moment.
    pub(super) fn freeze(&mut self) {
        let slots = self.entries.0.iter().map(Vec::len).sum::<usize>();
        // Slots have 32 bits.
        self.frozen = Some(FrozenTable::new(slots as u32));
    }

    /// Whether entries of a frozen moment are still to be taken.
    pub(super) const fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Gives the next entries of the frozen table, in the order of the slots. False if there are no more, after
    /// which changes cost nothing again.
    pub(super) fn take_chunk(&mut self, mut take: impl FnMut(PodUid, &T)) -> bool {
        let Self { entries, frozen, .. } = self;
        let mut slots = 0..CHUNK;
        let is_left = frozen
            .as_mut()
            .is_some_and(|frozen| slots.all(|_| frozen.take(|slot| entries.at(slot), &mut take)));
        if !is_left {
            self.frozen = None;
        }
        is_left
    }

    /// Copies the entry in a slot, which is about to change, for the frozen moment.
    fn keep(&mut self, slot: u32) {
        if let Some(frozen) = &mut self.frozen {
            frozen.keep(slot, self.entries.at(slot));
        }
    }

    /// Copies all entries, which may change, for the frozen moment.
    fn keep_all(&mut self) {
        let left = self.frozen.as_ref().map(FrozenTable::left);
        left.into_iter().flatten().for_each(|slot| self.keep(slot));
    }

    /// Every entry, in no particular order. Its size hint says how many there are at most.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PodUid, &T)> {
        let entries = self.slots().map(|(_, uid, entry)| (uid, entry));
        entries.take(self.len())
    }

    /// Every entry with its slot, in the order of the slots.
    pub(super) fn slots(&self) -> impl Iterator<Item = (u32, PodUid, &T)> {
        let slots = (0..).zip(self.entries.0.iter().flatten());
        slots.filter_map(|(slot, place)| {
            let (uid, entry) = place.as_ref()?;
            Some((slot, *uid, entry))
        })
    }
}

/// Some of the slots of a table, in a bit each.
#[derive(Debug, Default)]
pub(super) struct SlotSet(Vec<u64>);

impl SlotSet {
    pub(super) fn insert(&mut self, slot: u32) {
        let word = (slot / u64::BITS) as usize;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % u64::BITS);
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        let word = self.0.get((slot / u64::BITS) as usize);
        word.is_some_and(|word| word >> (slot % u64::BITS) & 1 == 1)
    }
}

/// Entries by slot. Every slot that the index knows is filled.
#[derive(Debug)]
struct TableChunks<T>(Vec<Vec<Option<(PodUid, T)>>>);

impl<T> TableChunks<T> {
    fn at(&self, slot: u32) -> Option<&(PodUid, T)> {
        let slot = slot as usize;
        self.0.get(slot / CHUNK)?.get(slot % CHUNK)?.as_ref()
    }

    fn at_mut(&mut self, slot: u32) -> Option<&mut Option<(PodUid, T)>> {
        let slot = slot as usize;
        self.0.get_mut(slot / CHUNK)?.get_mut(slot % CHUNK)
    }

    fn holds(&self, slot: u32, uid: PodUid) -> bool {
        self.at(slot).is_some_and(|(held, _)| *held == uid)
    }

    fn hash(&self, slot: u32, hasher: &DefaultHashBuilder) -> u64 {
        self.at(slot).map_or(0, |(uid, _)| hasher.hash_one(uid))
    }

    fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.at_mut(slot)?.as_mut().map(|(_, entry)| entry)
    }

    fn put(&mut self, slot: u32, entry: (PodUid, T)) {
        if let Some(place) = self.at_mut(slot) {
            *place = Some(entry);
        }
    }

    fn take(&mut self, slot: u32) -> Option<T> {
        self.at_mut(slot)?.take().map(|(_, entry)| entry)
    }

    /// Appends an entry. Four thousand million entries would need 200 GB, so the slot fits.
    fn push(&mut self, entry: (PodUid, T)) -> u32 {
        if self.0.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.0.push(Vec::with_capacity(CHUNK));
        }
        let full = (self.0.len() - 1) * CHUNK;
        let mut slot = full;
        if let Some(last) = self.0.last_mut() {
            slot += last.len();
            last.push(Some(entry));
        }
        slot as u32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn uid(number: u16) -> PodUid {
        PodUid::from_text(&format!("{number}"))
    }

    proptest! {
        #[test]
        fn behaves_as_a_hash_map(steps in prop::collection::vec((0u16..3000, 0u16..3000), 0..6000)) {
            let mut table = PodTable::default();
            let mut model = HashMap::new();
            for (step, (number, action)) in steps.into_iter().enumerate() {
                let key = uid(number);
                match action {
                    0 => {
                        let odd = |step: &usize| step % 2 == 1;
                        table.retain(odd);
                        model.retain(|_, step| odd(step));
                    }
                    1..1000 => prop_assert_eq!(table.remove(key), model.remove(&key)),
                    _ => {
                        table.insert(key, step);
                        model.insert(key, step);
                    }
                }
                prop_assert_eq!(table.get(key), model.get(&key));
                prop_assert_eq!(table.get_mut(key), model.get_mut(&key));
                prop_assert_eq!(table.len(), model.len());
            }
            let all: HashMap<_, _> = table.iter().map(|(uid, value)| (uid, *value)).collect();
            prop_assert_eq!(table.iter().size_hint().1, Some(model.len()));
            prop_assert!(table.slots().all(|(slot, uid, _)| table.slot(uid) == Some(slot)));
            prop_assert_eq!(all, model);
        }
    }

    proptest! {
        /// Whatever changes while it is taken.
        #[test]
        fn what_is_taken_is_what_there_was(
            steps in prop::collection::vec((0u16..3000, 0u16..1000), 0..9000),
            frozen_at in 0usize..6000,
        ) {
            let mut table = PodTable::default();
            let (mut expected, mut taken) = (Vec::new(), Vec::new());
            for (step, (number, action)) in steps.into_iter().enumerate() {
                if step == frozen_at {
                    table.freeze();
                    expected = table.iter().map(|(uid, entry)| (uid, *entry)).collect();
                }
                let uid = uid(number);
                match action {
                    0 => table.retain(|entry| entry % 3 > 0),
                    1 => table.values_mut().for_each(|entry| *entry += 1),
                    2 => _ = table.take_chunk(|uid, entry| taken.push((uid, *entry))),
                    3..300 => _ = table.remove(uid),
                    300..500 => if let Some(entry) = table.get_mut(uid) {
                        *entry += 1;
                    },
                    _ => table.insert(uid, step),
                }
            }
            while table.take_chunk(|uid, entry| taken.push((uid, *entry))) {}
            prop_assert!(!table.is_frozen());
            prop_assert_eq!(taken, expected);
        }
    }

    #[test]
    fn a_set_of_slots_holds_what_was_put_in() {
        let put_in = [0, 1, 63, 64, 700];
        let mut set = SlotSet::default();
        put_in.into_iter().for_each(|slot| set.insert(slot));
        let held: Vec<u32> = (0..2000).filter(|slot| set.contains(*slot)).collect();
        assert_eq!(held, put_in);
    }

    #[test]
    fn a_chunk_is_filled_before_the_next_is_allocated() {
        let mut table = PodTable::default();
        for number in 0..=CHUNK as u16 {
            table.insert(uid(number), number);
        }
        let filled: Vec<usize> = table.entries.0.iter().map(Vec::len).collect();
        assert_eq!(filled, [CHUNK, 1]);
    }
}
