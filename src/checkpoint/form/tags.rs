//! The first byte of a value: what it is, and where there is room how long it is or which.

/// A whole number from 0 to 127.
pub(super) const NUMBER: u8 = 0x00;
/// A text of less than 32 bytes.
pub(super) const TEXT: u8 = 0x80;
/// A name among the first 32: a variant without data, or the value of a label.
pub(super) const NAME: u8 = 0xa0;
/// A sequence of less than 8 values.
pub(super) const SEQUENCE: u8 = 0xc0;
/// A variant with data, whose name is among the first 8.
pub(super) const VARIANT: u8 = 0xc8;
/// Nothing.
pub(super) const NIL: u8 = 0xd0;
pub(super) const FALSE: u8 = 0xd1;
pub(super) const TRUE: u8 = 0xd2;
/// A number of so many bytes, little-endian.
pub(super) const NUMBER_1: u8 = 0xd3;
pub(super) const NUMBER_2: u8 = 0xd4;
pub(super) const NUMBER_4: u8 = 0xd5;
pub(super) const NUMBER_8: u8 = 0xd6;
pub(super) const NUMBER_16: u8 = 0xd7;
/// Four bytes, of a number that is a thousand million times as large: nearly every time is of a whole second.
pub(super) const GIGA: u8 = 0xd8;
/// Eight bytes, of a number below zero: -1 less this one.
pub(super) const NEGATIVE: u8 = 0xd9;
/// Here and below, a length or a number as a varint follows.
pub(super) const LONG_TEXT: u8 = 0xda;
pub(super) const BYTES: u8 = 0xdb;
pub(super) const LONG_SEQUENCE: u8 = 0xdc;
pub(super) const MAP: u8 = 0xdd;
pub(super) const LATER_NAME: u8 = 0xde;
pub(super) const LATER_VARIANT: u8 = 0xdf;
pub(super) const LATER_SHAPE: u8 = 0xe0;
/// A value among those that are shared.
pub(super) const SHARED_VALUE: u8 = 0xe1;
/// Sixteen bytes.
pub(super) const BYTES_16: u8 = 0xe2;
/// Something that is nothing inside, or something inside.
pub(super) const SOME: u8 = 0xe3;
/// A struct whose shape is among the first 24. The bytes between have no meaning.
pub(super) const SHAPE: u8 = 0xe8;

/// A thousand million: nanoseconds in a second.
pub(super) const BILLION: u64 = 1_000_000_000;

/// Appends a number of any size in as few bytes as it needs.
pub(super) fn push_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
