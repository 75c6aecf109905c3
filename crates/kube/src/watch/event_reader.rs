//! Splits the body of a watch into events, in the encoding that its answer states.

use super::frame_reader::FrameReader;
use super::line_reader::{Framed, LineReader};
use podinit_decode::Encoding;

/// Reads the events of one body. Holds at most one incomplete event of at most the limit; a longer one is
/// skipped in constant memory.
#[derive(Debug)]
pub struct EventReader(Framing);

#[derive(Debug)]
enum Framing {
    Lines(LineReader),
    Frames(FrameReader),
}

impl EventReader {
    /// A reader that accepts events of up to `limit` bytes.
    pub const fn new(encoding: Encoding, limit: usize) -> Self {
        Self(match encoding {
            Encoding::Json => Framing::Lines(LineReader::new(limit)),
            Encoding::Protobuf => Framing::Frames(FrameReader::new(limit)),
        })
    }

    /// The encoding of the events.
    pub const fn encoding(&self) -> Encoding {
        match self.0 {
            Framing::Lines(_) => Encoding::Json,
            Framing::Frames(_) => Encoding::Protobuf,
        }
    }

    /// Takes the next event out of what is pending and `chunk`, which is moved past it. `None` when the
    /// chunk is used up.
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Option<Framed<'a>> {
        match &mut self.0 {
            Framing::Lines(lines) => lines.next(chunk),
            Framing::Frames(frames) => frames.next(chunk),
        }
    }
}
