//! Reads recordings ([§8.3](crate::specification#s8-3)): lists, pods, Events and watch events from files, as
//! `kubectl` and `podinit capture` write them.
//!
//! A recording is concatenated JSON documents or a stream of YAML documents, gzipped or not. It is
//! read as a stream: in memory are at most the text of one object and, of a list, the packed snapshots of its
//! pods. A live watch counts what it cannot decode and continues; a malformed recording is an error,
//! because its user would take the numbers for complete.
//!
//! ```text
//! file → input (gzip, progress) → lookahead (bounded buffer) → json | yaml (one document at a time)
//!      → document (the same decoder as the live watch's) → so_far (the present) → Document
//! ```

mod clocks_ahead;
mod document;
mod error;
mod input;
mod json;
mod json_tokens;
mod lookahead;
mod misfit;
mod position;
mod so_far;
mod yaml;

use std::io::Read;
use std::path::Path;

pub use clocks_ahead::ClockAhead;
pub use document::{RecordedEvidence, RecordedNodes, RecordedPods, RecordingDocument};
pub use error::{RecordingError, RecordingFault};
pub use input::ReadProgress;
pub use position::RecordingPosition;
pub use so_far::{RecordingMade, SoFar};

use input::RecordingInput;
use json::JsonDocuments;
use lookahead::LookaheadBuffer;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_decode::node::NodeOptions;
use podinit_decode::pod::DecodeContext;
use podinit_kube::cluster::clock::instant;
use podinit_text::strangers_text::shown;
use podinit_text::words::count;
use yaml::YamlDocuments;

/// The longest text of one object (a pod, an event, or a list without its items), and of one line of
/// YAML. etcd accepts objects of up to 1.5 MiB.
const OBJECT_LIMIT: usize = 16 << 20;

/// The documents of one recording, in order. Ends after the first error.
pub struct Recording {
    name: String,
    progress: ReadProgress,
    context: DecodeContext,
    parser: RecordingParser,
    /// What the files before, and this one, have said
    so_far: SoFar,
    /// When the file was modified
    modified: Option<Timestamp>,
    /// How many documents were read, also those that were skipped
    documents: u64,
    /// The lists of other objects ([§8.3](crate::specification#s8-3)): the error of the first, and how many they are
    skipped: Option<(RecordingError, u64)>,
    /// It is standard input, where having none is an error
    is_input: bool,
}

/// The first byte of the recording shows which format it has.
enum RecordingParser {
    Undetected(LookaheadBuffer<RecordingInput>),
    Json(JsonDocuments<RecordingInput>),
    Yaml(YamlDocuments<RecordingInput>),
    Ended,
}

impl Recording {
    /// Opens the recording at `path`; `-` is standard input, which must not be empty: a pipe from a
    /// command that failed is.
    ///
    /// # Errors
    /// If there is no such file, or it may not be read.
    pub fn open(path: &Path, options: DecodeOptions) -> Result<Self, RecordingError> {
        if path.as_os_str() == "-" {
            let recording = Self::from_reader("standard input", std::io::stdin(), options);
            return Ok(Self { is_input: true, ..recording });
        }
        let name = path.display().to_string();
        let open = || {
            let file = std::fs::File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(std::io::ErrorKind::IsADirectory.into());
            }
            Ok((file, metadata))
        };
        match open() {
            Ok((file, metadata)) => {
                // What is no regular file is made while it is read.
                let size = metadata.is_file().then_some(metadata.len());
                let modified = metadata.modified().ok().filter(|_| metadata.is_file());
                Ok(Self { modified: modified.map(instant), ..Self::new(name, file, size, options) })
            }
            Err(error) => Err(RecordingError::new(name, None, RecordingFault::Open(error))),
        }
    }

    /// Reads a recording from `input`. Errors name it `name`.
    pub fn from_reader(
        name: impl Into<String>,
        input: impl Read + Send + 'static,
        options: DecodeOptions,
    ) -> Self {
        Self::new(name.into(), input, None, options)
    }

    fn new(
        name: String,
        input: impl Read + Send + 'static,
        size: Option<u64>,
        options: DecodeOptions,
    ) -> Self {
        let progress = ReadProgress::new(size);
        let input = RecordingInput::new(Box::new(input), progress.clone());
        let options = DecodeOptions {
            // The clock of a node is named by it.
            node: true,
            claims: options.messages,
            nodes: options.nodes.or(Some(NodeOptions::default())),
            ..options
        };
        let mut context = DecodeContext::new(options);
        context.mixed_lists = true;
        context.other_times = Some(Vec::new());
        Self {
            name,
            progress,
            context,
            parser: RecordingParser::Undetected(LookaheadBuffer::new(input, OBJECT_LIMIT)),
            so_far: SoFar::default(),
            modified: None,
            documents: 0,
            skipped: None,
            is_input: false,
        }
    }

    /// The same as a part of a recording of several files: `so_far` is what those before have said.
    #[must_use]
    pub fn following(self, so_far: &SoFar) -> Self {
        so_far.begin_file(self.modified, self.is_input);
        Self { so_far: so_far.clone(), ..self }
    }

    /// How much of the recording was read. The value is updated while the recording is read.
    pub fn progress(&self) -> ReadProgress {
        self.progress.clone()
    }

    /// Ends, and says what was skipped. Fails where that was all, or nothing came on standard input.
    fn end(&mut self) -> Option<RecordingError> {
        self.parser = RecordingParser::Ended;
        let is_missing = std::mem::take(&mut self.is_input) && self.documents == 0;
        match self.skipped.take() {
            None if is_missing => {
                Some(RecordingError::new(self.name.clone(), None, RecordingFault::Empty))
            }
            None => None,
            Some((first, lists)) if lists == self.documents => Some(first),
            Some((_, lists)) => {
                let lists = count(lists, "list", "lists");
                let others = "of objects that are no pods, Events or nodes";
                tracing::warn!("{}", shown(&format!("{}: skipped {lists} {others}", self.name)));
                None
            }
        }
    }

    /// The next document, or the error and its position.
    fn advance(&mut self) -> Result<Option<RecordingDocument>, error::LocatedFault> {
        let number = self.documents + 1;
        loop {
            match &mut self.parser {
                RecordingParser::Undetected(buffer) => {
                    let json = buffer.is_json().map_err(|fault| buffer.locate(fault))?;
                    let RecordingParser::Undetected(buffer) =
                        std::mem::replace(&mut self.parser, RecordingParser::Ended)
                    else {
                        return Ok(None);
                    };
                    self.parser = if json {
                        RecordingParser::Json(JsonDocuments::new(buffer))
                    } else {
                        RecordingParser::Yaml(YamlDocuments::new(buffer))
                    };
                }
                RecordingParser::Json(documents) => {
                    return documents.next(number, &mut self.context);
                }
                RecordingParser::Yaml(documents) => {
                    return documents.next(number, &mut self.context);
                }
                RecordingParser::Ended => return Ok(None),
            }
        }
    }
}

impl Iterator for Recording {
    type Item = Result<RecordingDocument, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let read = self.advance();
            let other_times = self.context.other_times.replace(Vec::new()).unwrap_or_default();
            let heartbeats = std::mem::take(&mut self.context.heartbeats);
            let located = match read {
                Ok(Some(mut document)) => {
                    self.documents += 1;
                    self.so_far.judge(&mut document, self.modified, (other_times, heartbeats));
                    return Some(Ok(document));
                }
                Ok(None) => return self.end().map(Err),
                Err(located) => located,
            };
            let position = located.position.in_document(self.documents + 1);
            let is_skipped = located.fault.is_list_of_others();
            let error = RecordingError::new(self.name.clone(), Some(position), located.fault);
            if !is_skipped {
                self.parser = RecordingParser::Ended;
                return Some(Err(error));
            }
            self.documents += 1;
            self.skipped.get_or_insert((error, 0)).1 += 1;
        }
    }
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
