//! Sets of the values of an enum, a bit for each.

use std::marker::PhantomData;

use crate::label_value::LabelValue;

/// A set of the values of `T`. An enum with more values than there are bits does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnumSet<T>(u16, PhantomData<T>);

impl<T> Default for EnumSet<T> {
    fn default() -> Self {
        Self(0, PhantomData)
    }
}

impl<T: LabelValue> EnumSet<T> {
    const FITS: () = assert!(
        T::ALL.len() <= u16::BITS as usize,
        "the set needs more bits"
    );

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

    /// The set as it is saved: by value, a bit.
    pub(super) const fn bits(self) -> u16 {
        self.0
    }

    /// The set that [`EnumSet::bits`] gave. Bits of no value are dropped.
    pub(super) const fn from_bits(bits: u16) -> Self {
        let () = Self::FITS;
        let unused = u16::BITS as usize - T::ALL.len();
        Self(bits << unused >> unused, PhantomData)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::milestone::Milestone;

    #[test]
    fn a_set_contains_what_was_inserted_and_survives_its_bits() {
        let mut set = EnumSet::default();
        set.insert(Milestone::Created);
        set.insert(Milestone::Ready);
        let again = EnumSet::from_bits(set.bits() | 0x8000);
        assert_eq!(again, set);
        let contained = Milestone::ALL.map(|milestone| again.contains(milestone));
        assert_eq!(
            contained,
            [true, false, false, false, false, false, true, false, false]
        );
    }
}
