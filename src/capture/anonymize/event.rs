//! The fields of an Event that are recorded.

use serde_json::Value;

use super::Anonymizer;
use super::object::Fields;

impl Anonymizer {
    pub(super) fn event(&self, event: &Value) -> Value {
        let mut kept = Fields::of(event);
        kept.keep(&[
            "apiVersion",
            "kind",
            "type",
            "reason",
            "count",
            "firstTimestamp",
            "lastTimestamp",
            "eventTime",
            "reportingComponent",
        ]);
        kept.text("message", |message| self.message(message));
        kept.map("metadata", |metadata| {
            let mut kept = Fields::of(metadata);
            kept.keep(&["resourceVersion", "creationTimestamp"]);
            kept.text("name", |name| self.event_name(name));
            kept.text("namespace", |namespace| self.name(namespace));
            kept.text("uid", |uid| self.uid(uid));
            kept.finish()
        });
        kept.map("involvedObject", |object| {
            let mut kept = Fields::of(object);
            kept.keep(&["apiVersion", "kind", "resourceVersion"]);
            kept.text("name", |name| self.name(name));
            kept.text("namespace", |namespace| self.name(namespace));
            kept.text("uid", |uid| self.uid(uid));
            kept.text("fieldPath", |path| self.field_path(path));
            kept.finish()
        });
        kept.map("source", |source| {
            let mut kept = Fields::of(source);
            kept.keep(&["component"]);
            kept.text("host", |host| self.name(host));
            kept.finish()
        });
        kept.finish()
    }

    /// An Event is named after its object and, after the last dot, the instant of its creation.
    fn event_name(&self, name: &str) -> String {
        match name.rsplit_once('.') {
            Some((object, instant)) if instant.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                format!("{}.{instant}", self.name(object))
            }
            _ => self.name(name),
        }
    }

    /// `spec.containers{NAME}`, with the name hashed.
    fn field_path(&self, path: &str) -> String {
        let named = path.strip_suffix('}').and_then(|path| path.split_once('{'));
        match named {
            Some((field, name)) => format!("{field}{{{}}}", self.name(name)),
            None => self.name(path),
        }
    }
}
