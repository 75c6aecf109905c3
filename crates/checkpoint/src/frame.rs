//! The frame of a checkpoint file: its sections between a header and a checksum.
//!
//! ```text
//! magic, 16 bytes │ version, u32 │ length of the file, u64
//! tag, u32 │ length, u64 │ payload      (one section; any number of them)
//! SHA-256 of everything before, 32 bytes
//! ```
//!
//! Numbers are little-endian. One hash over the whole file detects what a disk or a torn write can
//! do: truncation, flipped bits, reordered sections, and a mix of two checkpoints. Nested CRCs would
//! not detect the last: a section followed by its own CRC leaves an outer CRC of the same polynomial
//! in the same state whatever the section holds, so a section could be exchanged for another of the
//! same length.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

/// The first bytes of a checkpoint file.
pub const MAGIC: [u8; 16] = *b"podinit chkpnt\n\0";
/// The version of the frame and of what the sections hold.
pub const VERSION: u32 = 1;
/// The size limit of a checkpoint, in bytes; a larger file is neither written nor read.
pub const MAX_BYTES: usize = 256 << 20;

const LENGTH_AT: usize = MAGIC.len() + size_of::<u32>();
const HEAD_BYTES: usize = LENGTH_AT + size_of::<u64>();
const HASH_BYTES: usize = 32;

/// Why a file cannot be used as a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// It does not begin with [`MAGIC`].
    #[error("it is not a checkpoint")]
    NotACheckpoint,
    /// A newer podinit wrote it.
    #[error("its format is version {0}, which this podinit does not know (it knows {VERSION})")]
    FutureVersion(u32),
    /// An older podinit wrote it, in a format that is no longer read.
    #[error("its format is version {0}, which this podinit no longer reads (it reads {VERSION})")]
    OldVersion(u32),
    /// Bytes at its end are missing.
    #[error("it is truncated: {found} of {wanted} bytes")]
    Truncated {
        /// The length of the file
        found: usize,
        /// The length that the header states, or, without a whole header, the least possible one
        wanted: u64,
    },
    /// Its bytes are not those that were written.
    #[error("it is corrupt: {0}")]
    Corrupt(&'static str),
}

/// Builds a checkpoint file section by section.
#[derive(Clone, Debug)]
pub struct SectionWriter(Vec<u8>);

impl SectionWriter {
    /// A file without sections.
    pub fn begin() -> Self {
        Self::version(VERSION)
    }

    /// A file that states any version.
    pub(super) fn version(version: u32) -> Self {
        let mut file = MAGIC.to_vec();
        file.extend(version.to_le_bytes());
        file.extend([0; size_of::<u64>()]);
        Self(file)
    }

    /// Makes room for so many bytes more.
    pub fn reserve(&mut self, bytes: usize) {
        self.0.reserve_exact(bytes);
    }

    /// Adds a section with the payload that `append` appends. Readers find it by its tag, so tags
    /// must differ.
    pub fn section(&mut self, tag: u32, append: impl FnOnce(&mut Vec<u8>)) {
        let section = self.open(tag);
        append(self.end());
        self.close(section);
    }

    /// Begins a section, whose payload is appended at the [end](Self::end) until it is closed.
    pub(super) fn open(&mut self, tag: u32) -> OpenSection {
        self.0.extend(tag.to_le_bytes());
        self.0.extend([0; size_of::<u64>()]);
        OpenSection(self.0.len())
    }

    /// What is appended to.
    pub(super) const fn end(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// Ends a section: its payload is what was appended since.
    pub(super) fn close(&mut self, OpenSection(begin): OpenSection) {
        let length = (self.0.len() - begin) as u64;
        self.set_length(begin - size_of::<u64>(), length);
    }

    /// The complete file. This hashes it, which takes a few milliseconds for each megabyte on a
    /// machine without SHA instructions.
    pub fn finish(mut self) -> Vec<u8> {
        let length = (self.0.len() + HASH_BYTES) as u64;
        self.set_length(LENGTH_AT, length);
        let hash = Sha256::digest(&self.0);
        self.0.extend(hash);
        self.0
    }

    fn set_length(&mut self, at: usize, length: u64) {
        self.0[at..at + size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
    }
}

/// A section that is being written, by where its payload begins.
#[derive(Debug)]
pub(super) struct OpenSection(usize);

/// The sections of a checkpoint file whose checksum matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointSections<'a>(Vec<(u32, &'a [u8])>);

impl<'a> CheckpointSections<'a> {
    /// The payload of the section with `tag`.
    pub fn get(&self, tag: u32) -> Option<&'a [u8]> {
        let (_, payload) = self.0.iter().find(|(other, _)| *other == tag)?;
        Some(payload)
    }

    /// The sections with their tags, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.0.iter().copied()
    }
}

/// Checks `file` and finds its sections.
pub fn read(file: &[u8]) -> Result<CheckpointSections<'_>, FrameError> {
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
    split(sections).ok_or(FrameError::Corrupt("its sections do not fill it"))
}

/// The length that the header states, if the header is one of this version.
fn head(file: &[u8]) -> Result<u64, FrameError> {
    let begins_as = |magic: &[u8; 16]| file.starts_with(&magic[..magic.len().min(file.len())]);
    if file.is_empty() || !begins_as(&MAGIC) {
        return Err(FrameError::NotACheckpoint);
    }
    let mut rest = file.get(MAGIC.len()..).unwrap_or_default();
    let short = || truncated(file.len(), (HEAD_BYTES + HASH_BYTES) as u64);
    let version = take(&mut rest).map(u32::from_le_bytes).ok_or_else(short)?;
    match version.cmp(&VERSION) {
        Ordering::Less => Err(FrameError::OldVersion(version)),
        Ordering::Greater => Err(FrameError::FutureVersion(version)),
        Ordering::Equal => take(&mut rest).map(u64::from_le_bytes).ok_or_else(short),
    }
}

fn truncated(found: usize, wanted: u64) -> FrameError {
    FrameError::Truncated { found, wanted }
}

/// The sections in `bytes`, if they fill it exactly.
fn split(mut bytes: &[u8]) -> Option<CheckpointSections<'_>> {
    let mut sections = Vec::new();
    while !bytes.is_empty() {
        let tag = u32::from_le_bytes(take(&mut bytes)?);
        let length = usize::try_from(u64::from_le_bytes(take(&mut bytes)?)).ok()?;
        let (payload, rest) = bytes.split_at_checked(length)?;
        sections.push((tag, payload));
        bytes = rest;
    }
    Some(CheckpointSections(sections))
}

/// Takes the first `N` bytes off `bytes`.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
