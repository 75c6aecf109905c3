//! The shapes of types.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The bytes of a section are not those of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Corrupt(String);

impl Corrupt {
    pub(super) fn from_error(error: &impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Shape {
    Unit,
    Bool,
    U8,
    U16,
    U32,
    U64,
    U128,
    I64,
    Text,
    Option(Box<Self>),
    Sequence(Box<Self>),
    Map(Box<Self>, Box<Self>),
    Tuple(Vec<Self>),
    /// The same shape, so often
    Array(Box<Self>, u32),
    /// The fields of a struct or of a variant
    Struct(Vec<(String, Self)>),
    /// The variants
    Enum(Vec<(String, Self)>),
    /// A struct or an enum, by its name among the [`Shapes`]
    Named(String),
}

/// The shapes of structs and enums, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shapes(pub(super) BTreeMap<String, Shape>);

/// A type of which values are written, with its name as serde has it.
pub(crate) trait Saved: Serialize + for<'de> Deserialize<'de> {
    const NAME: &'static str;
}

impl Shapes {
    /// Whether a type has the same shape here and there.
    pub(super) fn has_same(&self, name: &str, other: &Self) -> bool {
        let mut left = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(name) = left.pop() {
            if !seen.insert(name) {
                continue;
            }
            match self.0.get(name) {
                Some(shape) if other.0.get(name) == Some(shape) => shape.add_names(&mut left),
                _ => return false,
            }
        }
        true
    }
}

impl Shape {
    /// Adds the names of structs and enums in it.
    fn add_names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Named(name) => names.push(name),
            Self::Option(inner) | Self::Sequence(inner) | Self::Array(inner, _) => {
                inner.add_names(names);
            }
            Self::Map(key, value) => {
                key.add_names(names);
                value.add_names(names);
            }
            Self::Tuple(all) => all.iter().for_each(|one| one.add_names(names)),
            Self::Struct(all) | Self::Enum(all) => {
                all.iter().for_each(|(_, one)| one.add_names(names));
            }
            _ => {}
        }
    }
}
