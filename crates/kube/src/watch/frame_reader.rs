//! Splits the body of a watch in protobuf, which arrives in chunks of any size, into frames of bounded
//! length. Each has its length before it, as four bytes, the highest first.

use super::line_reader::{FramedEvent, HEAD, KEEP};

/// The length before a frame, in bytes.
const PREFIX: usize = 4;

/// Reads the frames of one body. Holds at most one incomplete frame of at most the limit; a longer one is
/// skipped in constant memory.
#[derive(Debug)]
pub struct FrameReader {
    /// What has arrived of the length, of a frame that spans chunks, or of the head of one that is too long
    pending: Vec<u8>,
    state: FrameState,
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameState {
    /// The length comes
    Length,
    /// A frame comes, of so many bytes
    Frame(usize),
    /// A frame that is too long comes, of which so many bytes are left
    Skipping(usize),
    /// `pending` was given out and is to be forgotten
    Done,
}

impl FrameReader {
    /// A framing that accepts frames of up to `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self { pending: Vec::new(), state: FrameState::Length, limit }
    }

    /// Takes the next frame out of what is pending and `chunk`, which is moved past it. `None` when the
    /// chunk is used up. Empty frames are passed over.
    ///
    /// Only a frame that spans chunks is put together in `self`; most frames are never copied.
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Option<FramedEvent<'a>> {
        if self.state == FrameState::Done {
            self.forget();
        }
        while !chunk.is_empty() {
            match self.state {
                FrameState::Length | FrameState::Done => {
                    if let Some(length) = self.length(chunk) {
                        self.pending.clear();
                        self.state = match length {
                            0 => FrameState::Length,
                            _ if length <= self.limit => FrameState::Frame(length),
                            _ => FrameState::Skipping(length),
                        };
                    }
                }
                FrameState::Frame(length) if self.pending.is_empty() && chunk.len() >= length => {
                    self.state = FrameState::Length;
                    return Some(FramedEvent::Whole(take(chunk, length)));
                }
                FrameState::Frame(length) => {
                    let missing = length - self.pending.len();
                    self.pending.extend_from_slice(take(chunk, missing));
                    if self.pending.len() == length {
                        self.state = FrameState::Done;
                        return Some(FramedEvent::Whole(&self.pending));
                    }
                }
                FrameState::Skipping(left) => {
                    let part = take(chunk, left);
                    let room = HEAD.saturating_sub(self.pending.len()).min(part.len());
                    self.pending.extend_from_slice(&part[..room]);
                    if part.len() == left {
                        self.state = FrameState::Done;
                        return Some(FramedEvent::TooLong(&self.pending));
                    }
                    self.state = FrameState::Skipping(left - part.len());
                }
            }
        }
        None
    }

    /// The length before a frame, when all of it has arrived.
    fn length(&mut self, chunk: &mut &[u8]) -> Option<usize> {
        let missing = PREFIX - self.pending.len();
        self.pending.extend_from_slice(take(chunk, missing));
        let length = u32::from_be_bytes(self.pending.as_slice().try_into().ok()?);
        Some(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn forget(&mut self) {
        self.pending.clear();
        self.pending.shrink_to(KEEP);
        self.state = FrameState::Length;
    }
}

/// Takes at most `count` bytes from the beginning of `chunk`.
fn take<'c>(chunk: &mut &'c [u8], count: usize) -> &'c [u8] {
    let (part, rest) = chunk.split_at(count.min(chunk.len()));
    *chunk = rest;
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frames of a body that arrives in `chunks`; one that is too long is shown by its head in angle
    /// brackets.
    fn framed(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut frames = FrameReader::new(limit);
        let mut found = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while let Some(frame) = frames.next(&mut rest) {
                found.push(match frame {
                    FramedEvent::Whole(frame) => String::from_utf8_lossy(frame).into_owned(),
                    FramedEvent::TooLong(head) => format!("<{}>", String::from_utf8_lossy(head)),
                });
            }
        }
        found
    }

    fn frame(text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap_or_default();
        [&length.to_be_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn every_way_of_cutting_a_body_gives_the_same_frames() {
        let texts = ["one", "", "12345678", "123456789", "three", ""];
        let body = [texts.map(frame).concat(), b"\0\0\0\x09cut off".to_vec()].concat();
        let whole = framed(8, &[&body]);
        assert_eq!(whole, ["one", "12345678", "<123456789>", "three"]);
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let chunks = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(framed(8, &chunks), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_frame_that_is_too_long_takes_constant_memory() {
        let mut frames = FrameReader::new(1 << 20);
        let length = 200_u32 << 19;
        assert_eq!(frames.next(&mut &length.to_be_bytes()[..]), None);
        let chunk = vec![b'x'; 1 << 19];
        for _ in 1..200 {
            assert_eq!(frames.next(&mut &chunk[..]), None);
            assert!(frames.pending.capacity() <= 2 * HEAD);
        }
        let last = [chunk, frame("next")].concat();
        let mut rest = &last[..];
        assert_eq!(frames.next(&mut rest), Some(FramedEvent::TooLong(&[b'x'; HEAD])));
        assert_eq!(frames.next(&mut rest), Some(FramedEvent::Whole(b"next")));
    }

    #[test]
    fn the_space_of_a_long_frame_is_given_back() {
        let mut frames = FrameReader::new(8 << 20);
        let long = frame(&"x".repeat(4 << 20));
        let (most, last) = long.split_at(long.len() - 1);
        assert_eq!(frames.next(&mut &*most), None);
        assert!(frames.next(&mut &*last).is_some());
        assert_eq!(frames.next(&mut &b"\0"[..]), None);
        assert!(frames.pending.capacity() <= KEEP);
    }
}
