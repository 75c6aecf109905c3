//! Splits the body of a watch into events, in the encoding that its answer states.

use super::frame_reader::FrameReader;
use super::line_reader::{FramedEvent, LineReader};
use podinit_decode::ObjectEncoding;

/// Reads the events of one body. Holds at most one incomplete event of at most the limit; a longer one is
/// skipped in constant memory.
#[derive(Debug)]
pub struct EventReader(EventFraming);

#[derive(Debug)]
enum EventFraming {
    Lines(LineReader),
    Frames(FrameReader),
}

impl EventReader {
    /// A reader that accepts events of up to `limit` bytes.
    pub const fn new(encoding: ObjectEncoding, limit: usize) -> Self {
        Self(match encoding {
            ObjectEncoding::Json => EventFraming::Lines(LineReader::new(limit)),
            ObjectEncoding::Protobuf => EventFraming::Frames(FrameReader::new(limit)),
        })
    }

    /// The encoding of the events.
    pub const fn encoding(&self) -> ObjectEncoding {
        match self.0 {
            EventFraming::Lines(_) => ObjectEncoding::Json,
            EventFraming::Frames(_) => ObjectEncoding::Protobuf,
        }
    }

    /// Takes the next event out of what is pending and `chunk`, which is moved past it. `None` when the
    /// chunk is used up.
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Option<FramedEvent<'a>> {
        match &mut self.0 {
            EventFraming::Lines(lines) => lines.next(chunk),
            EventFraming::Frames(frames) => frames.next(chunk),
        }
    }
}
