//! One section of a checkpoint: its tag, and why it cannot be read.

use serde::{Deserialize, Serialize};

use crate::checkpoint::form::{Corrupt, ValueWriter, Values};
use crate::checkpoint::frame::Sections;
use crate::metrics::CheckpointLoad;

pub(super) const SCOPE: u32 = 1;
pub(super) const TRACKER: u32 = 2;
pub(super) const PODS: u32 = 3;
pub(super) const METRICS: u32 = 4;
pub(super) const RECORDS: u32 = 5;

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

/// Appends a section of one value.
pub(super) fn append<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    let mut values = ValueWriter::begin(out);
    values.append(out, value);
    values.finish(out);
}

/// The values of the section `tag`.
pub(super) fn values<'a>(file: &Sections<'a>, tag: u32) -> Result<Values<'a>, ContentError> {
    let payload = file.get(tag).ok_or(ContentError::Missing(tag))?;
    Values::of(payload).map_err(corrupt(tag))
}

/// The one value of a section, and how much of it was skipped.
pub(super) fn value<'a, T: Deserialize<'a>>(
    file: &Sections<'a>,
    tag: u32,
) -> Result<(T, u64), ContentError> {
    let mut values = values(file, tag)?;
    let value = values.next().map_err(corrupt(tag))?;
    match value.flatten() {
        Some(value) if values.is_at_end() => Ok((value, values.skipped())),
        Some(_) => Err(ContentError::Impossible(tag, "values are left over")),
        None => Err(ContentError::Impossible(tag, "it has no value")),
    }
}
