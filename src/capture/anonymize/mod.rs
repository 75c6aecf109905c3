//! Takes the names out of a recording. What is left is enough to measure with: times, phases, reasons,
//! and which objects belong together.
//!
//! An anonymized object holds only the fields that podinit reads. Names, labels, UIDs and images become
//! keyed hashes. The key is random and is not written anywhere, so that nobody can find a name by
//! hashing guesses; within one recording the same name always becomes the same hash. Messages keep the
//! words that kubelets and schedulers use, and numbers; every other word becomes a hash.

mod event;
mod message;
mod object;
mod pod;

use std::fs::File;
use std::io::{self, Read};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use object::{Fields, keep};

/// Replaces names by keyed hashes.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    key: [u8; 32],
}

impl Anonymizer {
    /// With a random key.
    ///
    /// # Errors
    /// If the system has no source of random bytes.
    pub fn with_random_key() -> io::Result<Self> {
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(Self::with_key(key))
    }

    /// With a given key: the same names become the same hashes.
    pub const fn with_key(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Anonymizes one document: a list, a watch event, a pod or an Event. Whatever is none of these
    /// loses all its fields but `kind`.
    pub fn document(&self, document: &Value) -> Value {
        let Some(fields) = document.as_object() else {
            return Value::Null;
        };
        let mut kept = Map::new();
        if let Some(object) = fields.get("object") {
            keep(&mut kept, fields, &["type", "observedAt"]);
            kept.insert("object".to_owned(), self.object(object));
        } else if let Some(items) = fields.get("items").and_then(Value::as_array) {
            keep(&mut kept, fields, &["apiVersion", "kind", "observedAt"]);
            kept.insert("metadata".to_owned(), list_metadata(fields));
            let items = items.iter().map(|item| self.item(fields, item)).collect();
            kept.insert("items".to_owned(), Value::Array(items));
        } else {
            return self.object(document);
        }
        Value::Object(kept)
    }

    /// An item of a list need not state its kind.
    fn item(&self, list: &Map<String, Value>, item: &Value) -> Value {
        let is_event = list.get("kind").and_then(Value::as_str) == Some("EventList");
        match item.get("kind") {
            None if is_event => self.event(item),
            None => self.pod(item),
            Some(_) => self.object(item),
        }
    }

    fn object(&self, object: &Value) -> Value {
        match object.get("kind").and_then(Value::as_str) {
            Some("Pod") => self.pod(object),
            Some("Event") => self.event(object),
            Some("Status") => {
                let mut kept = Fields::of(object);
                kept.keep(&["apiVersion", "kind", "status", "reason", "code"]);
                kept.finish()
            }
            _ => {
                let mut kept = Fields::of(object);
                kept.keep(&["kind"]);
                kept.finish()
            }
        }
    }

    /// The hash of a name, as a name that Kubernetes would accept. Empty text stays empty.
    fn name(&self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        let hash = self.hash(name);
        format!("x{}", hex(&hash[..6]))
    }

    /// The hash of a UID, as a UUID.
    fn uid(&self, uid: &str) -> String {
        let text = hex(&self.hash(uid)[..16]);
        format!(
            "{}-{}-{}-{}-{}",
            &text[..8],
            &text[8..12],
            &text[12..16],
            &text[16..20],
            &text[20..32]
        )
    }

    fn hash(&self, text: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update(text.as_bytes());
        hash.finalize().into()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn list_metadata(list: &Map<String, Value>) -> Value {
    let mut kept = Map::new();
    if let Some(metadata) = list.get("metadata").and_then(Value::as_object) {
        let fields = ["resourceVersion", "continue", "remainingItemCount"];
        keep(&mut kept, metadata, &fields);
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests;
