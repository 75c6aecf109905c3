//! Sets of the values of an enum, a bit for each.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::label_value::LabelValue;

/// A set of the values of `T`, saved as these values. An enum with more values than there are bits does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl<T: LabelValue> Serialize for EnumSet<T> {
    /// A checkpoint has the index of each value in a byte, as it has a sequence of them, but this is written at once.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut indices = [0; u16::BITS as usize];
        let mut length = 0;
        let mut left = self.0;
        while left != 0 {
            indices[length] = left.trailing_zeros() as u8;
            length += 1;
            left &= left - 1;
        }
        to.serialize_bytes(&indices[..length])
    }
}

impl<'de, T: LabelValue + Deserialize<'de>> Deserialize<'de> for EnumSet<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values<T>(EnumSet<T>);

        impl<'de, T: LabelValue + Deserialize<'de>> Visitor<'de> for Values<T> {
            type Value = EnumSet<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the values of a set")
            }

            fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<EnumSet<T>, A::Error> {
                while let Some(value) = all.next_element()? {
                    self.0.insert(value);
                }
                Ok(self.0)
            }
        }

        from.deserialize_seq(Values(Self::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::milestone::Milestone;

    #[test]
    fn a_set_contains_what_was_inserted() {
        let mut set = EnumSet::default();
        set.insert(Milestone::Created);
        set.insert(Milestone::Ready);
        let contained = Milestone::ALL.map(|milestone| set.contains(milestone));
        assert_eq!(contained, [true, false, false, false, false, false, true, false, false]);
    }
}
