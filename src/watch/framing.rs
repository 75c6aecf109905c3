//! An event in the body of a watch, and the limits of those who read it.

/// One event of the body, not decoded.
#[derive(Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    /// A whole event, without what separates it from others
    Whole(&'a [u8]),
    /// An event longer than the limit, which was skipped; this is its beginning.
    TooLong(&'a [u8]),
}

/// How many bytes of an event that is too long are kept, to see its type.
pub(super) const HEAD: usize = 64;

/// How many bytes of capacity a buffer keeps from one event to the next.
pub(super) const KEEP: usize = 256 * 1024;
