//! How values are written for a checkpoint, where that differs from what they are.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::label_value::LabelValue;

/// The name of what is wrapped around a value that many others have in common, so that a checkpoint can hold it once.
pub const SHARED: &str = "podinit shared";

/// Writes a value that many others have in common.
pub fn shared<T: Serialize, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_newtype_struct(SHARED, value)
}

/// Whether a value need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Values that others name by their positions: one that cannot be read does not move those behind it.
pub mod by_position {
    use super::{Arc, BTreeMap, Deserialize, Deserializer, Serialize, Serializer};

    /// A position is never above this.
    const MOST: u16 = 1 << 12;

    /// Writes each value with its position.
    pub fn serialize<T: Serialize, S: Serializer>(all: &[T], to: S) -> Result<S::Ok, S::Error> {
        let all: BTreeMap<u16, &T> = (0..).zip(all).collect();
        all.serialize(to)
    }

    /// Reads the values, with the default where there is none.
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

/// Writes values by the names of what they belong to, as a struct has its fields by name.
pub fn write_by_name<L: LabelValue, T: Serialize, S: Serializer>(
    what: &'static str,
    all: impl IntoIterator<Item = (L, T)>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut to = to.serialize_struct(what, L::ALL.len())?;
    for (of, value) in all {
        to.serialize_field(of.as_str(), &value)?;
    }
    to.end()
}

/// Reads values by the names of what they belong to. Those of other names are ignored.
pub fn read_by_name<'de, L: LabelValue, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
    read: impl FnMut(L, T),
) -> Result<(), D::Error> {
    struct ByName<F, L, T>(F, PhantomData<(L, T)>);

    impl<'de, L: LabelValue, T: Deserialize<'de>, F: FnMut(L, T)> Visitor<'de> for ByName<F, L, T> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("values by name")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
            while let Some(name) = all.next_key::<&str>()? {
                match L::from_text(name) {
                    Some(of) => self.0(of, all.next_value()?),
                    None => _ = all.next_value::<IgnoredAny>()?,
                }
            }
            Ok(())
        }
    }

    from.deserialize_map(ByName(read, PhantomData))
}
