//! Splits the body of a watch in JSON, which arrives in chunks of any size, into lines of bounded length.

/// One event of the body, not decoded.
#[derive(Debug, PartialEq, Eq)]
pub enum FramedEvent<'a> {
    /// A whole event, without what separates it from others
    Whole(&'a [u8]),
    /// An event longer than the limit, which was skipped; this is its beginning.
    TooLong(&'a [u8]),
}

/// How many bytes of an event that is too long are kept, to see its type.
pub(super) const HEAD: usize = 64;

/// How many bytes of capacity a buffer keeps from one event to the next.
pub(super) const KEEP: usize = 256 * 1024;

/// Reads the lines of one body. Holds at most one incomplete line of at most the limit; a longer one
/// is skipped in constant memory.
#[derive(Debug)]
pub struct LineReader {
    /// The line that spans chunks, or the head of one that is too long
    pending: Vec<u8>,
    /// How much of `pending` is still to come, or has been given out
    state: PendingLine,
    limit: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum PendingLine {
    /// `pending` is the beginning of a line
    Open,
    /// `pending` is the head of a line that is too long, and whose end has not been seen
    Skipping,
    /// `pending` was given out and is to be forgotten
    Done,
}

impl LineReader {
    /// A framing that accepts lines of up to `limit` bytes.
    pub const fn new(limit: usize) -> Self {
        Self { pending: Vec::new(), state: PendingLine::Open, limit }
    }

    /// Takes the next line out of what is pending and `chunk`, which is moved past it. `None` when
    /// the chunk is used up. Empty lines are passed over.
    ///
    /// Only a line that spans chunks is put together in `self`; most lines are never copied.
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Option<FramedEvent<'a>> {
        if self.state == PendingLine::Done {
            self.pending.clear();
            self.pending.shrink_to(KEEP);
            self.state = PendingLine::Open;
        }
        loop {
            let Some(end) = memchr::memchr(b'\n', chunk) else {
                self.keep(chunk);
                *chunk = &[];
                return None;
            };
            let (part, rest) = (&chunk[..end], &chunk[end + 1..]);
            *chunk = rest;
            if self.pending.is_empty() && part.len() <= self.limit {
                // The end of the line may be "\r\n".
                match part.trim_ascii_end() {
                    [] => continue,
                    line => return Some(FramedEvent::Whole(line)),
                }
            }
            self.keep(part);
            let too_long = self.state == PendingLine::Skipping;
            if !too_long && self.pending.trim_ascii_end().is_empty() {
                self.pending.clear();
                continue;
            }
            self.state = PendingLine::Done;
            return Some(if too_long {
                FramedEvent::TooLong(&self.pending)
            } else {
                FramedEvent::Whole(self.pending.trim_ascii_end())
            });
        }
    }

    fn keep(&mut self, part: &[u8]) {
        if self.state == PendingLine::Skipping {
            return;
        }
        if self.pending.len() + part.len() <= self.limit {
            self.pending.extend_from_slice(part);
            return;
        }
        self.state = PendingLine::Skipping;
        let room = HEAD.saturating_sub(self.pending.len()).min(part.len());
        self.pending.extend_from_slice(&part[..room]);
        self.pending.truncate(HEAD);
        self.pending.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a body that arrives in `chunks`; a line that is too long is shown by its head
    /// in angle brackets.
    fn framed(limit: usize, chunks: &[&str]) -> Vec<String> {
        let mut lines = LineReader::new(limit);
        let mut found = Vec::new();
        for chunk in chunks {
            let mut rest = chunk.as_bytes();
            while let Some(line) = lines.next(&mut rest) {
                found.push(match line {
                    FramedEvent::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    FramedEvent::TooLong(head) => format!("<{}>", String::from_utf8_lossy(head)),
                });
            }
        }
        found
    }

    #[test]
    fn every_way_of_cutting_a_body_gives_the_same_lines() {
        let body = "one\ntwo\r\n\n\r\nthree\n12345678\n123456789\nfour\nrest";
        let whole = framed(8, &[body]);
        assert_eq!(whole, ["one", "two", "three", "12345678", "<123456789>", "four"]);
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let chunks = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(framed(8, &chunks), whole, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_takes_constant_memory() {
        let mut lines = LineReader::new(1 << 20);
        let chunk = vec![b'x'; 1 << 19];
        for _ in 0..200 {
            assert_eq!(lines.next(&mut &chunk[..]), None);
            assert!(lines.pending.capacity() <= 2 << 20);
        }
        assert_eq!(lines.pending.capacity(), HEAD);
        let mut rest: &[u8] = b"\nnext\n";
        assert_eq!(lines.next(&mut rest), Some(FramedEvent::TooLong(&[b'x'; HEAD])));
        assert_eq!(lines.next(&mut rest), Some(FramedEvent::Whole(b"next")));
    }

    #[test]
    fn the_space_of_a_long_line_is_given_back() {
        let mut lines = LineReader::new(8 << 20);
        assert_eq!(lines.next(&mut &vec![b'x'; 4 << 20][..]), None);
        assert!(lines.next(&mut &b"\n"[..]).is_some());
        assert_eq!(lines.next(&mut &b"y"[..]), None);
        assert!(lines.pending.capacity() <= KEEP);
    }
}
