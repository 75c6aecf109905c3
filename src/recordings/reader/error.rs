//! What can be wrong with a recording, said in one line: which file, where, why, and how to mend.

use std::fmt;
use std::io;

use crate::decode::ObjectFault;

/// A place in a recording, after decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The line, from 1
    pub line: u64,
    /// The column in bytes, from 1
    pub column: u64,
    /// The byte, from 0
    pub byte: u64,
    /// The document that the place lies in, from 1
    pub document: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            byte,
            document,
        } = self;
        write!(
            f,
            "line {line}, column {column}, byte {byte} (document {document})"
        )
    }
}

/// A place as it is counted while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
    pub(super) byte: u64,
}

impl Place {
    pub(super) const START: Self = Self {
        line: 1,
        column: 1,
        byte: 0,
    };

    /// The place after `bytes` that begin here.
    pub(super) fn after(self, bytes: &[u8]) -> Self {
        let length = bytes.len() as u64;
        let byte = self.byte + length;
        let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => Self {
                line: self.line + newlines as u64,
                column: length - last as u64,
                byte,
            },
            None => Self {
                column: self.column + length,
                byte,
                ..self
            },
        }
    }

    pub(super) fn position(self, document: u64) -> Position {
        Position {
            line: self.line,
            column: self.column,
            byte: self.byte,
            document,
        }
    }
}

/// A fault with its place.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) place: Place,
    pub(super) fault: Fault,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The file cannot be opened
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// Reading fails, or what is gzipped is damaged
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It begins with bytes that no text has
    #[error("this is binary data; a recording is JSON or YAML, or either of them gzipped")]
    Binary,
    /// A JSON array at the top
    #[error("a JSON array is no document; write its elements one after another (jq -c '.[]')")]
    Array,
    /// The input ends within a document
    #[error(
        "the input ends within a document that began at line {began}; it was cut off: record it \
         again, or remove what is left of that document"
    )]
    Truncated {
        /// The line on which the document begins
        began: u64,
    },
    /// One object is longer than [`OBJECT_LIMIT`](super::OBJECT_LIMIT)
    #[error("an object or line longer than {} MiB; no pod is as long", limit >> 20)]
    TooLong {
        /// The limit in bytes
        limit: usize,
    },
    /// It is no JSON, or no YAML
    #[error("invalid {format}: {why}")]
    Syntax {
        /// The language it should be in
        format: &'static str,
        /// What is wrong
        why: String,
    },
    /// The document is none that a recording may hold, or its object is no pod
    #[error(
        "{0}; a recording holds PodList, List, Pod and watch events (kubectl get pods -o json)"
    )]
    Object(ObjectFault),
    /// An item of a list is no pod
    #[error("item {number} of the list: {fault}; record pods only (kubectl get pods -o json)")]
    Item {
        /// Which one, from 1
        number: usize,
        /// What is wrong with it
        fault: ObjectFault,
    },
    /// `observedAt` is there and is no time
    #[error("observedAt is not a time after 1970 in RFC 3339, such as 2026-01-02T03:04:05.678Z")]
    ObservedAt,
}

/// An error in a recording. Its text is one line.
#[derive(Debug)]
pub struct RecordingError {
    /// The file, as it was named
    pub name: String,
    /// Where in it; `None` where it could not be opened
    pub position: Option<Position>,
    /// What is wrong
    pub fault: Fault,
}

impl RecordingError {
    pub(super) fn new(name: String, position: Option<Position>, fault: Fault) -> Self {
        Self {
            name,
            position,
            fault,
        }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}: ", self.name);
        if let Some(position) = self.position {
            text.push_str(&format!("{position}: "));
        }
        text.push_str(&self.fault.to_string());
        // File names and the messages of libraries may hold anything.
        let line = text.replace(|c: char| c.is_control(), " ");
        f.write_str(&line)
    }
}

/// Without a source: the text says everything, and who prints the whole chain says it once.
impl std::error::Error for RecordingError {}
