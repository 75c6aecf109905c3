//! Recorded input (§8): lists, pods and watch events from files, as `kubectl` and `podinit
//! capture` write them.
//!
//! A recording is concatenated JSON documents or a stream of YAML documents, gzipped or not. It is
//! read as a stream: what is held at any time is one object's text and, of a list, the snapshots
//! of its pods. A live watch counts what it cannot decode and goes on; a recording that is
//! malformed is an error, because its reader would take the numbers for complete.
//!
//! ```text
//! file → input (gzip, progress) → window (bounded buffer) → json | yaml (one document at a time)
//!      → document (the same decoder as the live watch's) → Document
//! ```

mod document;
mod error;
mod input;
mod json;
mod scan;
mod window;
mod yaml;

use std::io::Read;
use std::path::Path;

pub use document::{Body, Document};
pub use error::{Fault, Position, RecordingError};
pub use input::Progress;

use crate::decode::DecodeOptions;
use crate::decode::slim::Context;
use input::Input;
use json::JsonDocuments;
use window::Window;
use yaml::YamlDocuments;

/// The longest text of one object (a pod, an event, or what a list holds besides its items), and
/// of one line of YAML. etcd takes no object above 1.5 MiB.
pub const OBJECT_LIMIT: usize = 16 << 20;

/// The documents of one recording, in their order. Ends after the first error.
pub struct Recording {
    name: String,
    progress: Progress,
    context: Context,
    state: State,
    documents: u64,
}

/// How far the recording is known. What it is written in shows with its first byte.
enum State {
    Unread(Window<Input>),
    Json(JsonDocuments<Input>),
    Yaml(YamlDocuments<Input>),
    Done,
}

impl Recording {
    /// Opens the recording at `path`; `-` is standard input.
    ///
    /// # Errors
    /// When there is no such file, or it may not be read.
    pub fn open(path: &Path, options: DecodeOptions) -> Result<Self, RecordingError> {
        if path.as_os_str() == "-" {
            return Ok(Self::from_reader(
                "standard input",
                std::io::stdin(),
                options,
            ));
        }
        let name = path.display().to_string();
        let open = || {
            let file = std::fs::File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(std::io::ErrorKind::IsADirectory.into());
            }
            Ok((file, metadata.is_file().then_some(metadata.len())))
        };
        match open() {
            Ok((file, size)) => Ok(Self::new(name, file, size, options)),
            Err(error) => Err(RecordingError::new(name, None, Fault::Open(error))),
        }
    }

    /// The recording that `input` holds; errors call it `name`.
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
        let progress = Progress::new(size);
        let input = Input::new(Box::new(input), progress.clone());
        Self {
            name,
            progress,
            context: Context::new(options),
            state: State::Unread(Window::new(input, OBJECT_LIMIT)),
            documents: 0,
        }
    }

    /// How much of the recording was read. Stays valid while the recording is read elsewhere.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// The next document, or where and why there is none.
    fn advance(&mut self) -> Result<Option<Document>, error::Located> {
        let number = self.documents + 1;
        loop {
            match &mut self.state {
                State::Unread(window) => {
                    let json = window.is_json().map_err(|fault| window.locate(fault))?;
                    let State::Unread(window) = std::mem::replace(&mut self.state, State::Done)
                    else {
                        return Ok(None);
                    };
                    self.state = if json {
                        State::Json(JsonDocuments::new(window))
                    } else {
                        State::Yaml(YamlDocuments::new(window))
                    };
                }
                State::Json(documents) => return documents.next(number, &mut self.context),
                State::Yaml(documents) => return documents.next(number, &mut self.context),
                State::Done => return Ok(None),
            }
        }
    }
}

impl Iterator for Recording {
    type Item = Result<Document, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(Some(document)) => {
                self.documents += 1;
                Some(Ok(document))
            }
            Ok(None) => {
                self.state = State::Done;
                None
            }
            Err(located) => {
                self.state = State::Done;
                let position = located.place.position(self.documents + 1);
                let name = self.name.clone();
                Some(Err(RecordingError::new(
                    name,
                    Some(position),
                    located.fault,
                )))
            }
        }
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
