//! Takes the names out of a recording. What is left is enough to measure with: times, phases, reasons,
//! and which objects belong together.
//!
//! What is kept is a closed list: of fields (`rule`, `pod`, `event`) and, for what stands in them, of the
//! words of Kubernetes (`vocabulary`, and `message` for free text). Everything else is left out or becomes
//! a keyed hash. The key is random and is not written anywhere, so that nobody can find a name by hashing
//! guesses; within one recording the same name always becomes the same hash.

mod event;
mod keyed_hash;
mod message;
mod node;
mod pod;
mod rule;
mod vocabulary;

use serde_json::Value;

pub use self::keyed_hash::Anonymizer;
use self::rule::{API_VERSION, AnonymizeRule, KIND, KeptFields, NAME, REASON, RESOURCE_VERSION};

/// A list without its items, or a watch event without its object.
const SHELL: KeptFields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("type", AnonymizeRule::Word("ADDED MODIFIED DELETED BOOKMARK ERROR")),
    (
        "metadata",
        AnonymizeRule::Object(&[
            ("resourceVersion", RESOURCE_VERSION),
            // The token holds the name of a pod. Readers need to know only that there is one.
            ("continue", NAME),
            ("remainingItemCount", AnonymizeRule::Number),
        ]),
    ),
];

/// The object of a watch event of type ERROR.
const STATUS: KeptFields = &[
    ("apiVersion", API_VERSION),
    ("kind", KIND),
    ("status", AnonymizeRule::Word("Success Failure")),
    ("reason", REASON),
    ("code", AnonymizeRule::Number),
];

impl Anonymizer {
    /// What is kept of a list without its items, or of a watch event without its object.
    pub(super) fn shell(&self, shell: &Value) -> Value {
        self.fields(shell, SHELL)
    }

    /// What is kept of a node, which may state no kind.
    pub(super) fn node(&self, node: &Value) -> Value {
        self.fields(node, node::FIELDS)
    }

    /// What is kept of a pod, an Event, a node or a `Status`. What states no kind is an Event if it has the field
    /// that only Events have, and otherwise a pod. Of anything else the hash of its kind is kept.
    pub(super) fn object(&self, object: &Value) -> Value {
        let kind = object.get("kind").and_then(Value::as_str);
        let fields = match kind {
            Some("Pod") => pod::FIELDS,
            Some("Event") => event::FIELDS,
            Some("Node") => node::FIELDS,
            Some("Status") => STATUS,
            None if object.get("involvedObject").is_some_and(Value::is_object) => event::FIELDS,
            None => pod::FIELDS,
            Some(_) => &[("kind", KIND)],
        };
        self.fields(object, fields)
    }
}

#[cfg(test)]
mod tests;
