//! A value of any type, to be changed.

use std::fmt;

use serde::de::{EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::checkpoint) enum Tree {
    Nil,
    Bool(bool),
    Number(i128),
    Text(String),
    Bytes(Vec<u8>),
    Some(Box<Tree>),
    List(Vec<Tree>),
    Fields(Vec<(Tree, Tree)>),
    Variant(String, Box<Tree>),
}

impl Tree {
    /// A text.
    pub(in crate::checkpoint) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// The fields, of a struct: a map has other keys.
    pub(in crate::checkpoint) fn fields(&mut self) -> Option<&mut Vec<(Self, Self)>> {
        match self {
            Self::Fields(fields) => {
                let is_field = |(key, _): &(Self, Self)| matches!(key, Self::Text(_));
                fields.iter().all(is_field).then_some(fields)
            }
            _ => None,
        }
    }

    /// A field of a struct.
    pub(in crate::checkpoint) fn field(&mut self, name: &str) -> Option<&mut Self> {
        let mut fields = self.fields()?.iter_mut();
        Some(&mut fields.find(|(key, _)| *key == Self::text(name))?.1)
    }

    /// Calls `change` with this value and all in it, and the way to each of them: the fields, and `[]` for an element.
    pub(in crate::checkpoint) fn walk(
        &mut self,
        way: &str,
        change: &mut impl FnMut(&str, &mut Self),
    ) {
        change(way, self);
        match self {
            Self::Some(inside) => inside.walk(way, change),
            Self::Variant(name, inside) => inside.walk(&format!("{way}.{name}"), change),
            Self::List(all) => all.iter_mut().for_each(|one| one.walk(&format!("{way}[]"), change)),
            Self::Fields(fields) => {
                for (key, value) in fields {
                    let way = match key {
                        Self::Text(name) => format!("{way}.{name}"),
                        _ => format!("{way}[]"),
                    };
                    value.walk(&way, change);
                }
            }
            _ => {}
        }
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nil => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Number(number) => match (u128::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => to.serialize_u128(number),
                (_, number) => to.serialize_i64(number.unwrap_or_default()),
            },
            Self::Text(text) => to.serialize_str(text),
            Self::Bytes(bytes) => to.serialize_bytes(bytes),
            Self::Some(inside) => to.serialize_some(inside),
            Self::List(all) => all.serialize(to),
            Self::Fields(fields) => {
                let mut to = to.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    to.serialize_entry(key, value)?;
                }
                to.end()
            }
            Self::Variant(name, inside) => {
                to.serialize_newtype_variant("", 0, name.clone().leak(), inside)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Tree, E> {
        Ok(Tree::Number(value.cast_signed()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::text(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Tree, E> {
        Ok(Tree::Bytes(value.to_vec()))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Tree, D::Error> {
        Tree::deserialize(from).map(|inside| Tree::Some(Box::new(inside)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = from.next_element()? {
            all.push(one);
        }
        Ok(Tree::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = from.next_entry()? {
            all.push(one);
        }
        Ok(Tree::Fields(all))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Tree, A::Error> {
        let (name, data) = from.variant::<String>()?;
        Ok(Tree::Variant(name, Box::new(data.newtype_variant()?)))
    }
}
