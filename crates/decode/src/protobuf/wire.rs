//! The wire format of protobuf: a message is a sequence of numbered fields.

use std::fmt;

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Bytes that are no protobuf message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(String);

impl From<prost::DecodeError> for Malformed {
    fn from(error: prost::DecodeError) -> Self {
        Self(error.to_string())
    }
}

/// What a visitor finds wrong. None of ours does.
impl serde::de::Error for Malformed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl Malformed {
    pub(super) fn new(why: &str) -> Self {
        Self(why.to_owned())
    }
}

/// The value of a field, as far as its wire type says what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireValue<'de> {
    /// A number, a boolean
    Varint(u64),
    /// A text, bytes or a message
    Bytes(&'de [u8]),
    /// A number of a fixed width or a group, of which Kubernetes has none; it is skipped
    Skipped,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WireField<'de> {
    pub(super) number: u32,
    pub(super) value: WireValue<'de>,
}

/// The fields of a message that have not been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireFields<'de>(&'de [u8]);

impl<'de> WireFields<'de> {
    pub(super) const fn new(message: &'de [u8]) -> Self {
        Self(message)
    }

    /// The next field; `None` at the end of the message.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<WireField<'de>>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        // Nearly all: of a number below 2,048 and, but for numbers, shorter than 16 kB.
        if let Some((key @ 8.., rest)) = short_varint(self.0) {
            let number = key >> 3;
            if key & 7 == WireType::LengthDelimited as u32 {
                let length = short_varint(rest);
                let split =
                    length.and_then(|(length, rest)| rest.split_at_checked(length as usize));
                if let Some((bytes, rest)) = split {
                    self.0 = rest;
                    return Ok(Some(WireField { number, value: WireValue::Bytes(bytes) }));
                }
            } else if key & 7 == WireType::Varint as u32
                && let Some((value, rest)) = short_varint(rest)
            {
                self.0 = rest;
                return Ok(Some(WireField { number, value: WireValue::Varint(value.into()) }));
            }
        }
        self.next_of_any_form()
    }

    fn next_of_any_form(&mut self) -> Result<Option<WireField<'de>>, Malformed> {
        let Self(rest) = self;
        let (number, wire_type) = decode_key(rest)?;
        let value = match wire_type {
            WireType::Varint => WireValue::Varint(decode_varint(rest)?),
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(rest)?).ok();
                let split = length.and_then(|length| rest.split_at_checked(length));
                let too_long = || Malformed::new("a field is longer than what it is in");
                let (bytes, after) = split.ok_or_else(too_long)?;
                *rest = after;
                WireValue::Bytes(bytes)
            }
            other => {
                // Bounds the depth of groups within groups.
                skip_field(other, number, rest, DecodeContext::default())?;
                WireValue::Skipped
            }
        };
        Ok(Some(WireField { number, value }))
    }

    /// The last value of each field that is wanted, where that is a text, bytes or a message.
    pub(super) fn bytes<const N: usize>(
        mut self,
        wanted: [u32; N],
    ) -> Result<[Option<&'de [u8]>; N], Malformed> {
        let mut found = [None; N];
        while let Some(WireField { number, value }) = self.next()? {
            let place = wanted.iter().position(|wanted| *wanted == number);
            if let (Some(place), WireValue::Bytes(bytes)) = (place, value) {
                found[place] = Some(bytes);
            }
        }
        Ok(found)
    }
}

/// A varint below 16,384, and what comes after it.
#[inline]
fn short_varint(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [value @ 0..0x80, rest @ ..] => Some((u32::from(*value), rest)),
        [low, high @ 0..0x80, rest @ ..] => {
            Some((u32::from(*high) << 7 | u32::from(*low & 0x7f), rest))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fields(message: &[u8]) -> Result<Vec<(u32, WireValue<'_>)>, Malformed> {
        let mut fields = WireFields::new(message);
        let mut found = Vec::new();
        while let Some(field) = fields.next()? {
            found.push((field.number, field.value));
        }
        Ok(found)
    }

    #[test]
    fn fields_of_every_wire_type_are_told_apart() {
        let message = [
            &b"\x08\x96\x01"[..],                    // 1: 150
            b"\x12\x02ab",                           // 2: "ab"
            b"\x1d\x01\x02\x03\x04",                 // 3: 32 bits
            b"\x21\x01\x02\x03\x04\x05\x06\x07\x08", // 4: 64 bits
            b"\x2b\x08\x01\x2c",                     // 5: a group
            b"\x12\x00",                             // 2 again: ""
        ]
        .concat();
        let found = fields(&message).unwrap();
        assert_eq!(
            found,
            [
                (1, WireValue::Varint(150)),
                (2, WireValue::Bytes(b"ab")),
                (3, WireValue::Skipped),
                (4, WireValue::Skipped),
                (5, WireValue::Skipped),
                (2, WireValue::Bytes(b"")),
            ]
        );
        assert_eq!(WireFields::new(&message).bytes([1, 2]), Ok([None, Some(&b""[..])]));
    }

    #[test]
    fn numbers_and_lengths_are_read_in_each_form() {
        for (length, form) in [
            (0, &b"\x00"[..]),
            (0, b"\x80\x00"),
            (1, b"\x81\x80\x00"),
            (300, b"\xac\x02"),
            (20_000, b"\xa0\x9c\x01"),
        ] {
            for (number, key) in
                [(1, &b"\x0a"[..]), (15, b"\x7a"), (16, b"\x82\x01"), (2_048, b"\x82\x80\x01")]
            {
                let bytes = vec![b'a'; length];
                let message = [key, form, &bytes, b"\x08", form].concat();
                let expected =
                    [(number, WireValue::Bytes(&bytes)), (1, WireValue::Varint(length as u64))];
                assert_eq!(fields(&message).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_is_cut_off_or_no_field_is_an_error() {
        for message in [
            &b"\x08"[..],
            b"\x08\xff",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x12\x05ab",
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x1d\x01",
            b"\x21\x01",
            b"\x00\x01",
            b"\x0e\x01",
            b"\x2b\x08\x01",
            b"\x2c",
        ] {
            assert!(fields(message).is_err(), "{message:?}");
        }
        let nested = vec![0x2b; 10_000];
        assert!(fields(&nested).is_err());
    }
}
