//! Skips over JSON tokens in a lookahead buffer. To cut a document into pieces it is enough to tell
//! strings from brackets; the decoder checks whether the text is valid JSON.

use std::io::Read;

use super::error::{LocatedFault, RecordingFault};
use super::lookahead::LookaheadBuffer;

/// A key of a document, as far as the document is cut at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKey {
    Items,
    Kind,
    Other,
}

/// Why scanning stops before the end of a document.
pub(super) enum ScanError {
    /// A fault at the current position
    Fault(RecordingFault),
    /// A fault at another position
    LocatedFault(LocatedFault),
    /// The input ends
    End,
}

impl From<RecordingFault> for ScanError {
    fn from(fault: RecordingFault) -> Self {
        Self::Fault(fault)
    }
}

/// A syntax error.
pub(super) fn syntax(why: &str) -> RecordingFault {
    RecordingFault::Syntax { format: "JSON", why: why.to_owned() }
}

impl<R: Read> LookaheadBuffer<R> {
    /// Passes whitespace and returns the byte after it, without passing that.
    pub(super) fn skip_blank(&mut self) -> Result<Option<u8>, RecordingFault> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.pass(1),
                byte => return Ok(byte),
            }
        }
    }

    /// The first byte of the next token, without passing it.
    pub(super) fn token(&mut self) -> Result<u8, ScanError> {
        self.skip_blank()?.ok_or(ScanError::End)
    }

    /// Fails unless the next token begins with `byte`.
    pub(super) fn expect(&mut self, byte: u8, what: &str) -> Result<(), ScanError> {
        match self.token()? == byte {
            true => Ok(()),
            false => Err(syntax(&format!("expected {what}")).into()),
        }
    }

    /// Passes a key.
    pub(super) fn pass_key(&mut self) -> Result<JsonKey, ScanError> {
        let before = self.piece().len();
        self.pass_string()?;
        Ok(match &self.piece()[before..] {
            b"\"items\"" => JsonKey::Items,
            b"\"kind\"" => JsonKey::Kind,
            _ => JsonKey::Other,
        })
    }

    /// Passes a value of any kind.
    pub(super) fn pass_value(&mut self) -> Result<(), ScanError> {
        match self.token()? {
            b'{' | b'[' => self.pass_nested(),
            b'"' => self.pass_string(),
            b',' | b':' | b'}' | b']' => Err(syntax("expected a value").into()),
            _ => self.pass_bare(),
        }
    }

    /// Passes an object or array.
    fn pass_nested(&mut self) -> Result<(), ScanError> {
        let mut depth = 0;
        loop {
            let (passed, has_ended) = nested(self.ahead(), &mut depth);
            self.pass(passed);
            if has_ended {
                return Ok(());
            }
            match self.ahead().is_empty() {
                // A string goes on behind what was read.
                false => self.pass_string()?,
                true if self.fill()? => {}
                true => return Err(ScanError::End),
            }
        }
    }

    /// Passes a string and its quotes.
    fn pass_string(&mut self) -> Result<(), ScanError> {
        self.pass(1);
        loop {
            self.pass_until(|byte| matches!(byte, b'"' | b'\\'))?;
            let escape = self.ahead().first() == Some(&b'\\');
            self.pass(1);
            if !escape {
                return Ok(());
            }
            self.peek()?.ok_or(ScanError::End)?;
            self.pass(1);
        }
    }

    /// Passes a number, or a word such as `true`.
    fn pass_bare(&mut self) -> Result<(), ScanError> {
        self.pass_until(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Passes everything up to a byte for which `stop` holds.
    fn pass_until(&mut self, stop: impl Fn(u8) -> bool) -> Result<(), ScanError> {
        loop {
            let ahead = self.ahead();
            match ahead.iter().position(|byte| stop(*byte)) {
                Some(found) => {
                    self.pass(found);
                    return Ok(());
                }
                None => {
                    let all = ahead.len();
                    self.pass(all);
                }
            }
            if !self.fill()? {
                return Err(ScanError::End);
            }
        }
    }
}

/// How much of `text`, which is inside of `depth` objects and arrays, can be passed at once, and whether the outermost
/// ends there.
fn nested(text: &[u8], depth: &mut usize) -> (usize, bool) {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => match string(&text[at..]) {
                Some(length) => {
                    at += length;
                    continue;
                }
                None => return (at, false),
            },
            b'{' | b'[' => *depth += 1,
            b'}' | b']' => *depth -= 1,
            _ => {}
        }
        at += 1;
        if *depth == 0 {
            return (at, true);
        }
    }
    (at, false)
}

/// The length of the string with which `text` begins, with its quotes; `None` if it does not end there.
fn string(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        match text.get(found)? {
            b'"' => return Some(found + 1),
            // What is escaped is no end.
            _ => at = found + 2,
        }
    }
}
