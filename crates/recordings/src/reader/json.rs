//! Concatenated JSON documents, decoded in pieces that fit the lookahead buffer.
//!
//! A list may be larger than memory, so a document is not decoded as a whole: the parser walks its top
//! level, decodes each element of a top-level `items` array by itself, and at the end decodes the rest,
//! the document with an empty `items`.

use std::io::Read;

use serde::de::DeserializeSeed;

use super::document::{LISTS, RecordingDocument, StreamedItems};
use super::error::{LocatedFault, RecordingFault};
use super::json_tokens::{JsonKey, ScanError, syntax};
use super::lookahead::LookaheadBuffer;
use super::misfit::NonRecording;
use super::position::TextPosition;
use podinit_decode::DecodeError;
use podinit_decode::pod::DecodeContext;
use podinit_decode::pod::envelope::{EnvelopeReader, ListItem};
use podinit_decode::pod::lenient::{LenientField, LenientSeed};
use podinit_decode::pod::object::ObjectReader;

/// What stands before and behind the log of a container: `==== START logs for container app of pod shop/web-0 ====`
const LOG_BEGINS: &[u8] = b"==== START logs for container ";
const LOG_ENDS: &[u8] = b"==== END logs for container ";

/// The documents of a recording in JSON.
pub(super) struct JsonDocuments<R> {
    buffer: LookaheadBuffer<R>,
    /// The document without its items, as far as it was walked
    shell: Vec<u8>,
    /// Which offsets of the shell come from which positions of the recording
    marks: Vec<(usize, TextPosition)>,
}

impl<R: Read> JsonDocuments<R> {
    pub(super) fn new(buffer: LookaheadBuffer<R>) -> Self {
        Self { buffer, shell: Vec::new(), marks: Vec::new() }
    }

    /// The next document, which is the `number`th; `None` at the end of the input.
    pub(super) fn next(
        &mut self,
        number: u64,
        context: &mut DecodeContext,
    ) -> Result<Option<RecordingDocument>, LocatedFault> {
        let first = self.skip_logs().map_err(|fault| self.buffer.locate(fault))?;
        let began = self.buffer.position();
        match first {
            None => return Ok(None),
            Some(b'{') => {}
            Some(b'[') => return Err(self.buffer.locate(RecordingFault::Array)),
            Some(_) => return Err(self.buffer.locate(syntax("a document must begin with `{`"))),
        }
        self.shell.clear();
        self.marks.clear();
        let mut items = None;
        self.walk(&mut items, context).map_err(|stop| match stop {
            ScanError::Fault(fault) => self.buffer.locate(fault),
            ScanError::LocatedFault(located) => located,
            ScanError::End => self.buffer.locate(RecordingFault::Truncated { began: began.line }),
        })?;
        self.keep_shell_if_any();
        let bytes = match self.marks.is_empty() {
            true => self.buffer.piece(),
            false => &self.shell,
        };
        let envelope = decode(bytes, EnvelopeReader(context)).map_err(|error| {
            let (offset, fault) = fault_of(bytes, error);
            let mark = self.marks.iter().rev().find(|mark| mark.0 <= offset);
            let (from, position) = *mark.unwrap_or(&(0, began));
            LocatedFault { position: position.after(&bytes[from..offset]), fault }
        })?;
        RecordingDocument::new(began.in_document(number), envelope, items, context)
            .map(Some)
            .map_err(|fault| LocatedFault { position: began, fault })
    }

    /// Passes whitespace, and the logs of containers that `kubectl cluster-info dump` writes between documents. Returns
    /// the byte with which the next piece begins.
    fn skip_logs(&mut self) -> Result<Option<u8>, RecordingFault> {
        loop {
            let first = self.buffer.skip_blank()?;
            self.buffer.begin_piece();
            if first != Some(b'=') || !self.buffer.begins_with(LOG_BEGINS)? {
                return Ok(first);
            }
            let began = self.buffer.position().line;
            self.buffer.pass_line()?;
            let container = &self.buffer.piece()[LOG_BEGINS.len()..];
            let end = [LOG_ENDS, container.trim_ascii_end()].concat();
            // The last line of a log may lack its newline.
            while !self.buffer.piece().trim_ascii_end().ends_with(&end) {
                self.buffer.begin_piece();
                if !self.buffer.pass_line()? {
                    return Err(RecordingFault::Truncated { began });
                }
            }
        }
    }

    /// Walks the top level of a document, past its closing brace.
    fn walk(
        &mut self,
        items: &mut Option<StreamedItems>,
        context: &mut DecodeContext,
    ) -> Result<(), ScanError> {
        self.buffer.pass(1);
        if self.buffer.token()? == b'}' {
            self.buffer.pass(1);
            return Ok(());
        }
        if self.buffer.token()? == b'\'' {
            return Err(RecordingFault::Misfit(NonRecording::PythonText).into());
        }
        let (mut is_of_others, mut is_of_pods) = (false, false);
        loop {
            self.buffer.expect(b'"', "a key in quotes")?;
            let key = self.buffer.pass_key()?;
            self.buffer.expect(b':', "`:` after a key")?;
            self.buffer.pass(1);
            // A duplicate key must not let the shell outgrow the buffer.
            if self.buffer.token()? == b'[' && key == JsonKey::Items && items.is_none() {
                let context = (!is_of_others).then_some(&mut *context);
                self.walk_items(items.insert(StreamedItems::default()), is_of_pods, context)?;
            } else {
                let before = self.buffer.piece().len();
                self.buffer.pass_value()?;
                if key == JsonKey::Kind {
                    let kind = self.buffer.piece()[before..].trim_ascii();
                    is_of_others |= is_list_of_others(kind);
                    is_of_pods |= kind == br#""PodList""#;
                }
            }
            match self.buffer.token()? {
                b',' => self.buffer.pass(1),
                b'}' => {
                    self.buffer.pass(1);
                    return Ok(());
                }
                _ => return Err(syntax("expected `,` or `}`").into()),
            }
        }
    }

    /// Decodes the elements of an `items` array one by one, which are pods if the list says so; without `context`, it
    /// passes them.
    fn walk_items(
        &mut self,
        items: &mut StreamedItems,
        is_of_pods: bool,
        mut context: Option<&mut DecodeContext>,
    ) -> Result<(), ScanError> {
        self.buffer.pass(1);
        self.keep_shell();
        if self.buffer.token()? == b']' {
            self.buffer.begin_piece();
            self.buffer.pass(1);
            return Ok(());
        }
        let mut index = 0;
        loop {
            self.buffer.token()?;
            self.buffer.begin_piece();
            self.buffer.pass_value()?;
            if let Some(context) = &mut context {
                items.push(index, self.item(index, context)?, is_of_pods);
            }
            index += 1;
            self.buffer.begin_piece();
            match self.buffer.token()? {
                b',' => self.buffer.pass(1),
                b']' => {
                    self.buffer.begin_piece();
                    self.buffer.pass(1);
                    return Ok(());
                }
                _ => return Err(syntax("expected `,` or `]`").into()),
            }
        }
    }

    /// Decodes the piece as an item of a list.
    fn item(&self, index: usize, context: &mut DecodeContext) -> Result<ListItem, ScanError> {
        let piece = self.buffer.piece();
        let position = self.buffer.position();
        let item = match decode(piece, ObjectReader(context)) {
            Ok(object) => ListItem::from_object(object, context),
            Err(error) => {
                let (offset, fault) = fault_of(piece, error);
                let position = position.after(&piece[..offset]);
                return Err(ScanError::LocatedFault(LocatedFault { position, fault }));
            }
        };
        item.map_err(|fault| {
            let number = index + 1;
            ScanError::LocatedFault(LocatedFault {
                position,
                fault: RecordingFault::Item { number, fault },
            })
        })
    }

    /// Moves the piece to the shell.
    fn keep_shell(&mut self) {
        self.marks.push((self.shell.len(), self.buffer.position()));
        self.shell.extend_from_slice(self.buffer.piece());
        self.buffer.begin_piece();
    }

    /// Moves the rest of the document to the shell, if its items were read ahead.
    fn keep_shell_if_any(&mut self) {
        if !self.marks.is_empty() {
            self.keep_shell();
        }
    }
}

/// Whether `kind`, a text in JSON, is that of lists of other objects, whose items need not be decoded.
fn is_list_of_others(kind: &[u8]) -> bool {
    let kind = kind.strip_prefix(b"\"").and_then(|kind| kind.strip_suffix(b"\""));
    kind.is_some_and(|kind| {
        kind.ends_with(b"List") && !LISTS.iter().any(|own| own.as_bytes() == kind)
    })
}

/// Decodes `json`, which must be a single value.
fn decode<'de, S: LenientField<'de>>(
    json: &'de [u8],
    shape: S,
) -> Result<S::Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = LenientSeed(shape).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The offset of an error in `json`, and the fault.
fn fault_of(json: &[u8], error: serde_json::Error) -> (usize, RecordingFault) {
    let (line, column) = (error.line(), error.column());
    let line_start = json
        .split_inclusive(|byte| *byte == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .sum::<usize>();
    let offset = (line_start + column.saturating_sub(1)).min(json.len());
    let why = match DecodeError::from(error) {
        DecodeError::Json { why, .. } | DecodeError::Protobuf(why) => why,
        DecodeError::Object { fault, .. } => fault.to_string(),
    };
    (offset, syntax(&why))
}
