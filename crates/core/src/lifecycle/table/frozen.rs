//! What a table held at one moment, taken slot by slot while the table changes: an entry that is about to
//! change is copied first. So only what changes meanwhile takes memory.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::pod::PodUid;

/// What a table held when it was frozen.
#[derive(Debug)]
pub(super) struct FrozenTable<T> {
    /// The slots that have not been taken
    left: Range<u32>,
    /// The frozen entry of each slot that has changed since; `None` for an empty slot
    before: BTreeMap<u32, Option<(PodUid, T)>>,
}

impl<T: Clone> FrozenTable<T> {
    /// Freezes a table with `slots` slots.
    pub(super) const fn new(slots: u32) -> Self {
        Self { left: 0..slots, before: BTreeMap::new() }
    }

    /// Copies the `entry` of a slot that is about to change.
    pub(super) fn keep(&mut self, slot: u32, entry: Option<&(PodUid, T)>) {
        if self.left.contains(&slot) {
            self.before.entry(slot).or_insert_with(|| entry.cloned());
        }
    }

    /// The slots that have not been taken.
    pub(super) fn left(&self) -> Range<u32> {
        self.left.clone()
    }

    /// Gives the frozen entry of the next slot: the copy, or `entry` of the slot if it has not changed. False after the
    /// last slot.
    pub(super) fn take<'a>(
        &mut self,
        entry: impl FnOnce(u32) -> Option<&'a (PodUid, T)>,
        take: &mut impl FnMut(PodUid, &T),
    ) -> bool
    where
        T: 'a,
    {
        let Some(slot) = self.left.next() else {
            return false;
        };
        let before = self.before.remove(&slot);
        let held = match &before {
            Some(before) => before.as_ref(),
            None => entry(slot),
        };
        if let Some((uid, entry)) = held {
            take(*uid, entry);
        }
        !self.left.is_empty()
    }
}
