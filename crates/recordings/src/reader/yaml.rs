//! A stream of YAML documents.
//!
//! The stream is split at its document markers, which YAML allows only at the beginning of a line and
//! not inside a document, so that each document has its own parser and budget. The parser reads a
//! document as a stream of events, so that a list takes no more memory than the snapshots of its pods.

use std::io::{self, Read};

use serde::de::DeserializeSeed;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options};

use super::document::RecordingDocument;
use super::error::{LocatedFault, RecordingFault};
use super::lookahead::LookaheadBuffer;
use super::position::TextPosition;
use podinit_decode::pod::DecodeContext;
use podinit_decode::pod::envelope::EnvelopeReader;
use podinit_decode::pod::lenient::LenientSeed;

/// The documents of a recording in YAML.
pub(super) struct YamlDocuments<R> {
    buffer: LookaheadBuffer<R>,
}

impl<R: Read> YamlDocuments<R> {
    pub(super) fn new(buffer: LookaheadBuffer<R>) -> Self {
        Self { buffer }
    }

    /// The next document, which is the `number`th; `None` at the end of the input.
    pub(super) fn next(
        &mut self,
        number: u64,
        context: &mut DecodeContext,
    ) -> Result<Option<RecordingDocument>, LocatedFault> {
        let content = self.skip_to_content();
        if !content.map_err(|fault| self.buffer.locate(fault))? {
            return Ok(None);
        }
        let began = self.buffer.position();
        let mut text =
            DocumentText { buffer: &mut self.buffer, given: 0, ended: false, fault: None };
        let envelope = serde_saphyr::with_deserializer_from_reader_with_options(
            &mut text,
            options(),
            |deserializer| {
                let envelope = LenientSeed(EnvelopeReader(context)).deserialize(deserializer)?;
                let at = began.in_document(number);
                Ok(RecordingDocument::new(at, envelope, None, context))
            },
        );
        if let Some(fault) = text.fault.take() {
            return Err(self.buffer.locate(fault));
        }
        match envelope {
            Ok(Ok(document)) => Ok(Some(document)),
            Ok(Err(fault)) => Err(LocatedFault { position: began, fault }),
            Err(error) => Err(locate(began, &error)),
        }
    }

    /// Passes blank lines, comments, directives and document markers. `false` at the end of the
    /// input; otherwise the piece is the first line of a document.
    fn skip_to_content(&mut self) -> Result<bool, RecordingFault> {
        loop {
            // After a document, the piece is the marker that ended it.
            let line = self.buffer.piece();
            let line = match marker(line) {
                Some(rest) => rest,
                None => line,
            };
            let text = line.trim_ascii();
            if !matches!(text.first(), None | Some(b'#' | b'%')) {
                return Ok(true);
            }
            self.buffer.begin_piece();
            if !self.buffer.pass_line()? {
                return Ok(false);
            }
        }
    }
}

/// The rest of a line that begins with a document marker (`---` or `...`).
fn marker(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"---").or_else(|| line.strip_prefix(b"..."))?;
    matches!(rest.first(), None | Some(b' ' | b'\t' | b'\r' | b'\n')).then_some(rest)
}

/// The text of one document, read line by line. It ends before the next document marker.
struct DocumentText<'w, R> {
    buffer: &'w mut LookaheadBuffer<R>,
    /// How much of the piece, which is one line, was read
    given: usize,
    ended: bool,
    /// Why the text could not be read
    fault: Option<RecordingFault>,
}

impl<R: Read> DocumentText<'_, R> {
    /// Makes the next line the piece, unless it ends the document.
    fn next_line(&mut self) -> Result<(), RecordingFault> {
        self.buffer.begin_piece();
        self.given = 0;
        self.ended = !self.buffer.pass_line()? || marker(self.buffer.piece()).is_some();
        Ok(())
    }
}

impl<R: Read> Read for DocumentText<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let line_is_given = self.given == self.buffer.piece().len();
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
        let line = &self.buffer.piece()[self.given..];
        let count = line.len().min(buffer.len());
        buffer[..count].copy_from_slice(&line[..count]);
        self.given += count;
        Ok(count)
    }
}

/// Keeps the parser's limits on small inputs that expand, and lifts those on the length of the input:
/// a recording may be long, because only snapshots are kept in memory.
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

/// The parser's error, at its position in the recording. The parser counts lines from the beginning of
/// the document.
fn locate(began: TextPosition, error: &serde_saphyr::Error) -> LocatedFault {
    let mut position = began;
    let mut why = error.without_snippet().to_string();
    if let Some(location) = error.location() {
        let (line, column) = (location.line(), location.column());
        position.line += line.saturating_sub(1);
        position.column = column;
        // The error states the position already, counted from the beginning of the recording.
        if let Some(text) = why.strip_suffix(&format!(" at line {line}, column {column}")) {
            why.truncate(text.len());
        }
    }
    let format = "YAML";
    LocatedFault { position, fault: RecordingFault::Syntax { format, why } }
}
