//! How the values of a checkpoint are written, which the checkpoint says itself.
//!
//! A value is written with postcard: without names, in the order of its type's fields. The *shapes* of the types, with the
//! names of their fields and variants, are written once beside the values. Where the shape of a file is the program's, the
//! value is read as it stands. Where another version of podinit has written the file, the value is read by the file's
//! shape first, and then by name:
//!
//! | What differs | How it is read |
//! |---|---|
//! | a field that the file lacks | as its default |
//! | a field that the program does not know | skipped and counted |
//! | a field or an element with a value that the program does not know | as if it were missing, and counted |
//!
//! Where a struct cannot do without a field, it is a value that the program does not know, in turn.

mod by_name;
mod reader;
mod tracer;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub(super) use self::reader::Values;
use self::tracer::Tracer;

/// The bytes of a section are not those of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Corrupt(String);

impl Corrupt {
    fn from_error(error: &impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// How a value is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Shape {
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
pub(super) struct Shapes(BTreeMap<String, Shape>);

/// A type of which values are written, with its name as serde has it.
pub(super) trait Saved: Serialize + for<'de> Deserialize<'de> {
    const NAME: &'static str;
}

impl Shapes {
    /// Adds the shape of a type, and of all that it has in it.
    #[expect(clippy::expect_used, reason = "a test traces all types that there are")]
    pub(super) fn with<T: Saved>(self) -> Self {
        let traced = Tracer::new(self).trace::<T>();
        traced.expect("a saved type has a shape")
    }

    /// Whether a type has the same shape here and there.
    fn has_same(&self, name: &str, other: &Self) -> bool {
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

#[cfg(test)]
pub(super) mod editing_tests;
#[cfg(test)]
mod tests;
