//! Finds the shape of a type: a deserializer that asks for a value, and notes what it is asked for.
//!
//! An enum shows one variant at a time, so a type is traced again until all variants in it have a shape. And it is traced
//! without a field, to find out whether it can do without.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::shapes::{SavedType, Shape, Shapes};

/// Why a type has no shape.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct NoShape(String);

impl serde::de::Error for NoShape {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self(why.to_string())
    }
}

/// A variant whose shape is not known yet: no type has this name.
fn unknown() -> Shape {
    Shape::Named(String::new())
}

impl Shapes {
    /// Adds the shape of a type, and of all that it has in it.
    #[expect(clippy::expect_used, reason = "a test traces all types that there are")]
    pub(crate) fn with<T: SavedType>(self) -> Self {
        let traced = ShapeTracer::new(self).trace::<T>();
        traced.expect("a saved type has a shape")
    }
}

/// A field of a struct, or of a variant of an enum, by names.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldName<'a> {
    of: &'a str,
    variant: Option<&'a str>,
    field: &'a str,
}

impl<'a> FieldName<'a> {
    /// None yet, of this type.
    pub(super) const fn new(of: &'a str) -> Self {
        Self { of, variant: None, field: "" }
    }

    /// None yet, of this variant of it.
    pub(super) const fn variant(self, name: &'a str) -> Self {
        Self { variant: Some(name), ..self }
    }

    /// This field of it.
    pub(super) const fn field(self, name: &'a str) -> Self {
        Self { field: name, ..self }
    }
}

/// Finds out which fields a type cannot do without.
pub(super) struct RequiredFieldProbe<'a> {
    ours: &'a Shapes,
    fails: fn(&mut ShapeTracer<'_>) -> bool,
}

impl<'a> RequiredFieldProbe<'a> {
    pub(super) fn new<T: SavedType>(ours: &'a Shapes) -> Self {
        let fails = |tracer: &mut ShapeTracer<'_>| {
            T::deserialize(ShapeSlot { tracer, shape: &mut unknown() }).is_err()
        };
        Self { ours, fails }
    }

    /// Whether no value can be read without this field.
    pub(super) fn needs(&self, field: &FieldName<'_>) -> bool {
        (self.fails)(&mut ShapeTracer { shapes: self.ours.clone(), without: Some(*field) })
    }
}

#[derive(Debug)]
struct ShapeTracer<'a> {
    shapes: Shapes,
    /// What is missing
    without: Option<FieldName<'a>>,
}

impl<'a> ShapeTracer<'a> {
    const fn new(shapes: Shapes) -> Self {
        Self { shapes, without: None }
    }

    /// The field that is missing in this struct, or in this variant.
    fn missing_in(&self, of: &str, variant: Option<&str>) -> Option<&'a str> {
        let without = self.without.filter(|name| name.of == of && name.variant == variant);
        without.map(|name| name.field)
    }

    /// All shapes, with those of `T`.
    fn trace<T: SavedType>(mut self) -> Result<Shapes, NoShape> {
        while !self.is_complete(&Shape::Named(T::NAME.to_owned())) {
            let mut shape = unknown();
            T::deserialize(ShapeSlot { tracer: &mut self, shape: &mut shape })?;
            if shape != Shape::Named(T::NAME.to_owned()) {
                return Err(NoShape(format!("{} has another name: {shape:?}", T::NAME)));
            }
        }
        Ok(self.shapes)
    }

    /// Whether all variants in a shape have a shape.
    fn is_complete(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Named(name) => {
                self.shapes.0.get(name).is_some_and(|shape| self.is_complete(shape))
            }
            Shape::Option(inner) | Shape::Sequence(inner) | Shape::Array(inner, _) => {
                self.is_complete(inner)
            }
            Shape::Map(key, value) => self.is_complete(key) && self.is_complete(value),
            Shape::Tuple(all) => all.iter().all(|one| self.is_complete(one)),
            Shape::Struct(all) | Shape::Enum(all) => {
                all.iter().all(|(_, one)| self.is_complete(one))
            }
            _ => true,
        }
    }

    /// Notes the shape of a struct or an enum. One that is known must be the same, but for variants.
    fn note(&mut self, name: &str, shape: Shape) -> Result<Shape, NoShape> {
        let known = self.shapes.0.entry(name.to_owned()).or_insert_with(|| shape.clone());
        let names = |shape: &Shape| match shape {
            Shape::Struct(all) | Shape::Enum(all) => {
                all.iter().map(|(name, _)| name.clone()).collect()
            }
            _ => Vec::new(),
        };
        if names(known) != names(&shape) {
            return Err(NoShape(format!("two types have the name {name}")));
        }
        *known = shape;
        Ok(Shape::Named(name.to_owned()))
    }
}

/// Where the shape of a value is noted.
struct ShapeSlot<'a, 't> {
    tracer: &'a mut ShapeTracer<'t>,
    shape: &'a mut Shape,
}

impl<'t> ShapeSlot<'_, 't> {
    fn inside<'b>(&'b mut self, shape: &'b mut Shape) -> ShapeSlot<'b, 't> {
        ShapeSlot { tracer: self.tracer, shape }
    }
}

/// Values of which every one is traced.
struct TracedParts<'a, 't> {
    tracer: &'a mut ShapeTracer<'t>,
    shapes: Vec<Shape>,
    left: usize,
}

impl<'a, 't> TracedParts<'a, 't> {
    const fn new(tracer: &'a mut ShapeTracer<'t>, left: usize) -> Self {
        Self { tracer, shapes: Vec::new(), left }
    }

    fn named(self, names: &[&str]) -> Shape {
        let names = names.iter().map(|name| (*name).to_owned());
        Shape::Struct(names.zip(self.shapes).collect())
    }

    fn tuple(mut self) -> Shape {
        match self.shapes.first() {
            Some(first) if self.shapes.len() > 1 && self.shapes.iter().all(|one| one == first) => {
                let length = self.shapes.len() as u32;
                Shape::Array(Box::new(self.shapes.swap_remove(0)), length)
            }
            _ => Shape::Tuple(self.shapes),
        }
    }

    fn part<'de, T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, NoShape> {
        let mut shape = unknown();
        let value = seed.deserialize(ShapeSlot { tracer: self.tracer, shape: &mut shape })?;
        self.shapes.push(shape);
        Ok(value)
    }
}

impl<'de> SeqAccess<'de> for &mut TracedParts<'_, '_> {
    type Error = NoShape;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NoShape> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.part(seed).map(Some)
    }
}

impl<'de> MapAccess<'de> for &mut TracedParts<'_, '_> {
    type Error = NoShape;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NoShape> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, NoShape> {
        self.part(seed)
    }
}

/// The values of simple types.
macro_rules! simple {
    ($($deserialize:ident $visit:ident $shape:ident $value:expr;)+) => {
        $(
            fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoShape> {
                *self.shape = Shape::$shape;
                visitor.$visit($value)
            }
        )+
    };
}

/// What no saved type has.
macro_rules! none {
    ($($deserialize:ident)+) => {
        $(
            fn $deserialize<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoShape> {
                Err(NoShape::custom(stringify!($deserialize)))
            }
        )+
    };
}

impl<'de> Deserializer<'de> for ShapeSlot<'_, '_> {
    type Error = NoShape;

    simple! {
        deserialize_bool visit_bool Bool false;
        deserialize_u8 visit_u8 U8 0;
        deserialize_u16 visit_u16 U16 0;
        deserialize_u32 visit_u32 U32 0;
        deserialize_u64 visit_u64 U64 0;
        deserialize_u128 visit_u128 U128 0;
        deserialize_i64 visit_i64 I64 0;
        deserialize_str visit_str Text "";
        deserialize_string visit_str Text "";
    }

    none! {
        deserialize_any deserialize_ignored_any deserialize_identifier deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i128 deserialize_f32 deserialize_f64 deserialize_char deserialize_bytes
        deserialize_byte_buf
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoShape> {
        *self.shape = Shape::Unit;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, NoShape> {
        let mut inner = unknown();
        let value = visitor.visit_some(self.inside(&mut inner))?;
        if matches!(inner, Shape::Option(_) | Shape::Unit) {
            return Err(NoShape::custom("an option of what can be nothing"));
        }
        *self.shape = Shape::Option(Box::new(inner));
        Ok(value)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoShape> {
        let mut parts = TracedParts::new(self.tracer, 1);
        let value = visitor.visit_seq(&mut parts)?;
        let element = parts.shapes.pop().ok_or_else(|| NoShape::custom("an empty sequence"))?;
        *self.shape = Shape::Sequence(Box::new(element));
        Ok(value)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, NoShape> {
        let mut parts = TracedParts::new(self.tracer, 1);
        let value = visitor.visit_map(&mut parts)?;
        let [key, entry] =
            <[Shape; 2]>::try_from(parts.shapes).map_err(|_| NoShape::custom("an empty map"))?;
        *self.shape = Shape::Map(Box::new(key), Box::new(entry));
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        let mut parts = TracedParts::new(self.tracer, length);
        let value = visitor.visit_seq(&mut parts)?;
        *self.shape = parts.tuple();
        Ok(value)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        if let Some(missing) = self.tracer.missing_in(name, None) {
            *self.shape = Shape::Named(name.to_owned());
            return visitor.visit_map(FieldsBut::new(self.tracer, fields, missing));
        }
        let mut parts = TracedParts::new(self.tracer, fields.len());
        let value = visitor.visit_seq(&mut parts)?;
        let shape = parts.named(fields);
        *self.shape = self.tracer.note(name, shape)?;
        Ok(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        let mut variants: Vec<(String, Shape)> = match self.tracer.shapes.0.get(name) {
            Some(Shape::Enum(variants)) => variants.clone(),
            _ => names.iter().map(|name| ((*name).to_owned(), unknown())).collect(),
        };
        let tracer = &*self.tracer;
        let is_wanted = |(variant, shape): &(String, Shape)| match &tracer.without {
            Some(without) if without.of == name => without.variant == Some(variant),
            Some(without) => shape.has(without.of, &tracer.shapes),
            None => !tracer.is_complete(shape),
        };
        let index = variants.iter().position(is_wanted).unwrap_or_default();
        let Some((variant, shape)) = variants.get_mut(index) else {
            return Err(NoShape::custom("an enum without variants"));
        };
        let tracer = &mut *self.tracer;
        let value = visitor.visit_enum(TracedVariant {
            of: name,
            name: variant,
            at: ShapeSlot { tracer, shape },
        })?;
        *self.shape = self.tracer.note(name, Shape::Enum(variants))?;
        Ok(value)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The fields of a struct by name, but for one that is missing.
struct FieldsBut<'a, 't> {
    parts: TracedParts<'a, 't>,
    names: std::slice::Iter<'static, &'static str>,
    missing: &'t str,
}

impl<'a, 't> FieldsBut<'a, 't> {
    fn new(
        tracer: &'a mut ShapeTracer<'t>,
        names: &'static [&'static str],
        missing: &'t str,
    ) -> Self {
        Self { parts: TracedParts::new(tracer, names.len()), names: names.iter(), missing }
    }
}

impl<'de> MapAccess<'de> for FieldsBut<'_, '_> {
    type Error = NoShape;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NoShape> {
        let name = self.names.find(|name| **name != self.missing);
        name.map(|name| seed.deserialize((*name).into_deserializer())).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, NoShape> {
        self.parts.part(seed)
    }
}

/// The variant of an enum that is traced.
struct TracedVariant<'a, 't> {
    of: &'static str,
    name: &'a str,
    at: ShapeSlot<'a, 't>,
}

impl<'de, 'a, 't> EnumAccess<'de> for TracedVariant<'a, 't> {
    type Error = NoShape;
    type Variant = VariantContent<'a, 't>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, VariantContent<'a, 't>), NoShape> {
        let name: StrDeserializer<'_, NoShape> = self.name.into_deserializer();
        let missing = self.at.tracer.missing_in(self.of, Some(self.name));
        Ok((seed.deserialize(name)?, VariantContent { at: self.at, missing }))
    }
}

/// What a variant holds.
struct VariantContent<'a, 't> {
    at: ShapeSlot<'a, 't>,
    /// The field that is missing
    missing: Option<&'t str>,
}

impl<'de> VariantAccess<'de> for VariantContent<'_, '_> {
    type Error = NoShape;

    fn unit_variant(self) -> Result<(), NoShape> {
        *self.at.shape = Shape::Unit;
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, NoShape> {
        seed.deserialize(self.at)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        self.at.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoShape> {
        let ShapeSlot { tracer, shape } = self.at;
        if let Some(missing) = self.missing {
            // The shape is known, and stays what it is.
            return visitor.visit_map(FieldsBut::new(tracer, fields, missing));
        }
        let mut parts = TracedParts::new(tracer, fields.len());
        let value = visitor.visit_seq(&mut parts)?;
        *shape = parts.named(fields);
        Ok(value)
    }
}
