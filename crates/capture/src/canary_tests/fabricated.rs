//! Makes up a value of any type that serde can read: every field is set, every list and map has one
//! element. So an object of Kubernetes has all the fields that its type has, also those that a later
//! version adds.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// A time, for the types that accept nothing else.
pub(super) const TIME: &str = "2026-03-01T10:00:00.000000Z";

/// A value of `T` in which every text and every key of a map is `text`, except where the type asks for
/// something else: a time, or its own name as its `kind`.
pub(super) fn fabricated<'de, T: Deserialize<'de>>(text: &'de str) -> T {
    T::deserialize(Fabricated(text)).expect("k8s-openapi reads what has the form of its types")
}

#[derive(Clone, Copy)]
struct Fabricated<'de>(&'de str);

/// One element of a list, or the entries of an object.
struct Elements<'de> {
    text: &'de str,
    keys: Vec<&'de str>,
    /// What the object is called, if it is a type with fields
    type_name: Option<&'static str>,
    key: &'de str,
}

fn text<'de>(text: &'de str) -> BorrowedStrDeserializer<'de, Error> {
    BorrowedStrDeserializer::new(text)
}

impl<'de> Deserializer<'de> for Fabricated<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(true)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i32(7)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(7)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match name {
            "Time" | "MicroTime" => visitor.visit_newtype_struct(text(TIME)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self.elements(&[self.0], None))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self.elements(&[self.0], None))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(self.elements(fields, Some(name)))
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct tuple
        tuple_struct enum identifier ignored_any
    }
}

impl<'de> Fabricated<'de> {
    fn elements(self, keys: &[&'de str], type_name: Option<&'static str>) -> Elements<'de> {
        Elements { text: self.0, keys: keys.iter().rev().copied().collect(), type_name, key: "" }
    }
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let more = self.keys.pop().is_some();
        more.then(|| seed.deserialize(Fabricated(self.text))).transpose()
    }
}

impl<'de> MapAccess<'de> for Elements<'de> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        let Some(key) = self.keys.pop() else {
            return Ok(None);
        };
        self.key = key;
        seed.deserialize(text(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        match (self.type_name, self.key) {
            (Some(name), "kind") => seed.deserialize(Fabricated(name)),
            (Some(_), "apiVersion") => seed.deserialize(Fabricated("v1")),
            _ => seed.deserialize(Fabricated(self.text)),
        }
    }
}
