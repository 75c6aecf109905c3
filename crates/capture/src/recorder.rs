//! A document of a recording, made from what an API server sends: with the time of its arrival, without
//! names if asked for, and without what `replay` could not read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use serde_json::value::RawValue;

use super::Anonymizer;
use podinit_core::timestamp::Timestamp;
use podinit_decode::{RecordedKind, recorded_kind, rfc3339};

/// Makes documents, and counts what they lack.
pub struct DocumentRecorder {
    anonymizer: Option<Anonymizer>,
    left_out: AtomicU64,
    repaired: AtomicU64,
}

/// How much of a recording is not as the API server sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecorderCounts {
    /// Objects that are not in it, since `replay` would refuse them, and all of the file with them
    pub left_out: u64,
    /// Documents in which bytes that are not UTF-8 became U+FFFD, as they do when `serve` reads them
    pub repaired: u64,
}

/// The fields of a document, unparsed. Of two with the same name the last counts, as everywhere.
type RawFields<'a> = BTreeMap<String, &'a RawValue>;

impl DocumentRecorder {
    /// Takes the names out, if there is an anonymizer.
    pub const fn new(anonymizer: Option<Anonymizer>) -> Self {
        Self { anonymizer, left_out: AtomicU64::new(0), repaired: AtomicU64::new(0) }
    }

    /// What the documents lack that were made so far.
    pub fn counts(&self) -> RecorderCounts {
        // Relaxed: no other memory is published with the counts.
        RecorderCounts {
            left_out: self.left_out.load(Ordering::Relaxed),
            repaired: self.repaired.load(Ordering::Relaxed),
        }
    }

    /// The document that is recorded for `json`, a list or a watch event that has arrived `at`, without
    /// the items of a list that cannot be read. `None` where nothing of it can be recorded.
    pub fn document(&self, json: &[u8], at: Timestamp) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(json);
        let document = self.of_text(&text, at);
        match document {
            None => self.leave_out(),
            Some(_) if matches!(text, Cow::Owned(_)) => {
                self.repaired.fetch_add(1, Ordering::Relaxed);
            }
            Some(_) => {}
        }
        document.map(String::into_bytes)
    }

    fn of_text(&self, json: &str, at: Timestamp) -> Option<String> {
        let mut fields: RawFields<'_> = serde_json::from_str(json).ok()?;
        // An API server sends none, and replay would refuse one that is no time.
        fields.remove("observedAt");
        let (name, contents) = match (fields.remove("object"), fields.remove("items")) {
            (Some(object), _) => ("object", self.object_of_event(&fields, object)?),
            (None, Some(items)) => ("items", self.items(&fields, items)?),
            (None, None) => return None,
        };
        let shell = serde_json::to_string(&fields).ok()?;
        let shell = self.kept(&shell, Anonymizer::shell)?;
        let shell = shell.strip_suffix('}')?.strip_prefix('{')?;
        let at = rfc3339::format(at);
        Some(format!("{{\"observedAt\":\"{at}\",{shell},\"{name}\":{contents}}}"))
    }

    /// The object of the watch event with these fields.
    fn object_of_event<'j>(
        &self,
        event: &RawFields<'_>,
        object: &'j RawValue,
    ) -> Option<Cow<'j, str>> {
        let is_read = match &*text(event, "type")? {
            "ADDED" | "MODIFIED" | "DELETED" => recorded_kind(object.get()).is_some(),
            "BOOKMARK" | "ERROR" => object.get().starts_with('{'),
            _ => false,
        };
        self.kept(is_read.then_some(object.get())?, Anonymizer::object)
    }

    /// The items that can be read, of the list with these fields, as an array.
    fn items(&self, list: &RawFields<'_>, items: &RawValue) -> Option<Cow<'static, str>> {
        let may_hold: &[RecordedKind] = match &*text(list, "kind")? {
            "PodList" => &[RecordedKind::Pod],
            "EventList" => &[RecordedKind::Event],
            // What states no kind seems to be a pod.
            "NodeList" => &[RecordedKind::Node, RecordedKind::Pod],
            "List" => &[RecordedKind::Pod, RecordedKind::Event, RecordedKind::Node],
            _ => return None,
        };
        let anonymous = match may_hold.first() {
            Some(RecordedKind::Node) => Anonymizer::node,
            _ => Anonymizer::object,
        };
        let items: Option<Vec<&RawValue>> = serde_json::from_str(items.get()).ok()?;
        let mut array = String::from("[");
        for item in items.unwrap_or_default() {
            let kind = recorded_kind(item.get()).filter(|kind| may_hold.contains(kind));
            let Some(item) = kind.and_then(|_| self.kept(item.get(), anonymous)) else {
                self.leave_out();
                continue;
            };
            if array.len() > 1 {
                array.push(',');
            }
            array.push_str(&item);
        }
        array.push(']');
        Some(Cow::Owned(array))
    }

    /// What is recorded of `json`; `None` where it holds what other readers of JSON refuse too: a number
    /// beyond any float, half of a surrogate pair, objects that are nested too deeply.
    fn kept<'j>(
        &self,
        json: &'j str,
        anonymous: fn(&Anonymizer, &Value) -> Value,
    ) -> Option<Cow<'j, str>> {
        let value: Value = serde_json::from_str(json).ok()?;
        match &self.anonymizer {
            None => Some(Cow::Borrowed(json)),
            Some(anonymizer) => Some(Cow::Owned(anonymous(anonymizer, &value).to_string())),
        }
    }

    fn leave_out(&self) {
        if self.left_out.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!("the recording leaves out an object that replay could not read");
        }
    }
}

/// The field `name`, if it is a text.
fn text(fields: &RawFields<'_>, name: &str) -> Option<String> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
