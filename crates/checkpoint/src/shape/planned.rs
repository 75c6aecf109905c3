//! Gives the values of a file to the types of this podinit, by a plan.

use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::plan::{PlannedField, ReadMethod, ReadPlan};
use super::shapes::{Corrupt, Shape};
use super::walk::{AnyNumber, PlanWalk};

type AsItStands<'de> = postcard::Deserializer<'de, postcard::de_flavors::Slice<'de>>;

/// The next value in the bytes, with its plan.
pub(super) struct PlannedDeserializer<'w, 'de> {
    pub(super) walk: &'w mut PlanWalk<'de>,
    pub(super) plan: &'w ReadPlan<'de>,
}

impl<'de> PlanWalk<'de> {
    /// Reads a value.
    pub(super) fn read<T: DeserializeSeed<'de>>(
        &mut self,
        plan: &ReadPlan<'de>,
        seed: T,
    ) -> Result<T::Value, Corrupt> {
        let plan = self.unwrapped(plan)?;
        match plan.how {
            ReadMethod::Same => self.as_it_stands(|from| seed.deserialize(from)),
            _ => seed.deserialize(PlannedDeserializer { walk: self, plan }),
        }
    }

    /// The plan of the value that an option of the file has, where the value is read in place of the option.
    fn unwrapped<'p>(&mut self, mut plan: &'p ReadPlan<'de>) -> Result<&'p ReadPlan<'de>, Corrupt> {
        while let ReadMethod::Unwrapped(inner) = &plan.how {
            if !self.take()? {
                return Err(Corrupt::new("it has no value"));
            }
            plan = inner;
        }
        Ok(plan)
    }

    /// Reads the value of a place, and says where it fails.
    fn read_place<T: DeserializeSeed<'de>>(
        &mut self,
        plan: &ReadPlan<'de>,
        seed: T,
    ) -> Result<T::Value, Corrupt> {
        let place = self.next_place - 1;
        let read = self.read(plan, seed);
        if read.is_err() {
            self.failed.get_or_insert(place);
        }
        read
    }

    /// Reads a value of a type that has the same shapes.
    fn as_it_stands<T>(
        &mut self,
        read: impl FnOnce(&mut AsItStands<'de>) -> postcard::Result<T>,
    ) -> Result<T, Corrupt> {
        let mut from = postcard::Deserializer::from_bytes(self.rest);
        let value = read(&mut from).map_err(Corrupt::custom)?;
        self.rest = from.finalize().map_err(Corrupt::custom)?;
        Ok(value)
    }

    /// Reads an option that has a value.
    fn read_some<V: Visitor<'de>>(
        &mut self,
        plan: &ReadPlan<'de>,
        visitor: V,
    ) -> Result<V::Value, Corrupt> {
        match plan.how {
            ReadMethod::Same => self.as_it_stands(|from| visitor.visit_some(from)),
            _ => visitor.visit_some(PlannedDeserializer { walk: self, plan }),
        }
    }
}

impl<'de> Deserializer<'de> for PlannedDeserializer<'_, 'de> {
    type Error = Corrupt;

    /// Every type asks for what the plan was made for.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Corrupt> {
        let Self { walk, plan } = self;
        match &plan.how {
            ReadMethod::Same | ReadMethod::Never | ReadMethod::Unwrapped(_) => {
                Err(Corrupt::new("it means nothing"))
            }
            ReadMethod::Simple => match plan.theirs {
                Shape::Bool => visitor.visit_bool(walk.take()?),
                Shape::Text => visitor.visit_borrowed_str(walk.take()?),
                _ => visitor.visit_unit(),
            },
            ReadMethod::Number(_) => match walk.take_number(plan.theirs)? {
                AnyNumber::Signed(number) => visitor.visit_i64(number),
                AnyNumber::Unsigned(number) => match u64::try_from(number) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => visitor.visit_u128(number),
                },
            },
            ReadMethod::Option(inner) => match walk.take()? {
                true => walk.read_some(inner, visitor),
                false => visitor.visit_none(),
            },
            ReadMethod::Wrapped(inner) => walk.read_some(inner, visitor),
            ReadMethod::Variant(texts) => match walk.take_variant(texts)? {
                Some(text) => visitor.visit_borrowed_str(text),
                None => Err(Corrupt::new("a variant with a content is no text")),
            },
            ReadMethod::Text => {
                let text: &str = walk.take()?;
                visitor.visit_enum(text.into_deserializer())
            }
            ReadMethod::Elements(element) => {
                let left = match plan.theirs {
                    Shape::Array(_, length) => u64::from(*length),
                    _ => walk.take()?,
                };
                visitor.visit_seq(SeqElements { walk, element, left })
            }
            ReadMethod::Tuple(parts) => {
                visitor.visit_seq(TupleElements { walk, parts: parts.iter() })
            }
            ReadMethod::Map(key, value) => {
                let left = walk.take()?;
                visitor.visit_map(MapEntries { walk, key, value, left })
            }
            ReadMethod::Struct(fields) => {
                visitor.visit_map(StructFields { walk, fields: fields.iter(), value: None })
            }
            ReadMethod::Enum(variants) => {
                let (name, content) = walk.take_variant(variants)?;
                visitor.visit_enum(EnumVariant { name, content: Self { walk, plan: content } })
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Corrupt> {
        visitor.visit_newtype_struct(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The elements of a sequence, without those that mean nothing.
struct SeqElements<'w, 'de> {
    walk: &'w mut PlanWalk<'de>,
    element: &'w ReadPlan<'de>,
    left: u64,
}

impl<'de> SeqAccess<'de> for SeqElements<'_, 'de> {
    type Error = Corrupt;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Corrupt> {
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            if self.walk.enter(&[self.element])? {
                return self.walk.read_place(self.element, seed).map(Some);
            }
        }
        Ok(None)
    }
}

/// The parts of a tuple.
struct TupleElements<'w, 'de> {
    walk: &'w mut PlanWalk<'de>,
    parts: slice::Iter<'w, std::rc::Rc<ReadPlan<'de>>>,
}

impl<'de> SeqAccess<'de> for TupleElements<'_, 'de> {
    type Error = Corrupt;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Corrupt> {
        self.parts.next().map(|part| self.walk.read(part, seed)).transpose()
    }
}

/// The entries of a map, without those that mean nothing.
struct MapEntries<'w, 'de> {
    walk: &'w mut PlanWalk<'de>,
    key: &'w ReadPlan<'de>,
    value: &'w ReadPlan<'de>,
    left: u64,
}

impl<'de> MapAccess<'de> for MapEntries<'_, 'de> {
    type Error = Corrupt;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Corrupt> {
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            if self.walk.enter(&[self.key, self.value])? {
                return self.walk.read_place(self.key, seed).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Corrupt> {
        self.walk.read_place(self.value, seed)
    }
}

/// The fields of a struct, without those that mean nothing.
struct StructFields<'w, 'de> {
    walk: &'w mut PlanWalk<'de>,
    fields: slice::Iter<'w, PlannedField<'de>>,
    /// What comes behind the name of a field
    value: Option<&'w ReadPlan<'de>>,
}

impl<'de> MapAccess<'de> for StructFields<'_, 'de> {
    type Error = Corrupt;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Corrupt> {
        for PlannedField { name, plan, .. } in self.fields.by_ref() {
            if self.walk.enter(&[plan])? {
                self.value = Some(plan);
                let name: StrDeserializer<'_, Corrupt> = name.into_deserializer();
                return seed.deserialize(name).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Corrupt> {
        let plan = self.value.take().ok_or_else(|| Corrupt::new("a value without its name"))?;
        self.walk.read_place(plan, seed)
    }
}

/// A variant of an enum.
struct EnumVariant<'w, 'de> {
    name: &'w str,
    content: PlannedDeserializer<'w, 'de>,
}

impl<'w, 'de> EnumAccess<'de> for EnumVariant<'w, 'de> {
    type Error = Corrupt;
    type Variant = PlannedDeserializer<'w, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, PlannedDeserializer<'w, 'de>), Corrupt> {
        let name: StrDeserializer<'_, Corrupt> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for PlannedDeserializer<'_, 'de> {
    type Error = Corrupt;

    fn unit_variant(self) -> Result<(), Corrupt> {
        match self.plan.theirs {
            Shape::Unit => Ok(()),
            _ => Err(Corrupt::new("a variant has a content")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Corrupt> {
        self.walk.read(self.plan, seed)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Corrupt> {
        let Self { walk, plan } = self;
        let plan = walk.unwrapped(plan)?;
        match plan.how {
            ReadMethod::Same => walk.as_it_stands(|from| from.deserialize_tuple(length, visitor)),
            _ => PlannedDeserializer { walk, plan }.deserialize_any(visitor),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Corrupt> {
        self.tuple_variant(fields.len(), visitor)
    }
}
