//! Values and shapes, to be changed in tests.

#![allow(clippy::unwrap_used)]

use ciborium::Value;
use serde::de::DeserializeSeed;

use super::shapes::{SavedType, Shape, Shapes};
use super::value::WantedShape;

/// A name in the shapes: of a type, and of a field or a variant of it.
pub(crate) type Name = (String, String);

impl Shapes {
    /// All fields of structs, and all variants of enums.
    pub(crate) fn names(&self) -> (Vec<Name>, Vec<Name>) {
        let (mut fields, mut variants) = (Vec::new(), Vec::new());
        for (of, shape) in &self.0 {
            let names = |all: &[(String, Shape)]| {
                all.iter().map(|(name, _)| (of.clone(), name.clone())).collect::<Vec<_>>()
            };
            match shape {
                Shape::Struct(all) => fields.extend(names(all)),
                Shape::Enum(all) => variants.extend(names(all)),
                _ => {}
            }
        }
        (fields, variants)
    }

    /// The fields whose value is of a type, where there is one.
    pub(crate) fn fields_of(&self, name: &str) -> Vec<Name> {
        let is_it = |shape: &Shape| matches!(shape, Shape::Named(other) if other == name);
        let structs = self.0.iter().filter_map(|(of, shape)| match shape {
            Shape::Struct(fields) => Some((of, fields)),
            _ => None,
        });
        let fields = structs.flat_map(|(of, fields)| {
            let fields = fields.iter().filter(|(_, shape)| match shape {
                Shape::Option(inner) => is_it(inner),
                shape => is_it(shape),
            });
            fields.map(|(field, _)| (of.clone(), field.clone()))
        });
        fields.collect()
    }

    /// Gives a field or a variant a name that no podinit has.
    pub(crate) fn rename(&mut self, (of, name): &Name) {
        let Some(Shape::Struct(all) | Shape::Enum(all)) = self.0.get_mut(of) else {
            return;
        };
        for (other, _) in all.iter_mut().filter(|(other, _)| other == name) {
            other.push_str(" of a later version");
        }
    }

    /// The value of a type with which `bytes` begin. Takes it off them.
    pub(crate) fn take<T: SavedType>(&self, bytes: &mut &[u8]) -> Value {
        let shape = Shape::Named(T::NAME.to_owned());
        let mut from = postcard::Deserializer::from_bytes(bytes);
        let value = WantedShape { shapes: self, shape: &shape }.deserialize(&mut from).unwrap();
        *bytes = from.finalize().unwrap();
        value
    }

    /// Calls `change` with all structs and enums in a value of a type, and the names of their types.
    pub(crate) fn walk(
        &self,
        of: &str,
        value: &mut Value,
        change: &mut impl FnMut(&str, &mut Value),
    ) {
        change(of, value);
        self.walk_shape(&self.0[of], value, change);
    }

    fn walk_shape(
        &self,
        shape: &Shape,
        value: &mut Value,
        change: &mut impl FnMut(&str, &mut Value),
    ) {
        match (shape, value) {
            (Shape::Named(name), value) => self.walk(name, value, change),
            (Shape::Option(inner), value) if !value.is_null() => {
                self.walk_shape(inner, value, change);
            }
            (Shape::Sequence(inner) | Shape::Array(inner, _), Value::Array(all)) => {
                all.iter_mut().for_each(|one| self.walk_shape(inner, one, change));
            }
            (Shape::Tuple(shapes), Value::Array(all)) => {
                shapes.iter().zip(all).for_each(|(shape, one)| self.walk_shape(shape, one, change));
            }
            (Shape::Map(key, entry), Value::Map(all)) => {
                for (name, one) in all {
                    self.walk_shape(key, name, change);
                    self.walk_shape(entry, one, change);
                }
            }
            (Shape::Struct(shapes) | Shape::Enum(shapes), Value::Map(all)) => {
                for (name, one) in all {
                    let shape = shapes.iter().find(|(other, _)| Some(&**other) == name.as_text());
                    if let Some((_, shape)) = shape {
                        self.walk_shape(shape, one, change);
                    }
                }
            }
            _ => {}
        }
    }
}
