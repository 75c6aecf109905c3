//! A stream of YAML documents.
//!
//! The stream is cut at its document markers, which YAML allows at the beginning of a line only
//! and nowhere inside a document, so that each document has a parser and a budget of its own. The
//! parser reads a document as a stream of events, so that of a list no more is held than the
//! snapshots of its pods.

use std::io::{self, Read};

use serde::de::DeserializeSeed;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options};

use super::document::Document;
use super::error::{Fault, Located, Place};
use super::window::Window;
use crate::decode::slim::Context;
use crate::decode::slim::envelope::EnvelopeShape;
use crate::decode::slim::total::Total;

/// The documents that follow one another in a window.
pub(super) struct YamlDocuments<R> {
    window: Window<R>,
}

impl<R: Read> YamlDocuments<R> {
    pub(super) fn new(window: Window<R>) -> Self {
        Self { window }
    }

    /// The next document, which is the `number`th; `None` at the end of the input.
    pub(super) fn next(
        &mut self,
        number: u64,
        context: &mut Context,
    ) -> Result<Option<Document>, Located> {
        let content = self.skip_to_content();
        if !content.map_err(|fault| self.window.locate(fault))? {
            return Ok(None);
        }
        let began = self.window.place();
        let mut text = DocumentText {
            window: &mut self.window,
            given: 0,
            ended: false,
            fault: None,
        };
        let envelope = serde_saphyr::with_deserializer_from_reader_with_options(
            &mut text,
            options(),
            |deserializer| {
                let envelope = Total(EnvelopeShape(context)).deserialize(deserializer)?;
                let at = began.position(number);
                Ok(Document::new(at, envelope, None, context))
            },
        );
        if let Some(fault) = text.fault.take() {
            return Err(self.window.locate(fault));
        }
        match envelope {
            Ok(Ok(document)) => Ok(Some(document)),
            Ok(Err(fault)) => Err(Located {
                place: began,
                fault,
            }),
            Err(error) => Err(locate(began, &error)),
        }
    }

    /// Passes blank lines, comments, directives and document markers. `false` at the end of the
    /// input; otherwise the piece is the first line of a document.
    fn skip_to_content(&mut self) -> Result<bool, Fault> {
        loop {
            // A document that ended left the marker behind it as the piece.
            let line = self.window.piece();
            let line = match marker(line) {
                Some(rest) => rest,
                None => line,
            };
            let text = line.trim_ascii();
            if !matches!(text.first(), None | Some(b'#' | b'%')) {
                return Ok(true);
            }
            self.window.begin_piece();
            if !self.window.pass_line()? {
                return Ok(false);
            }
        }
    }
}

/// What follows on a line that begins with a document marker (`---`, or `...`).
fn marker(line: &[u8]) -> Option<&[u8]> {
    let rest = line
        .strip_prefix(b"---")
        .or_else(|| line.strip_prefix(b"..."))?;
    matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')).then_some(rest)
}

/// The text of one document, line by line. It ends before the marker of the next one.
struct DocumentText<'w, R> {
    window: &'w mut Window<R>,
    /// How much of the piece, which is a line, was given out
    given: usize,
    ended: bool,
    /// Why the text could not be read
    fault: Option<Fault>,
}

impl<R: Read> DocumentText<'_, R> {
    /// Takes the next line for the piece, unless the document ends with it.
    fn next_line(&mut self) -> Result<(), Fault> {
        self.window.begin_piece();
        self.given = 0;
        self.ended = !self.window.pass_line()? || marker(self.window.piece()).is_some();
        Ok(())
    }
}

impl<R: Read> Read for DocumentText<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line_is_given = self.given == self.window.piece().len();
        if !self.ended
            && line_is_given
            && let Err(fault) = self.next_line()
        {
            self.ended = true;
            self.fault = Some(fault);
            return Err(io::Error::other("see the fault"));
        }
        if self.ended {
            return Ok(0);
        }
        let line = &self.window.piece()[self.given..];
        let count = line.len().min(buffer.len());
        buffer[..count].copy_from_slice(&line[..count]);
        self.given += count;
        Ok(count)
    }
}

/// The parser's limits guard against small inputs that grow; a recording may be as long as it
/// likes, since nothing but snapshots is kept of it.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_reader_input_bytes: None,
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        with_snippet: false,
    }
}

/// What a parser's error says, at the place in the recording that it means. The parser counts
/// lines from the document's first one.
fn locate(began: Place, error: &serde_saphyr::Error) -> Located {
    let mut place = began;
    let mut why = error.without_snippet().to_string();
    if let Some(location) = error.location() {
        let (line, column) = (location.line(), location.column());
        place.line += line.saturating_sub(1);
        place.column = column;
        // The place is said already, and counted from where the recording begins.
        if let Some(text) = why.strip_suffix(&format!(" at line {line}, column {column}")) {
            why.truncate(text.len());
        }
    }
    let format = "YAML";
    Located {
        place,
        fault: Fault::Syntax { format, why },
    }
}
