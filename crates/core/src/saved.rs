//! How values are written for a checkpoint, where that differs from what they are.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::label_value::LabelTexts;

/// Values that others name by their positions: one that cannot be read does not move those behind it.
pub mod by_position {
    use super::{Arc, BTreeMap, Deserialize, Deserializer, Serialize, Serializer};

    /// A position is never above this.
    const MOST: u16 = 1 << 12;

    /// Writes each value with its position.
    ///
    /// # Errors
    /// The errors of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(all: &[T], to: S) -> Result<S::Ok, S::Error> {
        let all: BTreeMap<u16, &T> = (0..).zip(all).collect();
        all.serialize(to)
    }

    /// Reads the values. One that is missing has the default.
    ///
    /// # Errors
    /// The errors of the deserializer.
    pub fn deserialize<'de, T, D>(from: D) -> Result<Arc<[T]>, D::Error>
    where
        T: Clone + Default + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let mut read = BTreeMap::<u16, T>::deserialize(from)?;
        let length = read.last_key_value().map_or(0, |(last, _)| (*last).min(MOST) + 1);
        Ok((0..length).map(|at| read.remove(&at).unwrap_or_default()).collect())
    }
}

/// Writes one value for each label value, as a struct whose fields have the texts of these as names.
///
/// # Errors
/// The errors of the serializer.
pub(super) fn write_by_name<L: LabelTexts, T: Serialize, S: Serializer>(
    name: &'static str,
    mut value: impl FnMut(L) -> T,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut to = to.serialize_struct(name, L::ALL.len())?;
    for of in L::ALL {
        to.serialize_field(of.as_str(), &value(*of))?;
    }
    to.end()
}

/// Reads what [`write_by_name`] has written. Fields with other names are ignored.
///
/// # Errors
/// The errors of the deserializer.
pub(super) fn read_by_name<'de, L: LabelTexts, T: Deserialize<'de>, D: Deserializer<'de>>(
    name: &'static str,
    from: D,
    read: impl FnMut(L, T),
) -> Result<(), D::Error> {
    struct ByName<F, L, T>(F, PhantomData<(L, T)>);

    impl<'de, L: LabelTexts, T: Deserialize<'de>, F: FnMut(L, T)> Visitor<'de> for ByName<F, L, T> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("values by name")
        }

        fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
            for of in L::ALL {
                if let Some(value) = all.next_element()? {
                    self.0(*of, value);
                }
            }
            Ok(())
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
            while let Some(name) = all.next_key::<String>()? {
                match L::from_text(&name) {
                    Some(of) => self.0(of, all.next_value()?),
                    None => _ = all.next_value::<IgnoredAny>()?,
                }
            }
            Ok(())
        }
    }

    from.deserialize_struct(name, L::TEXTS, ByName(read, PhantomData))
}
