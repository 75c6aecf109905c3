//! One section of a checkpoint: its tag, the values in it, and why it cannot be read.

use serde::Serialize;

use crate::CheckpointLoad;
use crate::frame::CheckpointSections;
use crate::shape::{Corrupt, SavedType, SectionValues, Shapes};

pub(super) const SCOPE: u32 = 1;
pub(super) const TRACKER: u32 = 2;
pub(super) const PODS: u32 = 3;
pub(super) const METRICS: u32 = 4;
pub(super) const RECORDS: u32 = 5;
/// How the values of the others are written
pub(super) const SHAPES: u32 = 6;

/// Why a checkpoint that is whole cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A section is missing
    #[error("it has no section {0}")]
    Missing(u32),
    /// The bytes of a section are not those of values
    #[error("section {0}: {1}")]
    Bytes(u32, String),
    /// A section holds a value that cannot be
    #[error("section {0}: {1}")]
    Impossible(u32, &'static str),
}

impl ContentError {
    /// The reason for setting the checkpoint aside.
    pub const fn reason(&self) -> CheckpointLoad {
        CheckpointLoad::Corrupt
    }
}

/// What makes a section `tag` corrupt.
pub(super) fn corrupt(tag: u32) -> impl Fn(Corrupt) -> ContentError {
    move |what| ContentError::Bytes(tag, what.to_string())
}

/// Appends the bytes of `value`.
#[expect(
    clippy::expect_used,
    reason = "memory takes every byte, and derived forms know the lengths that postcard asks for"
)]
pub(super) fn append<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    postcard::serialize_with_flavor(value, PostcardOutput(out))
        .expect("a saved value can be written");
}

/// Where postcard writes to.
struct PostcardOutput<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for PostcardOutput<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    // Most numbers of a pod take one byte, which is cheaper to push than to copy.
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// A file with the shapes that it states, and those of this podinit.
#[derive(Debug)]
pub(super) struct TypedFile<'a> {
    file: &'a CheckpointSections<'a>,
    theirs: Shapes,
    ours: &'static Shapes,
}

impl<'a> TypedFile<'a> {
    pub(super) fn new(
        file: &'a CheckpointSections<'a>,
        ours: &'static Shapes,
    ) -> Result<Self, ContentError> {
        let payload = file.get(SHAPES).ok_or(ContentError::Missing(SHAPES))?;
        let theirs = Shapes::read(payload).map_err(corrupt(SHAPES))?;
        Ok(Self { file, theirs, ours })
    }

    /// Whether values of a type are written as this podinit writes them.
    pub(super) fn is_same<T: SavedType>(&self) -> bool {
        self.ours.has_same(T::NAME, &self.theirs)
    }

    /// The values of the section `tag`.
    pub(super) fn values(&self, tag: u32) -> Result<SectionValues<'_>, ContentError> {
        let payload = self.file.get(tag).ok_or(ContentError::Missing(tag))?;
        Ok(SectionValues::new(payload, &self.theirs, self.ours))
    }

    /// The one value of a section, which is the default where it means nothing to this podinit, and how much of it was
    /// skipped.
    pub(super) fn value<T: SavedType + Default>(&self, tag: u32) -> Result<(T, u64), ContentError> {
        let mut values = self.values(tag)?;
        let value = values.next().map_err(corrupt(tag))?;
        match values.is_at_end() {
            true => Ok((value.unwrap_or_default(), values.skipped())),
            false => Err(ContentError::Impossible(tag, "bytes are left over")),
        }
    }
}
