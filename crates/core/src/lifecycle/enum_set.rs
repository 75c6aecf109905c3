//! Sets of the values of an enum, a bit for each.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::label_value::LabelValue;

/// A set of the values of `T`, saved as its bits. An enum with more values than there are bits does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct EnumSet<T>(u16, PhantomData<T>);

impl<T> Default for EnumSet<T> {
    fn default() -> Self {
        Self(0, PhantomData)
    }
}

impl<T: LabelValue> EnumSet<T> {
    const FITS: () = assert!(T::ALL.len() <= u16::BITS as usize, "the set needs more bits");

    const fn bit(index: usize) -> u16 {
        let () = Self::FITS;
        1 << index
    }

    pub(super) fn insert(&mut self, value: T) {
        self.0 |= Self::bit(value.index());
    }

    pub(super) fn contains(self, value: T) -> bool {
        self.0 & Self::bit(value.index()) != 0
    }

    /// Whether it holds nothing but values of `T`, which of one that was read is not certain.
    pub(super) const fn is_known(self) -> bool {
        self.0 as u32 >> T::ALL.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::milestone::Milestone;

    #[test]
    fn a_set_contains_what_was_inserted_and_knows_bits_of_no_value() {
        let mut set = EnumSet::default();
        set.insert(Milestone::Created);
        set.insert(Milestone::Ready);
        let contained = Milestone::ALL.map(|milestone| set.contains(milestone));
        assert_eq!(contained, [true, false, false, false, false, false, true, false, false]);
        assert!(set.is_known());
        assert!(!EnumSet::<Milestone>(set.0 | 0x8000, PhantomData).is_known());
        assert!(!EnumSet::<Milestone>(1 << Milestone::ALL.len(), PhantomData).is_known());
    }
}
