//! What holds of the codec for all values and for all bytes.

#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;

use super::{DecodeError, Decoder, Encoder};

/// One call of the codec with its value.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Byte(u8),
    Flag(bool),
    Number(u64),
    Signed(i64),
    Fixed32(u32),
    Fixed64(u64),
    Float(u64),
    Wide(u128),
    Id([u8; 16]),
    Bytes(Vec<u8>),
    Text(String),
    Option(Option<u64>),
    List(Vec<i64>),
}

impl Value {
    fn put(&self, to: &mut Encoder) {
        match self {
            Self::Byte(value) => to.byte(*value),
            Self::Flag(value) => to.flag(*value),
            Self::Number(value) => to.number(*value),
            Self::Signed(value) => to.signed(*value),
            Self::Fixed32(value) => to.fixed32(*value),
            Self::Fixed64(value) => to.fixed64(*value),
            Self::Float(bits) => to.float(f64::from_bits(*bits)),
            Self::Wide(value) => to.wide(*value),
            Self::Id(id) => to.id(id),
            Self::Bytes(bytes) => to.bytes(bytes),
            Self::Text(text) => to.text(text),
            Self::Option(value) => to.option(*value, Encoder::number),
            Self::List(items) => to.list(items, |to, item| to.signed(*item)),
        }
    }

    /// What `from` holds at its place, read as the kind of value that `self` is.
    fn take(&self, from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(match self {
            Self::Byte(_) => Self::Byte(from.byte()?),
            Self::Flag(_) => Self::Flag(from.flag()?),
            Self::Number(_) => Self::Number(from.number()?),
            Self::Signed(_) => Self::Signed(from.signed()?),
            Self::Fixed32(_) => Self::Fixed32(from.fixed32()?),
            Self::Fixed64(_) => Self::Fixed64(from.fixed64()?),
            Self::Float(_) => Self::Float(from.float()?.to_bits()),
            Self::Wide(_) => Self::Wide(from.wide()?),
            Self::Id(_) => Self::Id(from.id()?),
            Self::Bytes(_) => Self::Bytes(from.bytes()?.to_vec()),
            Self::Text(_) => Self::Text(from.text()?.to_owned()),
            Self::Option(_) => Self::Option(from.option(Decoder::number)?),
            Self::List(_) => Self::List(from.list(Decoder::signed)?),
        })
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u8>().prop_map(Value::Byte),
        any::<bool>().prop_map(Value::Flag),
        prop_oneof![any::<u64>(), 0..300_u64, Just(u64::MAX)].prop_map(Value::Number),
        prop_oneof![any::<i64>(), -200..200_i64, Just(i64::MIN)].prop_map(Value::Signed),
        any::<u32>().prop_map(Value::Fixed32),
        any::<u64>().prop_map(Value::Fixed64),
        any::<u64>().prop_map(Value::Float),
        any::<u128>().prop_map(Value::Wide),
        any::<[u8; 16]>().prop_map(Value::Id),
        vec(any::<u8>(), 0..200).prop_map(Value::Bytes),
        any::<String>().prop_map(Value::Text),
        any::<Option<u64>>().prop_map(Value::Option),
        vec(any::<i64>(), 0..20).prop_map(Value::List),
    ]
}

/// The bytes of the values, of which each has at least one.
fn encoded(values: &[Value]) -> Vec<u8> {
    let mut encoder = Encoder::new();
    assert!(encoder.is_empty());
    for value in values {
        value.put(&mut encoder);
        assert!(!encoder.is_empty());
    }
    encoder.into_bytes()
}

proptest! {
    #[test]
    fn what_was_put_is_taken(values in vec(value(), 0..20)) {
        let bytes = encoded(&values);
        let mut decoder = Decoder::new(&bytes);
        for value in &values {
            prop_assert_eq!(&value.take(&mut decoder).unwrap(), value);
        }
        decoder.finish().unwrap();
    }

    #[test]
    fn bytes_cut_short_are_an_error(values in vec(value(), 1..20), cut in any::<prop::sample::Index>()) {
        let bytes = encoded(&values);
        let bytes = &bytes[..cut.index(bytes.len())];
        let mut decoder = Decoder::new(bytes);
        let taken: Result<Vec<_>, _> = values.iter().map(|value| value.take(&mut decoder)).collect();
        prop_assert!(taken.is_err());
    }

    /// Whatever the bytes, reading them as anything ends without a panic, and what could be read
    /// has this form only.
    #[test]
    fn any_bytes_are_read_or_refused(shape in vec(value(), 1..8), bytes in vec(any::<u8>(), 0..100)) {
        let mut decoder = Decoder::new(&bytes);
        let taken: Vec<_> = shape.iter().map_while(|value| value.take(&mut decoder).ok()).collect();
        let again = encoded(&taken);
        prop_assert_eq!(&again[..], &bytes[..again.len()]);
    }
}
