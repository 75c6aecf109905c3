//! Positions in a recording, for error messages.

use std::fmt;

/// A position in a recording, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordingPosition {
    /// From 1
    pub line: u64,
    /// In bytes, from 1
    pub column: u64,
    /// The offset, from 0
    pub byte: u64,
    /// The number of the document, from 1
    pub document: u64,
}

impl fmt::Display for RecordingPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, byte, document } = self;
        write!(f, "line {line}, column {column}, byte {byte} (document {document})")
    }
}

/// A position in the text of a recording, counted while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextPosition {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) byte: u64,
}

impl TextPosition {
    pub(super) const START: Self = Self { line: 1, column: 1, byte: 0 };

    /// The position after `bytes` that begin here.
    pub(super) fn after(self, bytes: &[u8]) -> Self {
        let length = bytes.len() as u64;
        let byte = self.byte + length;
        let newlines = memchr::memchr_iter(b'\n', bytes).count();
        match memchr::memrchr(b'\n', bytes) {
            Some(last) => {
                Self { line: self.line + newlines as u64, column: length - last as u64, byte }
            }
            None => Self { column: self.column + length, byte, ..self },
        }
    }

    pub(super) fn in_document(self, document: u64) -> RecordingPosition {
        RecordingPosition { line: self.line, column: self.column, byte: self.byte, document }
    }
}
