//! What a table held at one moment, taken a chunk at a time while the table changes: an entry that is about
//! to change is copied first. So only what changes meanwhile takes memory.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{CHUNK, PodTable};
use crate::pod::PodUid;

/// What a table held when it was frozen.
#[derive(Debug)]
pub(super) struct Frozen<T> {
    /// The slots that have not been taken
    left: Range<u32>,
    /// By slot, what those that have changed since held; `None` for nothing
    before: BTreeMap<u32, Option<(PodUid, T)>>,
}

impl<T: Clone> Frozen<T> {
    /// A slot that holds `entry` is about to change.
    pub(super) fn keep(&mut self, slot: u32, entry: Option<&(PodUid, T)>) {
        if self.left.contains(&slot) {
            self.before.entry(slot).or_insert_with(|| entry.cloned());
        }
    }
}

impl<T: Clone> PodTable<T> {
    /// Freezes the table as it is, in place of any earlier moment.
    pub(in crate::lifecycle) fn freeze(&mut self) {
        let slots = self.entries.0.iter().map(Vec::len).sum::<usize>();
        self.frozen = Some(Frozen {
            // Slots have 32 bits.
            left: 0..slots as u32,
            before: BTreeMap::new(),
        });
    }

    /// Whether something of a frozen table is still to be taken.
    pub(in crate::lifecycle) const fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Gives the next entries of the frozen table, in the order of the slots. False if there are no more, after
    /// which changes cost nothing again.
    pub(in crate::lifecycle) fn take_chunk(&mut self, mut take: impl FnMut(PodUid, &T)) -> bool {
        let Some(frozen) = &mut self.frozen else {
            return false;
        };
        for slot in frozen.left.by_ref().take(CHUNK) {
            let before = frozen.before.remove(&slot);
            let entry = match &before {
                Some(before) => before.as_ref(),
                None => self.entries.at(slot),
            };
            if let Some((uid, entry)) = entry {
                take(*uid, entry);
            }
        }
        let is_left = !frozen.left.is_empty();
        if !is_left {
            self.frozen = None;
        }
        is_left
    }

    /// The entry in a slot is about to change.
    pub(super) fn keep(&mut self, slot: u32) {
        if let Some(frozen) = &mut self.frozen {
            frozen.keep(slot, self.entries.at(slot));
        }
    }

    /// All entries are.
    pub(super) fn keep_all(&mut self) {
        let left = self.frozen.as_ref().map(|frozen| frozen.left.clone());
        left.into_iter().flatten().for_each(|slot| self.keep(slot));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
                let uid = PodUid::from_text(&number.to_string());
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
}
