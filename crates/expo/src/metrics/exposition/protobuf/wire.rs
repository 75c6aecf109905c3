//! The wire format of protobuf: what the fields of messages are made from. As in proto3, a number that
//! is 0 and a text that is empty are left out. `LabelPair` and `google.protobuf.Timestamp` are made of them.

use prost::encoding::{encode_varint, encoded_len_varint};

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_instruments::LabelPair;

/// How the value of a field is written.
#[derive(Clone, Copy)]
pub(super) enum WireType {
    Varint = 0,
    Double = 1,
    Bytes = 2,
}

/// The key of a field, which is one byte: its number is at most 15.
pub(super) const fn key(field: u8, wire_type: WireType) -> u8 {
    assert!(field < 16);
    (field << 3) | wire_type as u8
}

/// A signed number such that small ones are short.
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(super) fn put_integer(out: &mut Vec<u8>, key: u8, value: u64) {
    if value != 0 {
        out.push(key);
        encode_varint(value, out);
    }
}

pub(super) fn put_double(out: &mut Vec<u8>, key: u8, value: f64) {
    if value != 0.0 {
        out.push(key);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

pub(super) fn put_text(out: &mut Vec<u8>, key: u8, text: &str) {
    if !text.is_empty() {
        put_message(out, key, text.as_bytes());
    }
}

/// Writes a message, even an empty one.
pub(super) fn put_message(out: &mut Vec<u8>, key: u8, message: &[u8]) {
    put_head(out, key, message.len());
    out.extend_from_slice(message);
}

/// Writes what stands before a message of this length. That a length is computed spares a copy of what
/// it is of, and calls to copy a few bytes are most of what a scrape takes.
pub(super) fn put_head(out: &mut Vec<u8>, key: u8, length: usize) {
    out.push(key);
    encode_varint(length as u64, out);
}

/// How many bytes [`put_text`] writes.
pub(super) const fn text_len(text: &str) -> usize {
    match text.len() {
        0 => 0,
        length => message_len(length),
    }
}

/// How many bytes [`put_integer`] writes.
pub(super) const fn integer_len(value: u64) -> usize {
    match value {
        0 => 0,
        _ => 1 + encoded_len_varint(value),
    }
}

/// How many bytes [`put_double`] writes.
pub(super) const fn double_len(value: f64) -> usize {
    match value {
        0.0 => 0,
        _ => 1 + size_of::<f64>(),
    }
}

/// How many bytes [`put_message`] writes of a message of this length.
pub(super) const fn message_len(length: usize) -> usize {
    1 + encoded_len_varint(length as u64) + length
}

/// How many bytes stand for a length that is not yet known: right for 16 KiB to 2 MiB.
const LENGTH_GUESS: usize = 3;

/// A message after its length, which is written when it is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelimitedMessage {
    start: usize,
}

impl DelimitedMessage {
    /// Begins a message at the end of `out`.
    pub(super) fn begin(out: &mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_GUESS]);
        Self { start }
    }

    /// Ends the message and states its length before it.
    pub(super) fn end(self, out: &mut Vec<u8>) {
        let written = self.start + LENGTH_GUESS;
        let length = out.len() - written;
        let message = self.start + encoded_len_varint(length as u64);
        if message > written {
            out.resize(out.len() + message - written, 0);
        }
        out.copy_within(written..written + length, message);
        out.truncate(message + length);
        let mut rest = length;
        for byte in &mut out[self.start..message] {
            *byte = (rest & 0x7f) as u8 | 0x80;
            rest >>= 7;
        }
        out[message - 1] &= 0x7f;
    }

    /// Takes the message back.
    pub(super) fn cancel(self, out: &mut Vec<u8>) {
        out.truncate(self.start);
    }
}

const NAME: u8 = key(1, WireType::Bytes);
const VALUE: u8 = key(2, WireType::Bytes);

/// Writes each label as a `LabelPair` in the field `key`.
pub(super) fn put_labels<'a>(
    out: &mut Vec<u8>,
    key: u8,
    labels: impl Iterator<Item = LabelPair<'a>>,
) {
    for label @ (name, value) in labels {
        put_head(out, key, pair_len(label));
        put_text(out, NAME, name);
        put_text(out, VALUE, value);
    }
}

/// How many bytes [`put_labels`] writes.
pub(super) fn labels_len<'a>(labels: impl Iterator<Item = LabelPair<'a>>) -> usize {
    labels.map(|label| message_len(pair_len(label))).sum()
}

const fn pair_len((name, value): LabelPair<'_>) -> usize {
    text_len(name) + text_len(value)
}

const SECONDS: u8 = key(1, WireType::Varint);
const NANOS: u8 = key(2, WireType::Varint);

/// Writes `at` in the field `key`.
pub(super) fn put_timestamp(out: &mut Vec<u8>, key: u8, at: Timestamp) {
    let (seconds, nanos) = parts(at);
    put_head(out, key, timestamp_len(at));
    put_integer(out, SECONDS, seconds);
    put_integer(out, NANOS, nanos);
}

/// How long the message is that [`put_timestamp`] writes.
pub(super) const fn timestamp_len(at: Timestamp) -> usize {
    let (seconds, nanos) = parts(at);
    integer_len(seconds) + integer_len(nanos)
}

/// Seconds and nanoseconds, as the message has them.
const fn parts(at: Timestamp) -> (u64, u64) {
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND);
    let nanos = at.as_nanos().rem_euclid(NANOS_PER_SECOND);
    (seconds.cast_unsigned(), nanos.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_stands_before_a_message_of_any_length() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let (mut out, content) = (vec![7], vec![8; length]);
            let message = DelimitedMessage::begin(&mut out);
            out.extend_from_slice(&content);
            message.end(&mut out);
            let mut expected = vec![7];
            encode_varint(length as u64, &mut expected);
            assert_eq!(expected.len(), 1 + encoded_len_varint(length as u64));
            expected.extend_from_slice(&content);
            assert!(out == expected, "{length}");
        }
    }
}
