//! Reads values.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use super::tags::{
    BILLION, BYTES, BYTES_16, FALSE, GIGA, LATER_NAME, LATER_SHAPE, LATER_VARIANT, LONG_SEQUENCE,
    LONG_TEXT, MAP, NAME, NEGATIVE, NIL, NUMBER_1, NUMBER_2, NUMBER_4, NUMBER_8, NUMBER_16,
    SEQUENCE, SHAPE, SHARED_VALUE, SOME, TEXT, TRUE, VARIANT,
};

/// Values are no deeper in each other than this.
const MOST_DEPTH: u8 = 32;
/// A value is tried to be read so often, each time without one more part of it.
const MOST_ATTEMPTS: usize = 1_000;

/// The bytes of a section are not those of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(in crate::checkpoint) struct Corrupt(&'static str);

/// Why a value cannot be read.
#[derive(Debug)]
pub(in crate::checkpoint) enum Fault {
    Corrupt(Corrupt),
    /// It means nothing to this podinit: why, and which part of it, once that is known
    Unknown(Box<str>, Option<Part>),
}

/// A part of a value that means nothing to this podinit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::checkpoint) enum Part {
    /// Each value of a field, or in it, that is this name
    Named(Field, u32),
    /// What begins with this byte
    At(usize),
}

/// A field of a shape.
type Field = (usize, usize);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt(what) => what.fmt(f),
            Self::Unknown(why, _) => f.write_str(why),
        }
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Self::Unknown(why.to_string().into(), None)
    }
}

const fn corrupt<T>(what: &'static str) -> Result<T, Fault> {
    Err(Fault::Corrupt(Corrupt(what)))
}

/// The values of a section, one after the other.
#[derive(Debug)]
pub(in crate::checkpoint) struct Values<'a> {
    bytes: &'a [u8],
    /// The next byte to read
    at: usize,
    /// Where the values end
    end: usize,
    names: Vec<&'a str>,
    shared: Vec<Range<usize>>,
    shapes: Vec<Box<[usize]>>,
    depth: u8,
    /// The field that is being read, or the one around it
    field: Field,
    unknown: HashSet<Part>,
    skipped: u64,
}

impl<'a> Values<'a> {
    /// The values in the bytes of a section.
    ///
    /// # Errors
    /// If they have no end, or no names.
    pub(in crate::checkpoint) fn of(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let Some((bytes, end)) = bytes.split_last_chunk() else {
            return Err(Corrupt("it has no end"));
        };
        let end = usize::try_from(u64::from_le_bytes(*end)).unwrap_or(usize::MAX);
        let mut values = Self {
            bytes,
            at: end,
            end,
            names: Vec::new(),
            shared: Vec::new(),
            shapes: Vec::new(),
            depth: 0,
            field: (usize::MAX, 0),
            unknown: HashSet::new(),
            skipped: 0,
        };
        values.read_tables().map_err(|_| Corrupt("its names cannot be read"))?;
        values.at = 0;
        Ok(values)
    }

    fn read_tables(&mut self) -> Result<(), Fault> {
        for _ in 0..self.varint()? {
            let name = self.text()?;
            self.names.push(name);
        }
        for _ in 0..self.varint()? {
            let length = self.length()?;
            let begin = self.at;
            self.take(length)?;
            self.shared.push(begin..self.at);
        }
        for _ in 0..self.varint()? {
            let fields = (0..self.varint()?).map(|_| {
                let name = self.length()?;
                if name < self.names.len() { Ok(name) } else { corrupt("no such name") }
            });
            let fields = fields.collect::<Result<_, _>>()?;
            self.shapes.push(fields);
        }
        if self.at == self.bytes.len() { Ok(()) } else { corrupt("bytes are left over") }
    }

    /// Whether all values have been read.
    pub(in crate::checkpoint) const fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    /// How many parts of the values that were read this podinit did not know.
    pub(in crate::checkpoint) const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next value: `None` after the last one, and within for one that means nothing to this podinit, which is
    /// skipped and counted.
    ///
    /// # Errors
    /// If the bytes are no value.
    pub(in crate::checkpoint) fn next<T: Deserialize<'a>>(
        &mut self,
    ) -> Result<Option<Option<T>>, Corrupt> {
        if self.at >= self.end {
            return if self.at == self.end { Ok(None) } else { Err(Corrupt("a value has no end")) };
        }
        let (begin, skipped) = (self.at, self.skipped);
        for _ in 0..MOST_ATTEMPTS {
            (self.at, self.skipped) = (begin, skipped);
            match T::deserialize(&mut *self) {
                Ok(value) => return Ok(Some(Some(value))),
                Err(Fault::Corrupt(what)) => return Err(what),
                Err(Fault::Unknown(_, part)) => {
                    self.depth = 0;
                    if !part.is_some_and(|part| self.unknown.insert(part)) {
                        break;
                    }
                }
            }
        }
        self.at = begin;
        match self.skip() {
            Ok(()) => self.skipped = skipped + 1,
            Err(_) => return Err(Corrupt("a value cannot be read")),
        }
        Ok(Some(None))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(taken) = rest.get(..length) else {
            return corrupt("it ends early");
        };
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let taken = self.take(N)?;
        taken.try_into().or(corrupt("it ends early"))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        self.array().map(|[byte]| byte)
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.bytes.get(self.at).copied().map_or(corrupt("it ends early"), Ok)
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        corrupt("a length is too long")
    }

    fn length(&mut self) -> Result<usize, Fault> {
        self.varint().map(|length| usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn text(&mut self) -> Result<&'a str, Fault> {
        let length = self.length()?;
        self.text_of(length)
    }

    fn text_of(&mut self, length: usize) -> Result<&'a str, Fault> {
        str::from_utf8(self.take(length)?).or(corrupt("a text is not UTF-8"))
    }

    /// The fields of a shape, and its number.
    fn shape(&mut self, first: u8) -> Result<(usize, usize), Fault> {
        let shape = match first {
            LATER_SHAPE => self.length()?,
            first => usize::from(first - SHAPE),
        };
        let fields = self.shapes.get(shape).map(|fields| fields.len());
        fields.map_or(corrupt("no such shape"), |fields| Ok((shape, fields)))
    }

    fn name(&mut self, first: u8) -> Result<(&'a str, usize), Fault> {
        let number = match first {
            LATER_NAME | LATER_VARIANT => self.length()?,
            VARIANT..NIL => usize::from(first - VARIANT),
            first => usize::from(first - NAME),
        };
        let name = self.names.get(number);
        name.map_or(corrupt("no such name"), |name| Ok((*name, number)))
    }

    fn number(&mut self, first: u8) -> Result<u64, Fault> {
        Ok(match first {
            NUMBER_1 => u64::from(self.byte()?),
            NUMBER_2 => u64::from(u16::from_le_bytes(self.array()?)),
            NUMBER_4 => u64::from(u32::from_le_bytes(self.array()?)),
            GIGA => u64::from(u32::from_le_bytes(self.array()?)) * BILLION,
            NUMBER_8 | NEGATIVE => u64::from_le_bytes(self.array()?),
            small => u64::from(small),
        })
    }

    /// Skips a value, whatever it is.
    fn skip(&mut self) -> Result<(), Fault> {
        let mut left = 1_usize;
        while left > 0 {
            left -= 1;
            let inside = match self.byte()? {
                ..TEXT | NIL | FALSE | TRUE => 0,
                first @ TEXT..NAME => self.take(usize::from(first - TEXT)).map(|_| 0)?,
                first @ NAME..SEQUENCE => self.name(first).map(|_| 0)?,
                first @ SEQUENCE..VARIANT => usize::from(first - SEQUENCE),
                first @ (VARIANT..NIL | LATER_VARIANT) => self.name(first).map(|_| 1)?,
                first @ (NUMBER_1 | NUMBER_2 | NUMBER_4 | NUMBER_8 | GIGA | NEGATIVE) => {
                    self.number(first).map(|_| 0)?
                }
                NUMBER_16 | BYTES_16 => self.take(16).map(|_| 0)?,
                LONG_TEXT | BYTES => {
                    let length = self.length()?;
                    self.take(length).map(|_| 0)?
                }
                LONG_SEQUENCE => self.length()?,
                MAP => self.length()?.saturating_mul(2),
                LATER_NAME => self.name(LATER_NAME).map(|_| 0)?,
                SHARED_VALUE => self.varint().map(|_| 0)?,
                SOME => 1,
                first @ (LATER_SHAPE | SHAPE..) => self.shape(first)?.1,
                _ => return corrupt("no such value"),
            };
            left = left.saturating_add(inside);
        }
        Ok(())
    }

    /// Reads a value inside of another one.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == MOST_DEPTH {
            return corrupt("values are too deep in each other");
        }
        self.depth += 1;
        let field = self.field;
        let result = read(self);
        self.field = field;
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// Reads a value where it stands, or among those that are shared.
    fn shared<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.peek()? != SHARED_VALUE {
            return read(self);
        }
        self.at += 1;
        let number = self.length()?;
        let Some(value) = self.shared.get(number) else {
            return corrupt("no such shared value");
        };
        let begin = value.start;
        let back = std::mem::replace(&mut self.at, begin);
        let result = self.inside(|this| this.shared(read));
        self.at = back;
        result
    }

    /// Skips what means nothing to this podinit, and counts it.
    fn skip_counted(&mut self) -> Result<(), Fault> {
        self.skip()?;
        self.skipped += 1;
        Ok(())
    }

    /// Which part of a value begins here.
    fn part(&self, at: usize) -> Part {
        let mut ahead = Ahead { bytes: self.bytes, at };
        ahead.name().map_or(Part::At(at), |name| Part::Named(self.field, name))
    }

    /// Whether the value that comes next means nothing to this podinit, as was found out before.
    fn is_unknown(&self) -> bool {
        !self.unknown.is_empty()
            && (self.unknown.contains(&Part::At(self.at))
                || self.unknown.contains(&self.part(self.at)))
    }

    /// Reads a value that another one can do without.
    fn part_of<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let begin = self.at;
        self.inside(read).map_err(|fault| match fault {
            Fault::Unknown(why, None) => Fault::Unknown(why, Some(self.part(begin))),
            fault => fault,
        })
    }

    /// Reads a value that says what it is.
    fn any<V: Visitor<'a>>(&mut self, can_lack: bool, visitor: V) -> Result<V::Value, Fault> {
        self.shared(|this| match this.byte()? {
            first @ (..TEXT | NUMBER_1 | NUMBER_2 | NUMBER_4 | NUMBER_8 | GIGA) => {
                visitor.visit_u64(this.number(first)?)
            }
            NEGATIVE => match i64::try_from(this.number(NEGATIVE)?) {
                Ok(number) => visitor.visit_i64(!number),
                Err(_) => corrupt("a number is too low"),
            },
            NUMBER_16 => visitor.visit_u128(u128::from_le_bytes(this.array()?)),
            NIL => visitor.visit_unit(),
            first @ (FALSE | TRUE) => visitor.visit_bool(first == TRUE),
            SOME => this.inside(|this| visitor.visit_some(this)),
            first @ TEXT..NAME => {
                visitor.visit_borrowed_str(this.text_of(usize::from(first - TEXT))?)
            }
            LONG_TEXT => visitor.visit_borrowed_str(this.text()?),
            first @ (NAME..SEQUENCE | LATER_NAME) => {
                visitor.visit_borrowed_str(this.name(first)?.0)
            }
            BYTES_16 => visitor.visit_borrowed_bytes(this.take(16)?),
            BYTES => {
                let length = this.length()?;
                visitor.visit_borrowed_bytes(this.take(length)?)
            }
            first @ (SEQUENCE..VARIANT | LONG_SEQUENCE) => {
                let left = match first {
                    LONG_SEQUENCE => this.length()?,
                    first => usize::from(first - SEQUENCE),
                };
                let mut elements = Elements { values: this, left, can_lack };
                let read = visitor.visit_seq(&mut elements)?;
                (0..elements.left).try_for_each(|_| this.skip_counted())?;
                Ok(read)
            }
            MAP => {
                let left = this.length()?;
                let mut entries = Entries { values: this, left };
                let read = visitor.visit_map(&mut entries)?;
                (0..entries.left.saturating_mul(2)).try_for_each(|_| this.skip_counted())?;
                Ok(read)
            }
            first @ (LATER_SHAPE | SHAPE..) => {
                let (shape, count) = this.shape(first)?;
                let mut fields = Fields { values: this, shape, next: 0, count };
                let read = visitor.visit_map(&mut fields)?;
                (fields.next..count).try_for_each(|_| this.skip_counted())?;
                Ok(read)
            }
            VARIANT..NIL | LATER_VARIANT => {
                this.at -= 1;
                visitor.visit_enum(Variant(this))
            }
            _ => corrupt("no such value"),
        })
    }
}

/// What comes next, without reading it.
struct Ahead<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Ahead<'_> {
    /// The name that is the next value.
    fn name(&mut self) -> Option<u32> {
        match *self.bytes.get(self.at)? {
            first @ NAME..SEQUENCE => Some(u32::from(first - NAME)),
            LATER_NAME => {
                let mut number = 0;
                for (shift, byte) in (0..u32::BITS).step_by(7).zip(&self.bytes[self.at + 1..]) {
                    number |= u32::from(byte & 0x7f) << shift;
                    if *byte < 0x80 {
                        return Some(number);
                    }
                }
                None
            }
            _ => None,
        }
    }
}

struct Elements<'r, 'a> {
    values: &'r mut Values<'a>,
    left: usize,
    /// Whether each element stands for itself
    can_lack: bool,
}

impl<'a> SeqAccess<'a> for &mut Elements<'_, 'a> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        while self.left > 0 {
            self.left -= 1;
            if !self.can_lack {
                return self.values.inside(|values| seed.deserialize(values)).map(Some);
            }
            if !self.values.is_unknown() {
                return self.values.part_of(|values| seed.deserialize(values)).map(Some);
            }
            self.values.skip_counted()?;
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        // An element has a byte at least.
        Some(self.left.min(self.values.bytes.len() - self.values.at.min(self.values.bytes.len())))
    }
}

struct Entries<'r, 'a> {
    values: &'r mut Values<'a>,
    left: usize,
}

impl<'a> MapAccess<'a> for &mut Entries<'_, 'a> {
    type Error = Fault;

    fn next_key_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        while self.left > 0 {
            self.left -= 1;
            let begin = self.values.at;
            let mut is_unknown = self.values.is_unknown();
            if !is_unknown {
                self.values.skip()?;
                is_unknown = self.values.is_unknown();
                self.values.at = begin;
            }
            if !is_unknown {
                return self.values.part_of(|values| seed.deserialize(values)).map(Some);
            }
            self.values.skip()?;
            self.values.skip_counted()?;
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        self.values.part_of(|values| seed.deserialize(values))
    }
}

struct Fields<'r, 'a> {
    values: &'r mut Values<'a>,
    shape: usize,
    next: usize,
    count: usize,
}

impl<'a> MapAccess<'a> for &mut Fields<'_, 'a> {
    type Error = Fault;

    fn next_key_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        while self.next < self.count {
            self.values.field = (self.shape, self.next);
            if !self.values.is_unknown() {
                let name = self.values.names[self.values.shapes[self.shape][self.next]];
                self.next += 1;
                return seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some);
            }
            self.next += 1;
            self.values.skip_counted()?;
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        self.values.part_of(|values| seed.deserialize(values))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count - self.next)
    }
}

struct Variant<'r, 'a>(&'r mut Values<'a>);

impl<'r, 'a> EnumAccess<'a> for Variant<'r, 'a> {
    type Error = Fault;
    type Variant = Data<'r, 'a>;

    fn variant_seed<T: DeserializeSeed<'a>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Data<'r, 'a>), Fault> {
        let values = self.0;
        let (name, has_data) = match values.byte()? {
            first @ (NAME..SEQUENCE | LATER_NAME) => (values.name(first)?.0, false),
            first @ (VARIANT..NIL | LATER_VARIANT) => (values.name(first)?.0, true),
            first @ TEXT..NAME => (values.text_of(usize::from(first - TEXT))?, false),
            LONG_TEXT => (values.text()?, false),
            _ => return Err(Fault::custom("no variant of an enum")),
        };
        let variant = seed.deserialize(BorrowedStrDeserializer::new(name))?;
        Ok((variant, Data { values, has_data }))
    }
}

/// What a variant has.
struct Data<'r, 'a> {
    values: &'r mut Values<'a>,
    has_data: bool,
}

impl<'r, 'a> Data<'r, 'a> {
    fn read<T>(self, read: impl FnOnce(&mut Values<'a>) -> Result<T, Fault>) -> Result<T, Fault> {
        match self.has_data {
            true => self.values.inside(read),
            false => Err(Fault::custom("a variant without data")),
        }
    }
}

impl<'a> VariantAccess<'a> for Data<'_, 'a> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        if self.has_data { self.values.skip_counted() } else { Ok(()) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Fault> {
        self.read(|values| seed.deserialize(values))
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.read(|values| values.any(false, visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.read(|values| values.any(false, visitor))
    }
}

impl<'de> Deserializer<'de> for &mut Values<'de> {
    type Error = Fault;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.any(true, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.peek()? {
            NIL => {
                self.at += 1;
                visitor.visit_none()
            }
            SOME => {
                self.at += 1;
                self.inside(|this| visitor.visit_some(this))
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.any(false, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.any(false, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.shared(|this| match this.peek()? {
            MAP | LATER_SHAPE | SHAPE.. => this.any(true, visitor),
            // Values without names are not those of fields.
            _ => Err(Fault::custom(format_args!("no {name}"))),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.shared(|this| visitor.visit_enum(Variant(this)))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.skip_counted()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq map identifier
    }
}
