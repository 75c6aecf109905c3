//! The form of a checkpoint file: sections in an envelope that proves them whole.
//!
//! ```text
//! magic, 16 bytes │ version, u32 │ length of the file, u64
//! tag, u32 │ length, u64 │ payload      (a section, any number of them)
//! SHA-256 of everything before, 32 bytes
//! ```
//!
//! Numbers are little-endian. One hash over everything finds what a disk or a torn write can do:
//! truncation, flipped bits, sections out of order, and parts of two checkpoints in one file. For the
//! last, a CRC of each section and a CRC of the same polynomial over the file would be blind: a
//! section followed by its CRC leaves the outer CRC in the same state whatever it says, so that it
//! could be exchanged for one of equal length.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

use super::codec::{DecodeError, Decoder, Encoder};

/// What a checkpoint file begins with.
pub const MAGIC: [u8; 16] = *b"podinit ledger\n\0";
/// The version of the form and of what the sections say.
pub const VERSION: u32 = 1;
/// No checkpoint is larger, in bytes; a larger file is neither written nor read.
pub const MAX_BYTES: usize = 256 << 20;

const LENGTH_AT: usize = MAGIC.len() + size_of::<u32>();
const HEAD_BYTES: usize = LENGTH_AT + size_of::<u64>();
const HASH_BYTES: usize = 32;

/// Why bytes are not a checkpoint that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It does not begin as a checkpoint does.
    #[error("it is not a checkpoint")]
    NotACheckpoint,
    /// A podinit that is newer than this one has written it.
    #[error("its format is version {0}, which this podinit does not know (it knows {VERSION})")]
    FutureVersion(u32),
    /// Bytes at its end are missing.
    #[error("it is truncated: {found} of {wanted} bytes")]
    Truncated {
        /// How many bytes there are
        found: usize,
        /// How many it says that there are; at least so many there must be
        wanted: u64,
    },
    /// Its bytes are not those that were written.
    #[error("it is corrupt: {0}")]
    Corrupt(&'static str),
}

/// Builds a checkpoint file section by section.
#[derive(Clone, Debug)]
pub struct Writer(Encoder);

impl Writer {
    /// A file without sections.
    pub fn begin() -> Self {
        Self::version(VERSION)
    }

    /// A file that states any version.
    pub(super) fn version(version: u32) -> Self {
        let mut file = Encoder::new();
        file.raw(&MAGIC);
        file.fixed32(version);
        file.fixed64(0);
        Self(file)
    }

    /// Adds a section with what `put` puts. The reader finds it by its tag, so tags differ.
    pub fn section(&mut self, tag: u32, put: impl FnOnce(&mut Encoder)) {
        self.0.fixed32(tag);
        let length_at = self.0.len();
        self.0.fixed64(0);
        let begin = self.0.len();
        put(&mut self.0);
        let length = (self.0.len() - begin) as u64;
        self.patch(length_at, length);
    }

    /// The whole file. This is where the bytes are hashed, which takes a few milliseconds for each
    /// megabyte on a machine without instructions for it.
    pub fn finish(mut self) -> Vec<u8> {
        let length = (self.0.len() + HASH_BYTES) as u64;
        self.patch(LENGTH_AT, length);
        let hash = Sha256::digest(self.0.bytes_mut());
        self.0.raw(&hash);
        self.0.into_bytes()
    }

    fn patch(&mut self, at: usize, length: u64) {
        self.0.bytes_mut()[at..at + size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
    }
}

/// The sections of a checkpoint file that was found whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections<'a>(Vec<(u32, &'a [u8])>);

impl<'a> Sections<'a> {
    /// What the section with `tag` says.
    pub fn get(&self, tag: u32) -> Option<Decoder<'a>> {
        let (_, payload) = self.0.iter().find(|(other, _)| *other == tag)?;
        Some(Decoder::new(payload))
    }

    /// The sections with their tags, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.0.iter().copied()
    }
}

/// Finds the sections in a `file` that is whole.
pub fn read(file: &[u8]) -> Result<Sections<'_>, FrameError> {
    let length = head(file)?;
    let found = file.len();
    match length.cmp(&(found as u64)) {
        Ordering::Greater => return Err(truncated(found, length)),
        Ordering::Less => return Err(FrameError::Corrupt("it is longer than it says")),
        Ordering::Equal => {}
    }
    let Some((hashed, hash)) = file.split_last_chunk::<HASH_BYTES>() else {
        return Err(FrameError::Corrupt("it has no checksum"));
    };
    if Sha256::digest(hashed)[..] != hash[..] {
        return Err(FrameError::Corrupt("its checksum does not match"));
    }
    let sections = hashed.get(HEAD_BYTES..).unwrap_or_default();
    split(sections).map_err(|_| FrameError::Corrupt("its sections do not fill it"))
}

/// The length that the file states, if it begins as a checkpoint of this version.
fn head(file: &[u8]) -> Result<u64, FrameError> {
    let magic = &MAGIC[..MAGIC.len().min(file.len())];
    if file.is_empty() || !file.starts_with(magic) {
        return Err(FrameError::NotACheckpoint);
    }
    let mut head = Decoder::new(file);
    let short = |_| truncated(file.len(), (HEAD_BYTES + HASH_BYTES) as u64);
    head.raw(MAGIC.len()).map_err(short)?;
    match head.fixed32().map_err(short)? {
        0 => Err(FrameError::Corrupt("there is no version 0")),
        VERSION => head.fixed64().map_err(short),
        version => Err(FrameError::FutureVersion(version)),
    }
}

fn truncated(found: usize, wanted: u64) -> FrameError {
    FrameError::Truncated { found, wanted }
}

fn split(bytes: &[u8]) -> Result<Sections<'_>, DecodeError> {
    let mut rest = Decoder::new(bytes);
    let mut sections = Vec::new();
    while rest.remaining() > 0 {
        let tag = rest.fixed32()?;
        let length = rest.fixed64()?;
        // What does not fit an address cannot be in the bytes either.
        let payload = rest.raw(usize::try_from(length).unwrap_or(usize::MAX))?;
        sections.push((tag, payload));
    }
    Ok(Sections(sections))
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
