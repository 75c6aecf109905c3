//! Reads a value as a tree, by the shape that its file states, for tests.

use std::fmt;

use ciborium::Value;
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::shapes::{Shape, Shapes};

/// A value of this shape, to be read.
#[derive(Clone, Copy)]
pub(super) struct WantedShape<'a> {
    pub(super) shapes: &'a Shapes,
    pub(super) shape: &'a Shape,
}

impl<'a> WantedShape<'a> {
    const fn inside(self, shape: &'a Shape) -> Self {
        Self { shape, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for WantedShape<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        Ok(match self.shape {
            Shape::Unit => Value::Null,
            Shape::Bool => Value::Bool(bool::deserialize(from)?),
            Shape::U8 => u8::deserialize(from)?.into(),
            Shape::U16 => u16::deserialize(from)?.into(),
            Shape::U32 => u32::deserialize(from)?.into(),
            Shape::U64 => u64::deserialize(from)?.into(),
            Shape::U128 => u128::deserialize(from)?.into(),
            Shape::I64 => i64::deserialize(from)?.into(),
            Shape::Text => Value::Text(String::deserialize(from)?),
            Shape::Option(_) => return from.deserialize_option(self),
            Shape::Sequence(_) => return from.deserialize_seq(self),
            Shape::Map(..) => return from.deserialize_map(self),
            Shape::Tuple(all) => return from.deserialize_tuple(all.len(), self),
            Shape::Array(_, length) => return from.deserialize_tuple(*length as usize, self),
            Shape::Struct(fields) => return from.deserialize_tuple(fields.len(), self),
            Shape::Enum(_) => return from.deserialize_enum("", &[], self),
            Shape::Named(name) => {
                let shape = self.shapes.named(name).map_err(D::Error::custom)?;
                return self.inside(shape).deserialize(from);
            }
        })
    }
}

impl<'de> Visitor<'de> for WantedShape<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of its shape")
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        match self.shape {
            Shape::Option(inner) => self.inside(inner).deserialize(from),
            _ => Err(D::Error::custom("no option")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let end = || A::Error::custom("it ends early");
        match self.shape {
            Shape::Struct(fields) => {
                let values = fields.iter().map(|(name, shape)| {
                    let value = from.next_element_seed(self.inside(shape))?.ok_or_else(end)?;
                    Ok((Value::Text(name.clone()), value))
                });
                values.collect::<Result<_, _>>().map(Value::Map)
            }
            Shape::Tuple(shapes) => {
                let values = shapes
                    .iter()
                    .map(|shape| from.next_element_seed(self.inside(shape))?.ok_or_else(end));
                values.collect::<Result<_, _>>().map(Value::Array)
            }
            Shape::Sequence(shape) | Shape::Array(shape, _) => {
                let mut values = Vec::new();
                while let Some(value) = from.next_element_seed(self.inside(shape))? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }
            _ => Err(A::Error::custom("no sequence")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let Shape::Map(key, value) = self.shape else {
            return Err(A::Error::custom("no map"));
        };
        let mut entries = Vec::new();
        while let Some(key) = from.next_key_seed(self.inside(key))? {
            entries.push((key, from.next_value_seed(self.inside(value))?));
        }
        Ok(Value::Map(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Value, A::Error> {
        let Shape::Enum(variants) = self.shape else {
            return Err(A::Error::custom("no enum"));
        };
        let (index, content) = from.variant::<u32>()?;
        let variant = variants.get(index as usize);
        let (name, shape) = variant.ok_or_else(|| A::Error::custom("no such variant"))?;
        let name = Value::Text(name.clone());
        if *shape == Shape::Unit {
            content.unit_variant()?;
            return Ok(name);
        }
        let content = content.newtype_variant_seed(self.inside(shape))?;
        Ok(Value::Map(vec![(name, content)]))
    }
}
