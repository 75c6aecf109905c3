//! A serde deserializer of protobuf messages, so that the readers of fields that serve JSON and YAML serve
//! protobuf as well, and the encodings cannot disagree about what a pod is.
//!
//! To its visitors a message is a map with the keys of the JSON. Three things differ on the wire:
//!
//! - Kubernetes writes a text that JSON would omit as an empty one. It counts as absent here.
//! - An absent time is an empty message. It is null here, as in JSON.
//! - The elements of a list are fields of their own, and need not follow each other.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::schema::{FieldKind, FieldSchema, MessageSchema};
use super::wire::{Malformed, WireField, WireFields, WireValue};

/// A message, of which the fields of `known` are read. Of a field that stands there several times the
/// last counts, but for lists and maps.
pub(super) struct MessageDeserializer<'de> {
    pub(super) message: &'de [u8],
    pub(super) known: MessageSchema,
}

impl<'de> Deserializer<'de> for MessageDeserializer<'de> {
    type Error = Malformed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_map(MessageEntries {
            fields: WireFields::new(self.message),
            known: self.known,
            place: 0,
            outer: None,
            taken: 0,
            value: None,
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The known fields of a message.
struct MessageEntries<'de> {
    fields: WireFields<'de>,
    known: MessageSchema,
    /// Where in `known` the last field stands, or would stand. The next one stands there or behind it, but for fields
    /// that are not in the order of their numbers
    place: usize,
    /// The message in which this one is inline
    outer: Option<(WireFields<'de>, MessageSchema)>,
    /// The lists and maps whose elements have been given out, by their place in `known`
    taken: u64,
    value: Option<FieldDeserializer<'de>>,
}

impl<'de> MessageEntries<'de> {
    /// Goes on with the fields of another message.
    const fn enter(&mut self, fields: WireFields<'de>, known: MessageSchema) {
        (self.fields, self.known, self.place) = (fields, known, 0);
    }

    /// The field of this number, and its place, if it is read.
    fn find(&mut self, number: u32) -> Option<(usize, &'static FieldSchema)> {
        let known = self.known;
        if self.place > 0 && known[self.place - 1].number >= number {
            self.place = 0;
        }
        while known.get(self.place).is_some_and(|known| known.number < number) {
            self.place += 1;
        }
        let found = known.get(self.place).filter(|known| known.number == number)?;
        Some((self.place, found))
    }
}

impl<'de> MapAccess<'de> for MessageEntries<'de> {
    type Error = Malformed;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Malformed> {
        loop {
            let Some(WireField { number, value }) = self.fields.next()? else {
                let Some((fields, known)) = self.outer.take() else {
                    return Ok(None);
                };
                self.enter(fields, known);
                continue;
            };
            let Some((place, known)) = self.find(number) else {
                continue;
            };
            match (known.kind, value) {
                (FieldKind::Inline(inner), WireValue::Bytes(message)) if self.outer.is_none() => {
                    self.outer = Some((self.fields, self.known));
                    self.enter(WireFields::new(message), inner);
                    continue;
                }
                (FieldKind::List(_) | FieldKind::TextMap, WireValue::Bytes(_))
                | (FieldKind::Numbers, WireValue::Varint(_)) => {
                    if self.taken & (1 << place) != 0 {
                        continue;
                    }
                    self.taken |= 1 << place;
                }
                (FieldKind::Text, WireValue::Bytes(b"")) => continue,
                (
                    FieldKind::Text | FieldKind::Time | FieldKind::Message(_),
                    WireValue::Bytes(_),
                ) => {}
                (FieldKind::Number | FieldKind::Flag, WireValue::Varint(_)) => {}
                // Of another type than it should have
                _ => continue,
            }
            self.value = Some(FieldDeserializer { known, value, rest: self.fields });
            return seed.deserialize(BorrowedStrDeserializer::new(known.name)).map(Some);
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Malformed> {
        let value = self.value.take();
        seed.deserialize(value.ok_or_else(|| Malformed::new("a value without a key"))?)
    }
}

/// The value of a known field.
struct FieldDeserializer<'de> {
    known: &'static FieldSchema,
    value: WireValue<'de>,
    /// The fields after it, among which are the further elements of a list or a map
    rest: WireFields<'de>,
}

impl<'de> Deserializer<'de> for FieldDeserializer<'de> {
    type Error = Malformed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        let Self { known, value, rest } = self;
        let elements = |first| MessageElements { number: known.number, first: Some(first), rest };
        match (known.kind, value) {
            (FieldKind::Number, WireValue::Varint(number)) => {
                visitor.visit_i64(number.cast_signed())
            }
            (FieldKind::Flag, WireValue::Varint(flag)) => visitor.visit_bool(flag != 0),
            (FieldKind::Text, WireValue::Bytes(text)) => visit_text(text, visitor),
            (FieldKind::Time, WireValue::Bytes(time)) => match instant(time)? {
                // A type of value that JSON does not have
                Some((seconds, nanos)) => {
                    let mut bytes = [0; 12];
                    bytes[..8].copy_from_slice(&seconds.to_be_bytes());
                    bytes[8..].copy_from_slice(&nanos.to_be_bytes());
                    visitor.visit_bytes(&bytes)
                }
                None => visitor.visit_unit(),
            },
            (FieldKind::Message(known), WireValue::Bytes(message)) => {
                MessageDeserializer { message, known }.deserialize_any(visitor)
            }
            (FieldKind::List(known), WireValue::Bytes(first)) => {
                visitor.visit_seq(ListElements { elements: elements(first), known })
            }
            (FieldKind::Numbers, WireValue::Varint(first)) => {
                visitor.visit_seq(PackedNumbers { number: known.number, first: Some(first), rest })
            }
            (FieldKind::TextMap, WireValue::Bytes(first)) => {
                visitor.visit_map(TextMapEntries { elements: elements(first), value: b"" })
            }
            _ => visitor.visit_unit(),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}

/// A text. Invalid UTF-8 in it is replaced, as API servers do in JSON.
fn visit_text<'de, V: Visitor<'de>>(text: &'de [u8], visitor: V) -> Result<V::Value, Malformed> {
    match str::from_utf8(text) {
        Ok(text) => visitor.visit_borrowed_str(text),
        Err(_) => visitor.visit_str(&String::from_utf8_lossy(text)),
    }
}

/// The seconds of a `metav1.Time` or `metav1.MicroTime`, and the nanoseconds behind them; `None` where it is empty. API
/// servers write no fraction of the first in either encoding.
pub(super) fn instant(time: &[u8]) -> Result<Option<(i64, u32)>, Malformed> {
    if time.is_empty() {
        return Ok(None);
    }
    let mut fields = WireFields::new(time);
    let (mut seconds, mut nanos) = (0, 0);
    while let Some(WireField { number, value }) = fields.next()? {
        match (number, value) {
            (1, WireValue::Varint(value)) => seconds = value.cast_signed(),
            (2, WireValue::Varint(value)) => {
                let fraction = u32::try_from(value).ok();
                nanos = fraction.filter(|nanos| *nanos < 1_000_000_000).unwrap_or(0);
            }
            _ => {}
        }
    }
    Ok(Some((seconds, nanos)))
}

/// The elements of a list or a map: those of the fields of a number that have not been given out.
struct MessageElements<'de> {
    number: u32,
    first: Option<&'de [u8]>,
    rest: WireFields<'de>,
}

impl<'de> MessageElements<'de> {
    fn next(&mut self) -> Result<Option<&'de [u8]>, Malformed> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        while let Some(WireField { number, value }) = self.rest.next()? {
            if let WireValue::Bytes(element) = value
                && number == self.number
            {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }
}

struct ListElements<'de> {
    elements: MessageElements<'de>,
    known: MessageSchema,
}

impl<'de> SeqAccess<'de> for ListElements<'de> {
    type Error = Malformed;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Malformed> {
        let known = self.known;
        let element = self.elements.next()?;
        let element =
            element.map(|message| seed.deserialize(MessageDeserializer { message, known }));
        element.transpose()
    }
}

/// The numbers of a list of them.
struct PackedNumbers<'de> {
    number: u32,
    first: Option<u64>,
    rest: WireFields<'de>,
}

impl<'de> SeqAccess<'de> for PackedNumbers<'de> {
    type Error = Malformed;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Malformed> {
        let mut next = self.first.take();
        while next.is_none()
            && let Some(WireField { number, value }) = self.rest.next()?
        {
            if let WireValue::Varint(value) = value
                && number == self.number
            {
                next = Some(value);
            }
        }
        let number = next.map(|number| number.cast_signed().into_deserializer());
        number.map(|number| seed.deserialize(number)).transpose()
    }
}

/// A `map<string, string>`, whose entries are messages of a key 1 and a value 2.
struct TextMapEntries<'de> {
    elements: MessageElements<'de>,
    value: &'de [u8],
}

impl<'de> MapAccess<'de> for TextMapEntries<'de> {
    type Error = Malformed;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Malformed> {
        let Some(entry) = self.elements.next()? else {
            return Ok(None);
        };
        let (mut key, mut entry) = (&b""[..], WireFields::new(entry));
        self.value = b"";
        while let Some(WireField { number, value }) = entry.next()? {
            match (number, value) {
                (1, WireValue::Bytes(text)) => key = text,
                (2, WireValue::Bytes(text)) => self.value = text,
                _ => {}
            }
        }
        seed.deserialize(TextDeserializer(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Malformed> {
        seed.deserialize(TextDeserializer(self.value))
    }
}

struct TextDeserializer<'de>(&'de [u8]);

impl<'de> Deserializer<'de> for TextDeserializer<'de> {
    type Error = Malformed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visit_text(self.0, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
    }
}
