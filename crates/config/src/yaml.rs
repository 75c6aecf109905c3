//! Reads YAML strictly into types, with the places of their values.
//!
//! A file may hold secrets, wherever its author put one by mistake. So no error repeats any of its contents: its
//! line and column have to suffice.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, Location};

use crate::FileFault;
use podinit_text::nearest::nearest;

/// Reads one YAML document of at most `most` bytes. `nothing` is how to write one without any settings.
pub fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    most: usize,
    nothing: &str,
) -> Result<T, FileFault> {
    if bytes.len() > most {
        return Err(FileFault::of_whole(format!("is longer than {most} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.chars().rev().take_while(|before| *before != '\n').count() as u64 + 1;
        FileFault::new(Some((line, column)), "is not UTF-8 text")
    })?;
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        with_snippet: false,
    };
    let read: Result<Option<T>, Error> = serde_saphyr::from_str_with_options(text, options);
    let read = read.map_err(|error| {
        let why = why(&error).into_owned();
        FileFault::at(error.location().unwrap_or(Location::UNKNOWN), why)
    })?;
    read.ok_or_else(|| FileFault::of_whole(format!("is empty; write {nothing} for no settings")))
}

/// What is wrong, in words that repeat nothing of the file. The messages of this project's own types repeat nothing
/// either, and serde_saphyr has no message of its own that does and that comes through here.
fn why(error: &Error) -> Cow<'_, str> {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => why(error),
        Error::Message { msg, .. } => msg.into(),
        Error::MultipleDocuments { .. } => "has a second YAML document".into(),
        Error::DuplicateMappingKey { .. } => "this key is there already".into(),
        Error::SerdeUnknownField { field, expected, .. } => unknown("unknown key", field, expected),
        Error::SerdeMissingField { field, .. } => format!("{field} is missing").into(),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            unknown("unknown value", variant, expected)
        }
        Error::Unexpected { expected: "mapping start", .. } => "must be a map".into(),
        Error::Unexpected { expected: "sequence start", .. } => "must be a list".into(),
        Error::Unexpected { expected: "string scalar", .. } => "must be text".into(),
        Error::NullIntoString { .. } => EMPTY.into(),
        Error::InvalidBooleanStrict { .. } => "must be true or false".into(),
        Error::InvalidScalar { ty: "floating point", .. } => "must be a number".into(),
        Error::InvalidScalar { .. } => "must be a whole number, and not negative".into(),
        _ => "is not valid YAML; check its indentation, quotes and colons".into(),
    }
}

const EMPTY: &str = "the value is empty; write one, or leave out its key";

/// Says that `word` is unknown, and suggests the nearest of `known` or lists them. It does not repeat `word`.
pub fn unknown(what: &str, word: &str, known: &[&str]) -> Cow<'static, str> {
    match nearest(word, known) {
        Some(near) => format!("{what}; did you mean {near}?").into(),
        None => format!("{what}; known are {}", known.join(", ")).into(),
    }
}

/// A setting that may be left out, but not left empty: a template that fills in nothing must not remove it.
#[derive(Debug)]
pub struct SpecifiedSetting<T>(pub Option<T>);

impl<T> Default for SpecifiedSetting<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for SpecifiedSetting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::deserialize(deserializer)?;
        value.map(|value| Self(Some(value))).ok_or_else(|| D::Error::custom(EMPTY))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::HashMap;

    use serde_saphyr::Spanned;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        text: SpecifiedSetting<Spanned<String>>,
        number: SpecifiedSetting<f64>,
        count: SpecifiedSetting<u32>,
        truth: SpecifiedSetting<bool>,
        list: SpecifiedSetting<Vec<String>>,
        map: SpecifiedSetting<HashMap<String, String>>,
        choice: SpecifiedSetting<Choice>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        One,
        Two,
    }

    fn read(text: &str) -> Result<Settings, FileFault> {
        parse(text.as_bytes(), 100, "{}")
    }

    #[test]
    fn values_are_read_with_their_places() {
        let read = read("text: 5\nnumber: 1\nlist: []\nmap: {a: b}\nchoice: one").unwrap();
        let text = read.text.0.unwrap();
        assert_eq!((text.referenced.line(), text.referenced.column()), (1, 7));
        assert_eq!((&*text.value, read.number.0), ("5", Some(1.0)));
        assert_eq!((read.list.0.unwrap(), read.map.0.unwrap().len()), (vec![], 1));
        assert!(matches!(read.choice.0, Some(Choice::One)) && read.truth.0.is_none());
        assert!(!matches!(read.choice.0, Some(Choice::Two)) && read.count.0.is_none());
    }

    #[test]
    fn an_error_is_told_without_the_value() {
        for (text, expected) in [
            ("", "f: is empty; write {} for no settings"),
            ("# secret", "f: is empty; write {} for no settings"),
            ("secret", "f:1:1: must be a map"),
            ("texd: secret", "f:1:1: unknown key; did you mean text?"),
            (
                "secret: 1",
                "f:1:1: unknown key; known are text, number, count, truth, list, map, choice",
            ),
            ("text: [secret]", "f:1:7: must be text"),
            ("text:", "f:1:5: the value is empty; write one, or leave out its key"),
            ("map:", "f:1:4: the value is empty; write one, or leave out its key"),
            ("map: {a: }", "f:1:8: the value is empty; write one, or leave out its key"),
            ("number: secret", "f:1:9: must be a number"),
            ("count: -17", "f:1:8: must be a whole number, and not negative"),
            ("truth: secret", "f:1:8: must be true or false"),
            ("list:\n  secret", "f:2:3: must be a list"),
            ("choice: secret", "f:1:9: unknown value; known are one, two"),
            ("choice: twoo", "f:1:9: unknown value; did you mean two?"),
            ("text: secret\ntext: secret", "f:2:1: this key is there already"),
            ("text: secret\n---\ntext: secret", "f:3:1: has a second YAML document"),
        ] {
            let fault = read(text).unwrap_err();
            assert_eq!(fault.of_file("f").to_string(), expected, "{text:?}");
        }
        let long = read(&"#".repeat(101)).unwrap_err().of_file("f");
        assert_eq!(long.to_string(), "f: is longer than 100 bytes");
        let binary = parse::<Settings>(b"text: \xff", 100, "{}").unwrap_err().of_file("f");
        assert_eq!(binary.to_string(), "f:1:7: is not UTF-8 text");
    }

    #[test]
    fn an_error_never_repeats_the_file() {
        const SECRET: &str = "s3cr3t-canary";
        for text in [
            "text: [s3cr3t-canary",
            "text: 's3cr3t-canary",
            "text: \"s3cr3t-canary\\q\"",
            "s3cr3t-canary: 1\ns3cr3t-canary: 2",
            "text: *s3cr3t-canary",
            "number: !!int s3cr3t-canary",
            "choice: !s3cr3t-canary",
            "choice: {s3cr3t-canary: 1}",
            "%s3cr3t-canary",
            "text: b\n  : s3cr3t-canary: x",
            "- a\ns3cr3t-canary: 1",
            "text: |s3cr3t-canary",
            "text: a\n--- s3cr3t-canary",
            "? [s3cr3t-canary]\n: 1",
            "\ts3cr3t-canary: 1",
            "map: [s3cr3t-canary]",
            "map: {a: {s3cr3t-canary: 1}}",
            "<<: s3cr3t-canary",
            "text: !!binary s3cr3t-canary",
            "text: &s3cr3t-canary [*s3cr3t-canary]",
        ] {
            let error = read(text).unwrap_err().of_file("f").to_string();
            assert!(!error.contains(SECRET) && !error.contains('\n'), "{text:?}: {error}");
        }
    }
}
