//! Structs that a checkpoint saves field by field, and of which a document leaves out what is not known.

/// A value that a document leaves out while it is unknown: `None`, or an empty text.
pub(crate) trait KnownValue {
    fn is_known(&self) -> bool {
        true
    }
}

impl KnownValue for u64 {}
impl KnownValue for usize {}
impl<T> KnownValue for Vec<T> {}

impl<T> KnownValue for Option<T> {
    fn is_known(&self) -> bool {
        self.is_some()
    }
}

impl KnownValue for Box<str> {
    fn is_known(&self) -> bool {
        !self.is_empty()
    }
}

/// Implements `Serialize` by the fields in their order, and their names in a document.
macro_rules! serialize_what_is_known {
    ($name:ident: $($field:ident as $text:literal),+) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                use $crate::documents::KnownValue;
                use serde::ser::SerializeStruct;
                let is_whole = !to.is_human_readable();
                let mut to = to.serialize_struct(stringify!($name), [$($text),+].len())?;
                $(
                    if is_whole || self.$field.is_known() {
                        to.serialize_field($text, &self.$field)?;
                    }
                )+
                to.end()
            }
        }
    };
}
pub(crate) use serialize_what_is_known;
