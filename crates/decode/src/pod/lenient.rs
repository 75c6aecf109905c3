//! Lenient visitors: they fail on invalid JSON or YAML, never because a value has the wrong type.
//!
//! serde's own visitors refuse a value of another type than they expect, and with it the whole
//! object. Here a [`LenientField`] accepts the types it knows, and a value of any other is skipped and
//! counts as absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;

/// The types that a field accepts. For every method that is not implemented, it counts as absent.
pub trait LenientField<'de>: Sized {
    /// What the field becomes.
    type Value;

    /// The value where the field is of a type that it should not have.
    fn absent(self) -> Self::Value;

    /// The value where the field is null.
    fn null(self) -> Self::Value {
        self.absent()
    }

    /// A text.
    fn text(self, _text: &str) -> Self::Value {
        self.absent()
    }

    /// A text that lives as long as the input.
    fn borrowed_text(self, text: &'de str) -> Self::Value {
        self.text(text)
    }

    /// `true` or `false`.
    fn flag(self, _flag: bool) -> Self::Value {
        self.absent()
    }

    /// A number that is no negative integer and no fraction.
    fn number(self, _number: u64) -> Self::Value {
        self.absent()
    }

    /// An instant in seconds since the Unix epoch and nanoseconds, as protobuf states it.
    fn instant(self, _seconds: i64, _nanos: u32) -> Self::Value {
        self.absent()
    }

    /// An object, of which every entry has to be taken.
    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(self.absent())
    }

    /// An array, of which every element has to be taken.
    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.absent())
    }
}

/// Makes a [`LenientField`] into a seed for any deserializer.
pub struct LenientSeed<S>(pub S);

impl<'de, S: LenientField<'de>> DeserializeSeed<'de> for LenientSeed<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: LenientField<'de>> Visitor<'de> for LenientSeed<S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<S::Value, E> {
        Ok(self.0.flag(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<S::Value, E> {
        Ok(self.0.number(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<S::Value, E> {
        Ok(match u64::try_from(value) {
            Ok(value) => self.0.number(value),
            Err(_) => self.0.absent(),
        })
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<S::Value, E> {
        Ok(self.0.number(u64::try_from(value).unwrap_or(u64::MAX)))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<S::Value, E> {
        match u128::try_from(value) {
            Ok(value) => self.visit_u128(value),
            Err(_) => Ok(self.0.absent()),
        }
    }

    /// JSON integers beyond 64 bits arrive here; they saturate, as [`LenientField::number`] has it.
    fn visit_f64<E: Error>(self, value: f64) -> Result<S::Value, E> {
        Ok(if value >= u64::MAX as f64 { self.0.number(u64::MAX) } else { self.0.absent() })
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<S::Value, E> {
        Ok(self.0.text(value))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<S::Value, E> {
        Ok(self.0.borrowed_text(value))
    }

    /// The deserializer of protobuf gives instants as eight bytes and four; there is no type for them in serde.
    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<S::Value, E> {
        let seconds = value.first_chunk().copied().map(i64::from_be_bytes);
        let nanos = value.last_chunk().copied().map(u32::from_be_bytes);
        Ok(match seconds.zip(nanos).filter(|_| value.len() == 12) {
            Some((seconds, nanos)) => self.0.instant(seconds, nanos),
            None => self.0.absent(),
        })
    }

    fn visit_none<E: Error>(self) -> Result<S::Value, E> {
        Ok(self.0.null())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E: Error>(self) -> Result<S::Value, E> {
        Ok(self.0.null())
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S::Value, A::Error> {
        self.0.map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<S::Value, A::Error> {
        self.0.seq(seq)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<S::Value, A::Error> {
        IgnoredAny.visit_enum(data)?;
        Ok(self.0.absent())
    }
}

/// A text, borrowed where the input allows it; `None` for anything else.
#[derive(Clone, Copy)]
pub struct LenientText;

impl<'de> LenientField<'de> for LenientText {
    type Value = Option<Cow<'de, str>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn text(self, text: &str) -> Self::Value {
        Some(Cow::Owned(text.to_owned()))
    }

    fn borrowed_text(self, text: &'de str) -> Self::Value {
        Some(Cow::Borrowed(text))
    }
}

/// What a function makes of a text; `None` for anything else.
pub(super) struct LenientParsed<F>(pub F);

impl<T, F: FnOnce(&str) -> Option<T>> LenientField<'_> for LenientParsed<F> {
    type Value = Option<T>;

    fn absent(self) -> Option<T> {
        None
    }

    fn text(self, text: &str) -> Option<T> {
        (self.0)(text)
    }
}

/// A time; `None` for what [§4.6](crate::specification#s4-6) calls absurd, and for anything else.
#[derive(Clone, Copy)]
pub struct LenientTime;

impl LenientField<'_> for LenientTime {
    type Value = Option<Timestamp>;

    fn absent(self) -> Self::Value {
        None
    }

    fn text(self, text: &str) -> Self::Value {
        rfc3339::parse(text)
    }

    fn instant(self, seconds: i64, nanos: u32) -> Self::Value {
        Some(rfc3339::sensible(seconds)?.plus_nanos(nanos.into()))
    }
}

/// Whether a value is `true`.
pub struct LenientFlag;

impl LenientField<'_> for LenientFlag {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn flag(self, flag: bool) -> bool {
        flag
    }
}

/// A whole number; `None` for anything else.
pub struct LenientNumber;

impl LenientField<'_> for LenientNumber {
    type Value = Option<u64>;

    fn absent(self) -> Option<u64> {
        None
    }

    fn number(self, number: u64) -> Option<u64> {
        Some(number)
    }
}

/// Whether a value is an array with at least one element.
pub(super) struct NonEmpty;

impl<'de> LenientField<'de> for NonEmpty {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut any = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            any = true;
        }
        Ok(any)
    }
}

/// Whether a value is an object, whatever it holds.
pub(super) struct IsObject;

impl<'de> LenientField<'de> for IsObject {
    type Value = bool;

    fn absent(self) -> bool {
        false
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(true)
    }
}

/// Skips the value of a key that is not read.
pub fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}
