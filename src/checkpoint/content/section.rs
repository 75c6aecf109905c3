//! One section of a checkpoint: its tag, the values in it, and why it cannot be read.

use serde::{Deserialize, Serialize};

use crate::checkpoint::frame::Sections;
use crate::metrics::CheckpointLoad;
use crate::text::strangers_text::shown;
use podinit_core::lifecycle::UnreadWaiting;

pub(super) const SCOPE: u32 = 1;
pub(super) const TRACKER: u32 = 2;
pub(super) const PODS: u32 = 3;
pub(super) const METRICS: u32 = 4;
pub(super) const SHARD: u32 = 5;
pub(super) const COLLECTED: u32 = 6;
pub(super) const RECORDS: u32 = 7;
pub(super) const START_TIMES: u32 = 8;
pub(super) const SHOWN: u32 = 9;
pub(super) const CAPACITY: u32 = 10;
pub(super) const EVIDENCE: u32 = 11;
pub(super) const ENDINGS: u32 = 12;
pub(super) const MARKS: u32 = 13;
pub(super) const CRASHES: u32 = 14;
pub(super) const HOLDS: u32 = 15;
pub(super) const CLAIMS: u32 = 16;
pub(super) const HINTS: u32 = 17;

/// Why a checkpoint that is whole cannot be used by this podinit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A section is missing
    #[error("it has no section {0}")]
    Missing(u32),
    /// The bytes of a section are no value of its type
    #[error("section {0}: {1}")]
    Bytes(u32, postcard::Error),
    /// A section holds a value that cannot be
    #[error("section {0}: {1}")]
    Impossible(u32, &'static str),
    /// A name that only a later podinit can have written
    #[error("it counts {}, which this podinit does not know", shown(.0))]
    Unknown(String),
    /// A stage and a cause that only a later podinit can have written
    #[error("a pod waited in {}, which this podinit does not know", shown(.0))]
    UnknownWaiting(String),
}

impl ContentError {
    /// The reason for setting the checkpoint aside.
    pub const fn reason(&self) -> CheckpointLoad {
        match self {
            // The checksum matched, and a variant or a name is none of this podinit's.
            Self::Unknown(_)
            | Self::UnknownWaiting(_)
            | Self::Bytes(_, postcard::Error::SerdeDeCustom) => CheckpointLoad::FutureVersion,
            Self::Missing(_) | Self::Bytes(..) | Self::Impossible(..) => CheckpointLoad::Corrupt,
        }
    }
}

/// Appends the bytes of `value`.
#[expect(
    clippy::expect_used,
    reason = "memory takes every byte, and derived forms know the lengths that postcard asks for"
)]
pub(super) fn append<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    postcard::serialize_with_flavor(value, Append(out)).expect("a saved value can be written");
}

/// Where postcard writes to.
struct Append<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Append<'_> {
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

/// The bytes of the section `tag`.
pub(super) fn payload<'a>(file: &Sections<'a>, tag: u32) -> Result<&'a [u8], ContentError> {
    file.get(tag).ok_or(ContentError::Missing(tag))
}

/// The value with which `bytes`, of the section `tag`, begin. Takes it off them.
pub(super) fn take<'a, T: Deserialize<'a>>(
    bytes: &mut &'a [u8],
    tag: u32,
) -> Result<T, ContentError> {
    let fault = |error| ContentError::Bytes(tag, error);
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(fault)?;
    *bytes = rest;
    Ok(value)
}

/// Why a section `tag` cannot be used that names a pair of stage and cause in this way.
pub(super) fn unread(tag: u32) -> impl Fn(UnreadWaiting) -> ContentError {
    move |why| match why {
        UnreadWaiting::Unnamed => ContentError::Impossible(tag, "no such stage and cause"),
        UnreadWaiting::Unknown(name) => ContentError::UnknownWaiting(name),
    }
}

/// The one value that fills a section.
pub(super) fn value<'a, T: Deserialize<'a>>(
    file: &Sections<'a>,
    tag: u32,
) -> Result<T, ContentError> {
    let mut bytes = payload(file, tag)?;
    let value = take(&mut bytes, tag)?;
    match bytes {
        [] => Ok(value),
        _ => Err(ContentError::Impossible(tag, "bytes are left over")),
    }
}
