//! What is kept of an object: a closed list of fields, each with what becomes of its value.

use serde_json::{Map, Value};

use super::keyed_hash::Anonymizer;
use super::vocabulary::{API_VERSIONS, KINDS, REASONS};

/// The fields that are kept of an object. All others are left out.
pub(super) type KeptFields = &'static [(&'static str, AnonymizeRule)];

/// What becomes of a value. One of another type than the rule is for is left out.
pub(super) enum AnonymizeRule {
    /// `true` or `false`, as it is
    Flag,
    /// A number, as it is
    Number,
    /// A text out of this list, which is separated by spaces; any other is hashed
    Word(&'static str),
    /// A text, and what it becomes
    Text(fn(&Anonymizer, &str) -> String),
    /// An object with these fields
    Object(KeptFields),
    /// An array. An element that is left out becomes null, so that their number stays
    Each(&'static Self),
    /// Any value, with the object that it stands in
    Within(fn(&Anonymizer, &Value, &Map<String, Value>) -> Option<Value>),
}

pub(super) const NAME: AnonymizeRule = AnonymizeRule::Text(Anonymizer::name);
pub(super) const UID: AnonymizeRule = AnonymizeRule::Text(Anonymizer::uid);
pub(super) const TIME: AnonymizeRule = AnonymizeRule::Text(Anonymizer::time);
pub(super) const MESSAGE: AnonymizeRule = AnonymizeRule::Text(Anonymizer::message);
pub(super) const REASON: AnonymizeRule = AnonymizeRule::Word(REASONS);
pub(super) const KIND: AnonymizeRule = AnonymizeRule::Word(KINDS);
pub(super) const API_VERSION: AnonymizeRule = AnonymizeRule::Word(API_VERSIONS);
pub(super) const RESOURCE_VERSION: AnonymizeRule = AnonymizeRule::Within(resource_version);

impl Anonymizer {
    /// The kept fields of `object`; an object without fields for what is none.
    pub(super) fn fields(&self, object: &Value, fields: KeptFields) -> Value {
        let kept = fields.iter().filter_map(|(name, rule)| {
            let object = object.as_object()?;
            let value = self.value(rule, object.get(*name)?, object)?;
            Some(((*name).to_owned(), value))
        });
        Value::Object(kept.collect())
    }

    fn value(
        &self,
        rule: &AnonymizeRule,
        value: &Value,
        within: &Map<String, Value>,
    ) -> Option<Value> {
        Some(match (rule, value) {
            (AnonymizeRule::Flag, Value::Bool(_)) | (AnonymizeRule::Number, Value::Number(_)) => {
                value.clone()
            }
            (AnonymizeRule::Word(list), Value::String(word)) => self.word_of(list, word).into(),
            (AnonymizeRule::Text(change), Value::String(text)) => change(self, text).into(),
            (AnonymizeRule::Object(fields), Value::Object(_)) => self.fields(value, fields),
            (AnonymizeRule::Each(rule), Value::Array(elements)) => {
                let kept = elements.iter().map(|element| self.value(rule, element, within));
                kept.map(Option::unwrap_or_default).collect()
            }
            (AnonymizeRule::Within(change), _) => return change(self, value, within),
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
