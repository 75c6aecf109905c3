//! Copies chosen fields of a JSON object.

use serde_json::{Map, Value};

/// Copies the fields with these names, where they are there.
pub(super) fn keep(to: &mut Map<String, Value>, from: &Map<String, Value>, names: &[&str]) {
    for name in names {
        if let Some(value) = from.get(*name) {
            to.insert((*name).to_owned(), value.clone());
        }
    }
}

/// An object that is copied field by field. What is not named is left out.
pub(super) struct Fields<'a> {
    from: Option<&'a Map<String, Value>>,
    kept: Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// Nothing of `value` is copied yet.
    pub(super) fn of(value: &'a Value) -> Self {
        Self {
            from: value.as_object(),
            kept: Map::new(),
        }
    }

    /// Copies fields as they are.
    pub(super) fn keep(&mut self, names: &[&str]) {
        if let Some(from) = self.from {
            keep(&mut self.kept, from, names);
        }
    }

    /// Copies a field through `change`, if it is there.
    pub(super) fn map(&mut self, name: &str, change: impl FnOnce(&'a Value) -> Value) {
        if let Some(value) = self.from.and_then(|from| from.get(name)) {
            self.kept.insert(name.to_owned(), change(value));
        }
    }

    /// Copies a text through `change`. A field that is no text is left out.
    pub(super) fn text(&mut self, name: &str, change: impl FnOnce(&'a str) -> String) {
        let value = self.from.and_then(|from| from.get(name));
        if let Some(text) = value.and_then(Value::as_str) {
            let text = Value::String(change(text));
            self.kept.insert(name.to_owned(), text);
        }
    }

    /// Copies the elements of an array through `change`. A field that is no array is left out.
    pub(super) fn array(&mut self, name: &str, change: impl FnMut(&'a Value) -> Value) {
        let value = self.from.and_then(|from| from.get(name));
        if let Some(elements) = value.and_then(Value::as_array) {
            let elements = elements.iter().map(change).collect();
            self.kept.insert(name.to_owned(), Value::Array(elements));
        }
    }

    /// The object with the fields that were copied.
    pub(super) fn finish(self) -> Value {
        Value::Object(self.kept)
    }
}
