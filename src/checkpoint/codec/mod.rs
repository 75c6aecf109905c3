//! Values as bytes, in the fewest bytes that stay simple: integers as varints (LEB128), signed ones
//! in zigzag, text behind its length. There are no tags: writer and reader know the order.
//!
//! Every value has exactly one form: the decoder refuses any other (a varint with idle bytes, a
//! flag that is neither 0 nor 1), so that what decodes encodes to the same bytes again.

mod decoder;
mod encoder;

pub use decoder::{DecodeError, Decoder};
pub use encoder::Encoder;

#[cfg(test)]
mod properties;
