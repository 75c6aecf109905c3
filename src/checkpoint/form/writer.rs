//! Writes values.

use std::fmt;

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::tables::Tables;
use super::tags::{
    BILLION, BYTES, BYTES_16, FALSE, GIGA, LATER_NAME, LATER_SHAPE, LATER_VARIANT, LONG_SEQUENCE,
    LONG_TEXT, MAP, NAME, NEGATIVE, NIL, NUMBER, NUMBER_1, NUMBER_2, NUMBER_4, NUMBER_8, NUMBER_16,
    SEQUENCE, SHAPE, SHARED_VALUE, SOME, TEXT, TRUE, VARIANT, push_varint,
};
use podinit_core::saved::SHARED;

/// What the form has no value for: numbers with a fraction, and sequences whose length is not known before.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::checkpoint) struct NotWritten(String);

impl serde::ser::Error for NotWritten {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self(what.to_string())
    }
}

/// Writes the values of a section.
#[derive(Debug)]
pub(in crate::checkpoint) struct ValueWriter {
    tables: Tables,
    /// Where the section begins
    begin: usize,
}

impl ValueWriter {
    /// A section without values, which begins here.
    pub(in crate::checkpoint) fn begin(out: &[u8]) -> Self {
        Self { tables: Tables::default(), begin: out.len() }
    }

    /// Appends a value.
    #[expect(clippy::expect_used, reason = "no saved type has what the form has no value for")]
    pub(in crate::checkpoint) fn append(&mut self, out: &mut Vec<u8>, value: &impl Serialize) {
        let mut to = To { out, tables: &mut self.tables };
        value.serialize(&mut to).expect("a saved value can be written");
    }

    /// Ends the section.
    pub(in crate::checkpoint) fn finish(self, out: &mut Vec<u8>) {
        let values = (out.len() - self.begin) as u64;
        self.tables.write(out);
        out.extend(values.to_le_bytes());
    }
}

struct To<'a> {
    out: &'a mut Vec<u8>,
    tables: &'a mut Tables,
}

impl To<'_> {
    /// Writes a first byte that says which, where that is less than `room`, or another one and the number.
    fn head(&mut self, first: u8, room: u64, later: u8, number: u64) {
        if number < room {
            self.out.push(first + number as u8);
        } else {
            self.out.push(later);
            push_varint(self.out, number);
        }
    }

    fn number(&mut self, number: u64) {
        if let Ok(small) = u8::try_from(number) {
            if small < TEXT {
                self.out.push(NUMBER + small);
            } else {
                self.out.extend([NUMBER_1, small]);
            }
        } else if let Ok(number) = u16::try_from(number) {
            self.out.push(NUMBER_2);
            self.out.extend(number.to_le_bytes());
        } else if let Ok(number) = u32::try_from(number) {
            self.out.push(NUMBER_4);
            self.out.extend(number.to_le_bytes());
        } else if let (Ok(billions), 0) = (u32::try_from(number / BILLION), number % BILLION) {
            self.out.push(GIGA);
            self.out.extend(billions.to_le_bytes());
        } else {
            self.out.push(NUMBER_8);
            self.out.extend(number.to_le_bytes());
        }
    }

    fn variant(&mut self, name: &'static str) {
        let name = self.tables.name(name);
        self.head(VARIANT, 8, LATER_VARIANT, u64::from(name));
    }

    fn sequence(&mut self, length: usize) {
        self.head(SEQUENCE, 8, LONG_SEQUENCE, length as u64);
    }
}

fn known(length: Option<usize>) -> Result<usize, NotWritten> {
    length.ok_or_else(|| NotWritten("a length that is not known before".to_owned()))
}

/// A struct that is being written: where it begins, and how far it is.
struct Fields<'a, 'b> {
    to: &'a mut To<'b>,
    begin: usize,
    step: usize,
}

impl<'a, 'b> Fields<'a, 'b> {
    fn of(to: &'a mut To<'b>, name: &'static str) -> Self {
        let (begin, step) = (to.out.len(), to.tables.root(name));
        // The shape is known at the end.
        to.out.push(SHAPE);
        Self { to, begin, step }
    }

    fn end(self) {
        const ROOM: u32 = (u8::MAX - SHAPE) as u32 + 1;
        let shape = self.to.tables.shape(self.step);
        if shape < ROOM {
            self.to.out[self.begin] = SHAPE + shape as u8;
            return;
        }
        self.to.out[self.begin] = LATER_SHAPE;
        let mut number = Vec::new();
        push_varint(&mut number, u64::from(shape));
        let after = self.begin + 1;
        self.to.out.splice(after..after, number);
    }
}

impl<'a, 'b> Serializer for &'a mut To<'b> {
    type Ok = ();
    type Error = NotWritten;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Fields<'a, 'b>;
    type SerializeStructVariant = Fields<'a, 'b>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), NotWritten> {
        self.out.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), NotWritten> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), NotWritten> {
        match u64::try_from(value) {
            Ok(number) => self.number(number),
            Err(_) => {
                self.out.push(NEGATIVE);
                self.out.extend((!value).to_le_bytes());
            }
        }
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), NotWritten> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), NotWritten> {
        self.number(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), NotWritten> {
        match u64::try_from(value) {
            Ok(number) => self.number(number),
            Err(_) => {
                self.out.push(NUMBER_16);
                self.out.extend(value.to_le_bytes());
            }
        }
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), NotWritten> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), NotWritten> {
        Err(NotWritten(format!("a number with a fraction, {value}")))
    }

    fn serialize_char(self, value: char) -> Result<(), NotWritten> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), NotWritten> {
        self.head(TEXT, 32, LONG_TEXT, value.len() as u64);
        self.out.extend(value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), NotWritten> {
        if value.len() == 16 {
            self.out.push(BYTES_16);
        } else {
            self.out.push(BYTES);
            push_varint(self.out, value.len() as u64);
        }
        self.out.extend(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), NotWritten> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotWritten> {
        let begin = self.out.len();
        value.serialize(&mut *self)?;
        if [NIL, SOME].contains(&self.out[begin]) {
            self.out.insert(begin, SOME);
        }
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), NotWritten> {
        self.out.push(NIL);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NotWritten> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NotWritten> {
        let name = self.tables.name(variant);
        self.head(NAME, 32, LATER_NAME, u64::from(name));
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), NotWritten> {
        let begin = self.out.len();
        value.serialize(&mut *self)?;
        // A number of a shared value takes as much.
        if name == SHARED && self.out.len() > begin + 2 {
            let number = self.tables.shared(&self.out[begin..]);
            self.out.truncate(begin);
            self.out.push(SHARED_VALUE);
            push_varint(self.out, u64::from(number));
        }
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotWritten> {
        self.variant(variant);
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, NotWritten> {
        self.sequence(known(length)?);
        Ok(self)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self, NotWritten> {
        self.sequence(length);
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Self, NotWritten> {
        self.serialize_tuple(length)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self, NotWritten> {
        self.variant(variant);
        self.serialize_tuple(length)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, NotWritten> {
        self.out.push(MAP);
        push_varint(self.out, known(length)? as u64);
        Ok(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a, 'b>, NotWritten> {
        Ok(Fields::of(self, name))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Fields<'a, 'b>, NotWritten> {
        self.variant(variant);
        self.serialize_struct(name, length)
    }
}

/// Elements stand one after the other.
macro_rules! elements {
    ($($what:ident: $element:ident;)+) => {
        $(
            impl $what for &mut To<'_> {
                type Ok = ();
                type Error = NotWritten;

                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
                    value.serialize(&mut **self)
                }

                fn end(self) -> Result<(), NotWritten> {
                    Ok(())
                }
            }
        )+
    };
}

elements! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

impl SerializeMap for &mut To<'_> {
    type Ok = ();
    type Error = NotWritten;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotWritten> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotWritten> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), NotWritten> {
        Ok(())
    }
}

/// The fields of a struct, also of a variant.
macro_rules! fields {
    ($($what:ident),+) => {
        $(
            impl $what for Fields<'_, '_> {
                type Ok = ();
                type Error = NotWritten;

                fn serialize_field<T: Serialize + ?Sized>(
                    &mut self,
                    name: &'static str,
                    value: &T,
                ) -> Result<(), NotWritten> {
                    self.step = self.to.tables.step(self.step, name);
                    value.serialize(&mut *self.to)
                }

                fn end(self) -> Result<(), NotWritten> {
                    Fields::end(self);
                    Ok(())
                }
            }
        )+
    };
}

fields!(SerializeStruct, SerializeStructVariant);
