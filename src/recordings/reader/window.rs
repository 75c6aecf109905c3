//! The part of a recording that is being looked at: a buffer that grows to a limit and no
//! further, and knows where in the recording it stands.

use std::io::{self, Read};

use super::error::{Fault, Located, Place};

const INITIAL_CAPACITY: usize = 256 << 10;
/// As much as is looked at to tell text from binary data.
const SAMPLE: usize = 4 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A buffer over `input`. The piece is what was passed since [`Window::begin_piece`]; it is kept
/// together until the next one begins.
pub(super) struct Window<R> {
    input: R,
    bytes: Vec<u8>,
    /// Where the piece begins in `bytes`; `start <= pos <= end`
    start: usize,
    /// The next byte to look at
    pos: usize,
    /// The end of what was read
    end: usize,
    /// Where in the recording `start` lies
    place: Place,
    limit: usize,
}

impl<R: Read> Window<R> {
    /// A window whose pieces are at most `limit` bytes long.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input,
            bytes: vec![0; INITIAL_CAPACITY.min(limit + 1)],
            start: 0,
            pos: 0,
            end: 0,
            place: Place::START,
            limit,
        }
    }

    /// Whether the recording is JSON, told by its first byte that is not blank. An empty one is.
    /// What is neither JSON nor text is refused.
    pub(super) fn is_json(&mut self) -> Result<bool, Fault> {
        while self.end - self.pos < BYTE_ORDER_MARK.len() && self.fill()? {}
        if self.ahead().starts_with(BYTE_ORDER_MARK) {
            self.pos += BYTE_ORDER_MARK.len();
            self.begin_piece();
            // Editors count no column for it.
            self.place.column = 1;
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
                    return match is_text(&sample[..sample.len().min(SAMPLE)]) {
                        true => Ok(false),
                        false => Err(Fault::Binary),
                    };
                }
            }
        }
        Ok(true)
    }

    /// Begins a new piece at the next byte.
    pub(super) fn begin_piece(&mut self) {
        self.place = self.here();
        self.start = self.pos;
    }

    /// What was passed since the piece began.
    pub(super) fn piece(&self) -> &[u8] {
        &self.bytes[self.start..self.pos]
    }

    /// Where the piece begins.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Where the next byte lies.
    pub(super) fn here(&self) -> Place {
        self.place.after(self.piece())
    }

    /// A fault at the next byte.
    pub(super) fn locate(&self, fault: Fault) -> Located {
        // The limit is met far from where the object begins, which is what there is to find.
        let place = match fault {
            Fault::TooLong { .. } => self.place(),
            _ => self.here(),
        };
        Located { place, fault }
    }

    /// What was read and not yet passed.
    pub(super) fn ahead(&self) -> &[u8] {
        &self.bytes[self.pos..self.end]
    }

    /// Passes `count` bytes of [`Window::ahead`].
    pub(super) fn pass(&mut self, count: usize) {
        self.pos = (self.pos + count).min(self.end);
    }

    /// The next byte, which is not passed; `None` at the end of the input.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if self.pos == self.end && !self.fill()? {
            return Ok(None);
        }
        Ok(self.ahead().first().copied())
    }

    /// Passes the rest of the line, its newline included. `false` where nothing was left.
    pub(super) fn pass_line(&mut self) -> Result<bool, Fault> {
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
    pub(super) fn fill(&mut self) -> Result<bool, Fault> {
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
                Err(error) => return Err(Fault::Read(error)),
            }
        }
    }

    /// Drops what lies before the piece, or grows where the piece is most of the buffer.
    fn make_room(&mut self) -> Result<(), Fault> {
        let held = self.end - self.start;
        if held > self.limit {
            return Err(Fault::TooLong { limit: self.limit });
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

/// Whether `sample`, the beginning of something, can be text: UTF-8 (perhaps cut within its last
/// character) without the control characters that YAML forbids.
fn is_text(sample: &[u8]) -> bool {
    let valid = match std::str::from_utf8(sample) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    let control = |byte: &u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127);
    valid && !sample.iter().any(control)
}
