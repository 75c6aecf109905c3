//! The values that a metric label can take, as an enum: one declaration gives the variants, their
//! texts and their order.

use std::fmt;

#[doc(hidden)]
pub use schemars;
use schemars::{Schema, json_schema};
#[doc(hidden)]
pub use serde;
use serde::Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, VariantAccess, Visitor};

/// An enum whose variants are the values of one metric label.
///
/// Made by `label_values!`, which keeps the invariant that a variant's discriminant is its index in
/// [`LabelValue::ALL`]: arrays of counters are indexed by it.
pub trait LabelValue: Copy + 'static {
    /// Every value, in the order in which a scrape shows them.
    const ALL: &'static [Self];

    /// The text of the value in an exposition and in a checkpoint.
    fn as_str(self) -> &'static str;

    /// The index in [`LabelValue::ALL`].
    fn index(self) -> usize;

    /// Whether its series is exposed at 0, and not only once something was counted.
    fn is_exposed_at_zero(self) -> bool {
        true
    }

    /// The value with this text.
    fn from_text(text: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|value| value.as_str() == text)
    }
}

/// A [`LabelValue`] whose texts are known to the compiler, as serde wants the names of variants and fields.
pub trait LabelTexts: LabelValue {
    /// The texts, in the order of [`LabelValue::ALL`].
    const TEXTS: &'static [&'static str];
}

/// An error quotes at most so many bytes of a text that is no value.
const MOST_SHOWN: usize = 80;

/// Reads a value of the type `name`: a document has its text, a checkpoint a variant.
///
/// # Errors
/// The errors of the deserializer, and a text that is no value.
#[doc(hidden)]
pub fn deserialize<'de, T: LabelTexts, D: Deserializer<'de>>(
    name: &'static str,
    from: D,
) -> Result<T, D::Error> {
    let what = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
    let values = NamedValues { what, names: T::TEXTS, all: T::ALL };
    match from.is_human_readable() {
        true => from.deserialize_str(values),
        false => from.deserialize_enum(name, T::TEXTS, values),
    }
}

/// Reads one of the values `all` of the type `name`, which a checkpoint has as variants with the names `names`.
///
/// # Errors
/// The errors of the deserializer, and a name that is no value's.
pub(crate) fn deserialize_variant<'de, T: Copy, D: Deserializer<'de>>(
    name: &'static str,
    names: &'static [&'static str],
    all: &'static [T],
    from: D,
) -> Result<T, D::Error> {
    from.deserialize_enum(name, names, NamedValues { what: name, names, all })
}

/// Values with their names, of which one is read.
struct NamedValues<T: 'static> {
    what: &'static str,
    names: &'static [&'static str],
    all: &'static [T],
}

impl<'de, T: Copy> Visitor<'de> for NamedValues<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text of a label value")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        let (value, variant) = data.variant_seed(self)?;
        variant.unit_variant()?;
        Ok(value)
    }

    fn visit_u64<E: Error>(self, index: u64) -> Result<T, E> {
        let value = usize::try_from(index).ok().and_then(|index| self.all.get(index));
        value.copied().ok_or_else(|| E::custom(format_args!("no {} has index {index}", self.what)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let position = self.names.iter().position(|name| *name == text);
        let value = position.and_then(|position| self.all.get(position));
        value.copied().ok_or_else(|| {
            let text = crate::pod::text::cut(text, MOST_SHOWN);
            E::custom(format_args!("no {} is '{text}'", self.what))
        })
    }
}

impl<'de, T: Copy> DeserializeSeed<'de> for NamedValues<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_identifier(self)
    }
}

/// The schema of a value's text.
#[doc(hidden)]
pub fn schema<T: LabelValue>() -> Schema {
    let texts: Vec<&str> = T::ALL.iter().map(|value| value.as_str()).collect();
    json_schema!({ "enum": texts })
}

/// Implements serde for a [`LabelValue`], which is written as a variant with its text.
#[macro_export]
macro_rules! serde_by_text {
    ($name:ty) => {
        impl $crate::label_value::serde::Serialize for $name {
            fn serialize<S: $crate::label_value::serde::Serializer>(
                &self,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                let value = *self;
                to.serialize_unit_variant(
                    stringify!($name),
                    $crate::label_value::LabelValue::index(value) as u32,
                    $crate::label_value::LabelValue::as_str(value),
                )
            }
        }

        impl<'de> $crate::label_value::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::label_value::serde::Deserializer<'de>>(
                from: D,
            ) -> Result<Self, D::Error> {
                $crate::label_value::deserialize(stringify!($name), from)
            }
        }

        impl $crate::label_value::LabelTexts for $name {
            const TEXTS: &'static [&'static str] = &{
                let mut texts = [""; <$name>::ALL.len()];
                let mut index = 0;
                while index < texts.len() {
                    texts[index] = <$name>::as_str(<$name>::ALL[index]);
                    index += 1;
                }
                texts
            };
        }

        impl $crate::label_value::schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(
                _: &mut $crate::label_value::schemars::SchemaGenerator,
            ) -> $crate::label_value::schemars::Schema {
                $crate::label_value::schema::<Self>()
            }
        }
    };
}

/// Declares an enum of label values:
///
/// ```
/// podinit_core::label_values! {
///     /// Why a request was refused.
///     pub enum Refusal {
///         /// No credentials were given
///         Missing => "missing",
///         /// The credentials are wrong
///         Wrong => "wrong",
///     }
/// }
/// assert_eq!(Refusal::Wrong.as_str(), "wrong");
/// assert_eq!(Refusal::ALL.len(), 2);
/// ```
///
/// The enum derives what a plain value needs, and has `ALL` (an array, so that its length can size
/// other arrays) and `as_str` as inherent constants and functions, besides [`LabelValue`] and serde's traits.
#[macro_export]
macro_rules! label_values {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident => $text:expr ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $name {
            $( $(#[$variant_meta])* $variant ),+
        }

        impl $name {
            /// Every value, in the order of the discriminants.
            #[allow(dead_code, reason = "some enums are only used through LabelValue")]
            $vis const ALL: [Self; [$( $text ),+].len()] = [$( Self::$variant ),+];

            /// The text of the value.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $text ),+
                }
            }
        }

        impl $crate::label_value::LabelValue for $name {
            const ALL: &'static [Self] = &[$( Self::$variant ),+];

            fn as_str(self) -> &'static str {
                $name::as_str(self)
            }

            fn index(self) -> usize {
                self as usize
            }
        }

        $crate::serde_by_text!($name);
    };
}

#[cfg(test)]
mod tests {
    use super::LabelValue;

    label_values! {
        /// Two values.
        enum Answer {
            /// One
            Yes => "yes",
            /// The other
            No => "no",
        }
    }

    #[test]
    fn an_index_is_the_position_in_all() {
        for (position, value) in <Answer as LabelValue>::ALL.iter().enumerate() {
            assert_eq!(value.index(), position);
            assert_eq!(Answer::ALL[position], *value);
        }
    }

    #[test]
    fn a_text_leads_back_to_its_value() {
        assert_eq!(Answer::from_text("no"), Some(Answer::No));
        assert_eq!(Answer::from_text("perhaps"), None);
    }
}
