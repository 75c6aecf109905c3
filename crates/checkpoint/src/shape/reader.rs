//! Reads the values of a section, one after the other.

use serde::Deserialize;

use super::by_name;
use super::shapes::{Corrupt, Saved, Shape, Shapes};
use super::value::Wanted;

/// The values of a section.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    bytes: &'a [u8],
    /// The shapes of the file
    theirs: &'a Shapes,
    /// Those of this podinit
    ours: &'a Shapes,
    /// Of each type that was read, whether its shapes are the same
    are_same: Vec<(&'static str, bool)>,
    /// How many values the rest has room for
    left: usize,
    skipped: u64,
}

impl<'a> Values<'a> {
    /// The values in the bytes of a section.
    pub(crate) fn new(bytes: &'a [u8], theirs: &'a Shapes, ours: &'a Shapes) -> Self {
        // Some values take no byte, such as a unit; of these, no version has many.
        let left = bytes.len().saturating_mul(4).saturating_add(1_000);
        Self { bytes, theirs, ours, are_same: Vec::new(), left, skipped: 0 }
    }

    /// How many parts of the values that were read this podinit did not know.
    pub(crate) const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether all values have been read.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A value of a type that never changes.
    ///
    /// # Errors
    /// If the bytes are no such value.
    pub(crate) fn plain<T: Deserialize<'a>>(&mut self) -> Result<T, Corrupt> {
        let read = postcard::take_from_bytes(self.bytes);
        let (value, rest) = read.map_err(|error| Corrupt::from_error(&error))?;
        self.bytes = rest;
        Ok(value)
    }

    /// Whether a type has the same shapes in the file. A section has a few types, and many values of them.
    fn is_same(&mut self, name: &'static str) -> bool {
        let mut known = self.are_same.iter();
        if let Some((_, is_same)) = known.find(|(other, _)| *other == name) {
            return *is_same;
        }
        let is_same = self.ours.has_same(name, self.theirs);
        self.are_same.push((name, is_same));
        is_same
    }

    /// The next value: `None` for one that means nothing to this podinit, which is skipped and counted.
    ///
    /// # Errors
    /// If the bytes are no value.
    pub(crate) fn next<T: Saved>(&mut self) -> Result<Option<T>, Corrupt> {
        if self.is_same(T::NAME) {
            return self.plain().map(Some);
        }
        let shape = Shape::Named(T::NAME.to_owned());
        let mut from = postcard::Deserializer::from_bytes(self.bytes);
        let wanted = Wanted::new(self.theirs, &shape, &mut self.left);
        let value = serde::de::DeserializeSeed::deserialize(wanted, &mut from);
        let value = value.map_err(|error| Corrupt::from_error(&error))?;
        self.bytes = from.finalize().map_err(|error| Corrupt::from_error(&error))?;
        let (read, skipped) = by_name::read(value);
        self.skipped += skipped;
        Ok(read)
    }
}
