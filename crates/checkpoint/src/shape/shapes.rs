//! The shapes of types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};

/// Shapes have no more bytes than this; those of a podinit have 10 kB.
const MOST_BYTES: usize = 256 << 10;

/// The longest name of a type, a field or a variant, in bytes.
const LONGEST_NAME: usize = 256;

/// Shapes, and values, are no deeper in each other than this.
pub(super) const MOST_DEPTH: u8 = 48;

/// The bytes of a section are not those of values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Corrupt(String);

impl Corrupt {
    pub(super) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl serde::de::Error for Corrupt {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

/// Takes a value off the bytes that begin with it.
pub(super) fn take<'de, T: Deserialize<'de>>(bytes: &mut &'de [u8]) -> Result<T, Corrupt> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(Corrupt::custom)?;
    *bytes = rest;
    Ok(value)
}

/// How a value is written. [`Shape::read`] numbers the variants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Shapes(pub(super) BTreeMap<String, Shape>);

/// A type of which values are written, with its name as serde has it.
pub(crate) trait SavedType: Serialize + for<'de> Deserialize<'de> {
    const NAME: &'static str;

    /// Checks what was read.
    ///
    /// # Errors
    /// What no podinit writes.
    fn check(&self) -> Result<(), &'static str> {
        Ok(())
    }
}

impl Shapes {
    /// The shapes that a file states.
    ///
    /// # Errors
    /// If the bytes are no shapes, or shapes that no podinit writes.
    pub(crate) fn read(mut bytes: &[u8]) -> Result<Self, Corrupt> {
        if bytes.len() > MOST_BYTES {
            return Err(Corrupt::new("it states more types than a podinit has"));
        }
        let shapes = read_named(&mut bytes, 0)?;
        match bytes {
            [] => Ok(Self(shapes.into_iter().collect())),
            _ => Err(Corrupt::new("bytes are left over")),
        }
    }

    /// The shape of the struct or enum of this name.
    pub(super) fn named(&self, name: &str) -> Result<&Shape, Corrupt> {
        self.0.get(name).ok_or_else(|| Corrupt::new("a type without a shape"))
    }

    /// Whether a type has the same shape here and there.
    pub(crate) fn has_same(&self, name: &str, other: &Self) -> bool {
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

/// Takes shapes with names off the bytes, so deep in another.
fn read_named(bytes: &mut &[u8], depth: u8) -> Result<Vec<(String, Shape)>, Corrupt> {
    let mut read = Vec::new();
    for _ in 0..take::<u32>(bytes)? {
        read.push((read_name(bytes)?, Shape::read(bytes, depth)?));
    }
    Ok(read)
}

fn read_name(bytes: &mut &[u8]) -> Result<String, Corrupt> {
    match take::<&str>(bytes)? {
        name if name.len() <= LONGEST_NAME => Ok(name.to_owned()),
        _ => Err(Corrupt::new("a name is longer than one of a podinit")),
    }
}

impl Shape {
    /// Takes a shape off the bytes, which is so deep in another. By hand, because nothing bounds how deep a derived
    /// reader goes.
    fn read(bytes: &mut &[u8], depth: u8) -> Result<Self, Corrupt> {
        if depth > MOST_DEPTH {
            return Err(Corrupt::new("types are too deep in each other"));
        }
        let depth = depth + 1;
        let inner = |bytes: &mut &[u8]| Self::read(bytes, depth).map(Box::new);
        Ok(match take::<u32>(bytes)? {
            0 => Self::Unit,
            1 => Self::Bool,
            2 => Self::U8,
            3 => Self::U16,
            4 => Self::U32,
            5 => Self::U64,
            6 => Self::U128,
            7 => Self::I64,
            8 => Self::Text,
            9 => Self::Option(inner(bytes)?),
            10 => Self::Sequence(inner(bytes)?),
            11 => Self::Map(inner(bytes)?, inner(bytes)?),
            12 => {
                let length = take::<u32>(bytes)?;
                Self::Tuple(
                    (0..length).map(|_| Self::read(bytes, depth)).collect::<Result<_, _>>()?,
                )
            }
            13 => Self::Array(inner(bytes)?, take(bytes)?),
            14 => Self::Struct(read_named(bytes, depth)?),
            15 => Self::Enum(read_named(bytes, depth)?),
            16 => Self::Named(read_name(bytes)?),
            _ => return Err(Corrupt::new("no such shape")),
        })
    }

    /// Whether it is, or has in it, the struct or enum of this name.
    pub(super) fn has(&self, name: &str, shapes: &Shapes) -> bool {
        let mut left = Vec::new();
        self.add_names(&mut left);
        let inside = |other: &str| shapes.0.get(other).is_some_and(|shape| shape.has(name, shapes));
        left.into_iter().any(|other| other == name || inside(other))
    }

    /// Whether it is a number.
    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::U128 | Self::I64)
    }

    /// Adds the names of structs and enums in it.
    pub(super) fn add_names<'a>(&'a self, names: &mut Vec<&'a str>) {
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
