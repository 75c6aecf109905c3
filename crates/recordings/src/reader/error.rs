//! Errors in a recording. Each one is a line of text: which file, where, what is wrong, and how to fix
//! it.

use std::fmt;
use std::io;

use super::misfit::NonRecording;
use super::position::{RecordingPosition, TextPosition};
use podinit_decode::ObjectFault;
use podinit_text::strangers_text::shown;

/// A fault with its position.
#[derive(Debug)]
pub(super) struct LocatedFault {
    pub(super) position: TextPosition,
    pub(super) fault: RecordingFault,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingFault {
    /// The file cannot be opened
    #[error("cannot be opened: {0}")]
    Open(io::Error),
    /// Reading fails, or the gzip data is damaged
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Nothing is in it
    #[error("it is empty; the command that writes it may have failed")]
    Empty,
    /// It begins with bytes that are not text
    #[error("this is binary data; a recording is JSON or YAML, or either of them gzipped")]
    Binary,
    /// A JSON array at the top
    #[error("a JSON array is not a document; write its elements one after another (jq -c '.[]')")]
    Array,
    /// The input ends within a document
    #[error(
        "the input ends within a document that began at line {began}; it was cut off: record it \
         again, or remove the incomplete document"
    )]
    Truncated {
        /// The line on which the document begins
        began: u64,
    },
    /// One object is longer than `OBJECT_LIMIT`
    #[error("an object or line longer than {} MiB; no pod is as long", limit >> 20)]
    TooLong {
        /// The limit in bytes
        limit: usize,
    },
    /// It is not valid JSON or YAML
    #[error("invalid {format}: {why}")]
    Syntax {
        /// JSON or YAML
        format: &'static str,
        /// What is wrong
        why: String,
    },
    /// It is something else, which people take for a recording
    #[error(
        "this is {0}, and no recording; record pods and their Events (kubectl get pods,events -A -o json)"
    )]
    Misfit(NonRecording),
    /// The document is not one that a recording may contain, or its object is not a pod
    #[error(
        "{0}; a recording contains PodList, List, Pod, EventList, Event and watch events of them \
         (kubectl get pods,events -o json)"
    )]
    Object(ObjectFault),
    /// An item of a list is neither a pod nor an Event
    #[error(
        "item {number} of the list: {fault}; record pods and Events only (kubectl get pods,events -o json)"
    )]
    Item {
        /// From 1
        number: usize,
        /// What is wrong with it
        fault: ObjectFault,
    },
    /// An `EventList` that contains a pod
    #[error("an EventList contains Events only; lists of pods and Events have kind List")]
    NotAnEvent,
    /// A `NodeList` that contains something else
    #[error("a NodeList contains nodes only; lists of pods and nodes have kind List")]
    NotANode,
    /// `observedAt` is present and not a time
    #[error("observedAt is not a time after 1970 in RFC 3339, such as 2026-01-02T03:04:05.678Z")]
    ObservedAt,
}

impl RecordingFault {
    /// Whether the document is a list of objects that say nothing of pods, and the next one can be read.
    pub(super) fn is_list_of_others(&self) -> bool {
        matches!(self, Self::Object(ObjectFault::NotAList(kind)) if !kind.is_empty())
    }
}

/// An error in a recording. Its text is one line.
#[derive(Debug)]
pub struct RecordingError {
    /// The file, as given by the user
    pub name: String,
    /// `None` if the file could not be opened
    pub position: Option<RecordingPosition>,
    /// What is wrong
    pub fault: RecordingFault,
}

impl RecordingError {
    pub(super) fn new(
        name: String,
        position: Option<RecordingPosition>,
        fault: RecordingFault,
    ) -> Self {
        Self { name, position, fault }
    }
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}: ", self.name);
        if let Some(position) = self.position {
            text.push_str(&format!("{position}: "));
        }
        text.push_str(&self.fault.to_string());
        // File names and messages of libraries may contain line ends.
        f.write_str(&shown(&text))
    }
}

/// Without a source: the text includes it, and printing the chain would repeat it.
impl std::error::Error for RecordingError {}
