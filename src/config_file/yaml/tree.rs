//! YAML as a tree of values with their lines. And the errors in files.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy, Options};

use crate::text::strangers_text::shown;

/// Whether messages may repeat contents of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// They may, which makes them easier to understand
    Show,
    /// They must not, since a part could be a secret
    Redact,
}

/// A value and the line on which it begins.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) line: u64,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key, its line, and its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) line: u64,
    pub(crate) key: String,
    pub(crate) node: Node,
}

impl Value {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self, secrecy: Secrecy) -> String {
        match (self, secrecy) {
            (Self::Null, _) => "empty".to_owned(),
            (Self::Bool(value), Secrecy::Show) => format!("the truth value {value}"),
            (Self::Bool(_), Secrecy::Redact) => "a truth value".to_owned(),
            (Self::Number(value), Secrecy::Show) => format!("the number {value}"),
            (Self::Number(_), Secrecy::Redact) => "a number".to_owned(),
            (Self::Text(value), Secrecy::Show) => format!("the text {value:?}"),
            (Self::Text(_), Secrecy::Redact) => "text".to_owned(),
            (Self::List(_), _) => "a list".to_owned(),
            (Self::Map(_), _) => "a map".to_owned(),
        }
    }
}

/// Reads one YAML document.
pub(crate) fn read(text: &str, secrecy: Secrecy) -> Result<Node, Fault> {
    let read = serde_saphyr::from_str_with_options(text, options());
    read.map_err(|error| match secrecy {
        Secrecy::Show => fault(&error),
        Secrecy::Redact => redacted_fault(&error),
    })
}

fn options() -> Options {
    serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        strict_booleans: true,
        with_snippet: false,
    }
}

fn fault(error: &serde_saphyr::Error) -> Fault {
    let error = error.without_snippet();
    let mut why = match error {
        serde_saphyr::Error::MultipleDocuments { .. } => "has a second YAML document".to_owned(),
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key {key} is repeated")
        }
        other => other.to_string(),
    };
    let mut line = 0;
    if let Some(location) = error.location() {
        line = location.line();
        // The line is part of the error already.
        let place = format!(" at line {line}, column {}", location.column());
        if let Some(text) = why.strip_suffix(&place) {
            why.truncate(text.len());
        }
    }
    Fault::new(line, "", why)
}

/// Without the parser's message, which may quote the file.
fn redacted_fault(error: &serde_saphyr::Error) -> Fault {
    let error = error.without_snippet();
    let why = match error {
        serde_saphyr::Error::MultipleDocuments { .. } => "has a second YAML document",
        serde_saphyr::Error::DuplicateMappingKey { .. } => "a key is repeated",
        _ => "is not valid YAML; check its indentation, quotes and colons",
    };
    let line = error.location().map_or(0, |location| location.line());
    Fault::new(line, "", why)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = items.next_element()? {
            list.push(node);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some((key, node)) = entries.next_entry::<Spanned<String>, Node>()? {
            map.push(Entry { line: key.referenced.line(), key: key.value, node });
        }
        Ok(Value::Map(map))
    }
}

/// An error in a file, on one line: the file, the line, the key, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    fault: Fault,
}

impl std::error::Error for FileError {}

impl FileError {
    /// `file` could not be read.
    pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self::new(file, Fault::new(0, "", format!("cannot be read: {error}")))
    }

    /// An error of `file` as a whole.
    pub(crate) fn of_whole(file: &str, why: &str) -> Self {
        Self::new(file, Fault::new(0, "", why))
    }

    /// An error in `file`.
    pub(crate) fn new(file: &str, fault: Fault) -> Self {
        Self { file: file.to_owned(), fault }
    }

    /// The line, from 1; `None` for an error of the whole file.
    pub fn line(&self) -> Option<u64> {
        (self.fault.line > 0).then_some(self.fault.line)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { line, key, why } = &self.fault;
        f.write_str(&self.file)?;
        if *line > 0 {
            write!(f, ":{line}")?;
        }
        if key.is_empty() { write!(f, ": {why}") } else { write!(f, ": {key}: {why}") }
    }
}

/// An error in a file whose name is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From 1; 0 for an error of the whole file
    pub(crate) line: u64,
    /// Such as `slos[2].objective`; may be empty
    pub(crate) key: String,
    pub(crate) why: String,
}

impl Fault {
    pub(crate) fn new(line: u64, key: impl Into<String>, why: impl Into<String>) -> Self {
        // One line, whatever the parser's message or the value is.
        let why: String = why.into();
        let why: Vec<&str> = why.lines().map(str::trim).collect();
        Self { line, key: shown(&key.into()).into_owned(), why: shown(&why.join(" ")).into_owned() }
    }
}
