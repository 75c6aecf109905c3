//! What is kept of an object: a closed list of fields, each with what becomes of its value.

use serde_json::{Map, Value};

use super::keyed_hash::Anonymizer;
use super::vocabulary::{API_VERSIONS, KINDS, REASONS};

/// The fields that are kept of an object. All others are left out.
pub(super) type Fields = &'static [(&'static str, Rule)];

/// What becomes of a value. One of another type than the rule is for is left out.
pub(super) enum Rule {
    /// `true` or `false`, as it is
    Flag,
    /// A number, as it is
    Number,
    /// A text out of this list, which is separated by spaces; any other is hashed
    Word(&'static str),
    /// A text, and what it becomes
    Text(fn(&Anonymizer, &str) -> String),
    /// An object with these fields
    Object(Fields),
    /// An array. An element that is left out becomes null, so that their number stays
    Each(&'static Self),
    /// Any value, with the object that it stands in
    Within(fn(&Anonymizer, &Value, &Map<String, Value>) -> Option<Value>),
}

pub(super) const NAME: Rule = Rule::Text(Anonymizer::name);
pub(super) const UID: Rule = Rule::Text(Anonymizer::uid);
pub(super) const TIME: Rule = Rule::Text(Anonymizer::time);
pub(super) const MESSAGE: Rule = Rule::Text(Anonymizer::message);
pub(super) const REASON: Rule = Rule::Word(REASONS);
pub(super) const KIND: Rule = Rule::Word(KINDS);
pub(super) const API_VERSION: Rule = Rule::Word(API_VERSIONS);
pub(super) const RESOURCE_VERSION: Rule = Rule::Within(resource_version);

impl Anonymizer {
    /// The kept fields of `object`; an object without fields for what is none.
    pub(super) fn fields(&self, object: &Value, fields: Fields) -> Value {
        let kept = fields.iter().filter_map(|(name, rule)| {
            let object = object.as_object()?;
            let value = self.value(rule, object.get(*name)?, object)?;
            Some(((*name).to_owned(), value))
        });
        Value::Object(kept.collect())
    }

    fn value(&self, rule: &Rule, value: &Value, within: &Map<String, Value>) -> Option<Value> {
        Some(match (rule, value) {
            (Rule::Flag, Value::Bool(_)) | (Rule::Number, Value::Number(_)) => value.clone(),
            (Rule::Word(list), Value::String(word)) => self.word_of(list, word).into(),
            (Rule::Text(change), Value::String(text)) => change(self, text).into(),
            (Rule::Object(fields), Value::Object(_)) => self.fields(value, fields),
            (Rule::Each(rule), Value::Array(elements)) => {
                let kept = elements.iter().map(|element| self.value(rule, element, within));
                kept.map(Option::unwrap_or_default).collect()
            }
            (Rule::Within(change), _) => return change(self, value, within),
            _ => return None,
        })
    }

    /// `word` if it is in `list`, which is separated by spaces; otherwise its hash.
    pub(super) fn word_of(&self, list: &str, word: &str) -> String {
        match list.split_ascii_whitespace().any(|known| known == word) {
            true => word.to_owned(),
            false => self.name(word),
        }
    }
}

/// A version is a decimal number, as text or by itself; any other text is hashed.
fn resource_version(
    anonymizer: &Anonymizer,
    version: &Value,
    _within: &Map<String, Value>,
) -> Option<Value> {
    match version {
        Value::Number(_) => Some(version.clone()),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(version.clone())
        }
        Value::String(text) => Some(anonymizer.name(text).into()),
        _ => None,
    }
}
