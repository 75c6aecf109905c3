//! A buffer over the part of a recording that is being parsed. It grows up to a limit and knows its
//! position in the recording.

use std::io::{self, Read};

use super::error::{LocatedFault, RecordingFault};
use super::misfit::NonRecording;
use super::position::TextPosition;

const INITIAL_CAPACITY: usize = 256 << 10;
/// How many bytes are checked to tell text from binary data.
const SAMPLE: usize = 4 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A buffer over `input`. The *piece* is what was passed since [`LookaheadBuffer::begin_piece`]; it stays
/// in the buffer until the next piece begins.
pub(super) struct LookaheadBuffer<R> {
    input: R,
    bytes: Vec<u8>,
    /// Where the piece begins in `bytes`; `start <= pos <= end`
    start: usize,
    /// The next byte
    pos: usize,
    /// The end of what was read
    end: usize,
    /// The position of `start` in the recording
    position: TextPosition,
    limit: usize,
}

impl<R: Read> LookaheadBuffer<R> {
    /// A buffer whose pieces are at most `limit` bytes long.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            bytes: vec![0; INITIAL_CAPACITY.min(limit + 1)],
            start: 0,
            pos: 0,
            end: 0,
            position: TextPosition::START,
            limit,
        }
    }

    /// Whether the recording is JSON, judged by its first byte that is not whitespace; an empty recording
    /// is. Fails if it is neither JSON nor text.
    pub(super) fn is_json(&mut self) -> Result<bool, RecordingFault> {
        if self.begins_with(BYTE_ORDER_MARK)? {
            self.pos += BYTE_ORDER_MARK.len();
            self.begin_piece();
            // Editors do not count it as a column.
            self.position.column = 1;
        }
        while let Some(byte) = self.peek()? {
            match byte {
                b'\n' => {
                    self.pos += 1;
                    self.begin_piece();
                }
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'{' | b'[' => return Ok(true),
                _ => {
                    // YAML needs the indentation of its first line.
                    self.pos = self.start;
                    while self.end - self.pos < SAMPLE && self.fill()? {}
                    let sample = self.ahead();
                    let sample = &sample[..sample.len().min(SAMPLE)];
                    return match (is_text(sample), NonRecording::of_text(sample)) {
                        (false, _) => Err(RecordingFault::Binary),
                        (true, Some(misfit)) => Err(RecordingFault::Misfit(misfit)),
                        (true, None) => Ok(false),
                    };
                }
            }
        }
        Ok(true)
    }

    /// Begins a new piece at the next byte.
    pub(super) fn begin_piece(&mut self) {
        self.position = self.here();
        self.start = self.pos;
    }

    /// What was passed since the piece began.
    pub(super) fn piece(&self) -> &[u8] {
        &self.bytes[self.start..self.pos]
    }

    /// The position of the piece.
    pub(super) fn position(&self) -> TextPosition {
        self.position
    }

    /// The position of the next byte.
    pub(super) fn here(&self) -> TextPosition {
        self.position.after(self.piece())
    }

    /// A fault at the next byte.
    pub(super) fn locate(&self, fault: RecordingFault) -> LocatedFault {
        // The limit is reached far from where the object begins; users look for its beginning.
        let position = match fault {
            RecordingFault::TooLong { .. } => self.position(),
            _ => self.here(),
        };
        LocatedFault { position, fault }
    }

    /// The bytes that were read and not yet passed.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.bytes[self.pos..self.end]
    }

    /// Passes `count` bytes of [`LookaheadBuffer::ahead`].
    pub(super) fn pass(&mut self, count: usize) {
        self.pos = (self.pos + count).min(self.end);
    }

    /// The next byte, without passing it; `None` at the end of the input.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, RecordingFault> {
        if self.pos == self.end && !self.fill()? {
            return Ok(None);
        }
        Ok(self.ahead().first().copied())
    }

    /// Whether `text` comes next.
    pub(super) fn begins_with(&mut self, text: &[u8]) -> Result<bool, RecordingFault> {
        while self.ahead().len() < text.len() && self.fill()? {}
        Ok(self.ahead().starts_with(text))
    }

    /// Passes the rest of the line and its newline. `false` if nothing was left.
    pub(super) fn pass_line(&mut self) -> Result<bool, RecordingFault> {
        let mut any = false;
        loop {
            let ahead = self.ahead();
            any |= !ahead.is_empty();
            match ahead.iter().position(|byte| *byte == b'\n') {
                Some(newline) => {
                    self.pos += newline + 1;
                    return Ok(true);
                }
                None => self.pos = self.end,
            }
            if !self.fill()? {
                return Ok(any);
            }
        }
    }

    /// Reads more; `false` at the end of the input.
    pub(super) fn fill(&mut self) -> Result<bool, RecordingFault> {
        if self.end == self.bytes.len() {
            self.make_room()?;
        }
        loop {
            match self.input.read(&mut self.bytes[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(RecordingFault::Read(error)),
            }
        }
    }

    /// Discards what lies before the piece; grows the buffer if the piece fills most of it.
    fn make_room(&mut self) -> Result<(), RecordingFault> {
        let held = self.end - self.start;
        if held > self.limit {
            return Err(RecordingFault::TooLong { limit: self.limit });
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.pos -= self.start;
        self.start = 0;
        self.end = held;
        if held > self.bytes.len() / 2 {
            let doubled = self.bytes.len() * 2;
            self.bytes.resize(doubled.min(self.limit + 1), 0);
        }
        Ok(())
    }
}

/// Whether `sample` is the beginning of a text: UTF-8 (perhaps cut within its last character) without the
/// control characters that YAML forbids.
fn is_text(sample: &[u8]) -> bool {
    let valid = match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let control = |byte: &u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    valid && !sample.iter().any(control)
}
