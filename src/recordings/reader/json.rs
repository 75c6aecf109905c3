//! Concatenated JSON documents, cut into pieces that fit the window.
//!
//! A list may be larger than memory, so a document is not decoded as a whole: its top level is
//! walked, each element of a top-level `items` array is decoded by itself, and what remains, the
//! document with an empty `items`, is decoded in the end.

use std::io::Read;

use serde::de::DeserializeSeed;

use super::document::Document;
use super::error::{Fault, Located, Place};
use super::scan::{Stop, syntax};
use super::window::Window;
use crate::decode::slim::Context;
use crate::decode::slim::envelope::EnvelopeShape;
use crate::decode::slim::object::ObjectShape;
use crate::decode::slim::total::{Shape, Total};
use crate::decode::{DecodeError, ObjectFault};
use crate::pod::PodSnapshot;

/// The documents that follow one another in a window.
pub(super) struct JsonDocuments<R> {
    window: Window<R>,
    /// The document without its items, as far as it was walked when they began
    shell: Vec<u8>,
    /// Where in the recording parts of the shell come from: offset and place
    marks: Vec<(usize, Place)>,
}

impl<R: Read> JsonDocuments<R> {
    pub(super) fn new(window: Window<R>) -> Self {
        Self {
            window,
            shell: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The next document, which is the `number`th; `None` at the end of the input.
    pub(super) fn next(
        &mut self,
        number: u64,
        context: &mut Context,
    ) -> Result<Option<Document>, Located> {
        let first = self
            .window
            .skip_blank()
            .map_err(|fault| self.window.locate(fault))?;
        self.window.begin_piece();
        let began = self.window.place();
        match first {
            None => return Ok(None),
            Some(b'{') => {}
            Some(b'[') => return Err(self.window.locate(Fault::Array)),
            Some(_) => return Err(self.window.locate(syntax("a document begins with `{`"))),
        }
        self.shell.clear();
        self.marks.clear();
        let mut items = None;
        self.walk(&mut items, context).map_err(|stop| match stop {
            Stop::Fault(fault) => self.window.locate(fault),
            Stop::Located(located) => located,
            Stop::End => self.window.locate(Fault::Truncated { began: began.line }),
        })?;
        self.keep_shell_if_any();
        let bytes = match self.marks.is_empty() {
            true => self.window.piece(),
            false => &self.shell,
        };
        let envelope = decode(bytes, EnvelopeShape(context)).map_err(|error| {
            let (offset, fault) = fault_of(bytes, error);
            let mark = self.marks.iter().rev().find(|mark| mark.0 <= offset);
            let (from, place) = *mark.unwrap_or(&(0, began));
            Located {
                place: place.after(&bytes[from..offset]),
                fault,
            }
        })?;
        Document::new(began.position(number), envelope, items, context)
            .map(Some)
            .map_err(|fault| Located {
                place: began,
                fault,
            })
    }

    /// Walks the top level of a document, to behind its closing brace.
    fn walk(
        &mut self,
        items: &mut Option<Vec<PodSnapshot>>,
        context: &mut Context,
    ) -> Result<(), Stop> {
        self.window.pass(1);
        if self.window.token()? == b'}' {
            self.window.pass(1);
            return Ok(());
        }
        loop {
            self.window.expect(b'"', "a key in quotes")?;
            let is_items = self.window.pass_key()?;
            self.window.expect(b':', "`:` after a key")?;
            self.window.pass(1);
            // A key that stands twice must not let the shell outgrow the window.
            if self.window.token()? == b'[' && is_items && items.is_none() {
                self.walk_items(items.insert(Vec::new()), context)?;
            } else {
                self.window.pass_value()?;
            }
            match self.window.token()? {
                b',' => self.window.pass(1),
                b'}' => {
                    self.window.pass(1);
                    return Ok(());
                }
                _ => return Err(syntax("expected `,` or `}`").into()),
            }
        }
    }

    /// Decodes the elements of an `items` array one by one.
    fn walk_items(
        &mut self,
        items: &mut Vec<PodSnapshot>,
        context: &mut Context,
    ) -> Result<(), Stop> {
        self.window.pass(1);
        self.keep_shell();
        if self.window.token()? == b']' {
            self.window.begin_piece();
            self.window.pass(1);
            return Ok(());
        }
        loop {
            self.window.token()?;
            self.window.begin_piece();
            self.window.pass_value()?;
            items.push(self.item(items.len(), context)?);
            self.window.begin_piece();
            match self.window.token()? {
                b',' => self.window.pass(1),
                b']' => {
                    self.window.begin_piece();
                    self.window.pass(1);
                    return Ok(());
                }
                _ => return Err(syntax("expected `,` or `]`").into()),
            }
        }
    }

    /// The pod that the piece is.
    fn item(&self, index: usize, context: &mut Context) -> Result<PodSnapshot, Stop> {
        let piece = self.window.piece();
        let place = self.window.place();
        let pod = match decode(piece, ObjectShape(context)) {
            Ok(object) => object
                .ok_or(ObjectFault::NotAnObject)
                .and_then(|object| object.into_pod(context)),
            Err(error) => {
                let (offset, fault) = fault_of(piece, error);
                let place = place.after(&piece[..offset]);
                return Err(Stop::Located(Located { place, fault }));
            }
        };
        pod.map_err(|fault| {
            let number = index + 1;
            Stop::Located(Located {
                place,
                fault: Fault::Item { number, fault },
            })
        })
    }

    /// Moves the piece to the shell.
    fn keep_shell(&mut self) {
        self.marks.push((self.shell.len(), self.window.place()));
        self.shell.extend_from_slice(self.window.piece());
        self.window.begin_piece();
    }

    /// Moves the rest of a document to the shell that its items left.
    fn keep_shell_if_any(&mut self) {
        if !self.marks.is_empty() {
            self.keep_shell();
        }
    }
}

/// Decodes the one value that `json` is.
fn decode<'de, S: Shape<'de>>(json: &'de [u8], shape: S) -> Result<S::Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = Total(shape).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Where in `json` an error lies, and what it is.
fn fault_of(json: &[u8], error: serde_json::Error) -> (usize, Fault) {
    let (line, column) = (error.line(), error.column());
    let line_start = json
        .split_inclusive(|byte| *byte == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .sum::<usize>();
    let offset = (line_start + column.saturating_sub(1)).min(json.len());
    let why = match DecodeError::from(error) {
        DecodeError::Json { why, .. } => why,
        DecodeError::Object { fault, .. } => fault.to_string(),
    };
    (offset, syntax(&why))
}
