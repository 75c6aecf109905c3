//! Pods and Events that a test writes as JSON: as odd as it likes, as long as they have a name.

use serde_json::{Value, json};

use super::object::ObjectKey;
use super::resource::Resource;
use super::selector::Selectable;

/// An object as a test wrote it.
pub(super) struct RawObject {
    pub(super) key: ObjectKey,
    pub(super) selectable: Selectable,
    value: Value,
}

impl RawObject {
    /// `None` when `metadata.namespace` or `metadata.name` is not a text.
    pub(super) fn new(mut value: Value) -> Option<Self> {
        let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
        let key = ObjectKey::new(text("/metadata/namespace")?, text("/metadata/name")?);
        let labels = value.pointer("/metadata/labels").and_then(Value::as_object);
        let labels = (labels.into_iter().flatten())
            .filter_map(|(name, label)| Some((name.clone(), label.as_str()?.to_owned())));
        let selectable = Selectable {
            labels: labels.collect(),
            node_name: text("/spec/nodeName").unwrap_or_default().to_owned(),
            phase: text("/status/phase").unwrap_or("Pending").to_owned(),
            fields: (Resource::Events.fields().iter())
                .filter_map(|field| {
                    let pointer = format!("/{}", field.replace('.', "/"));
                    Some((*field, text(&pointer)?.to_owned()))
                })
                .collect(),
        };
        if let Some(fields) = value.as_object_mut() {
            fields.remove("kind");
            fields.remove("apiVersion");
        }
        Some(Self {
            key,
            selectable,
            value,
        })
    }

    /// The object at `version`.
    pub(super) fn render(&mut self, version: u64) -> Vec<u8> {
        self.value["metadata"]["resourceVersion"] = json!(version.to_string());
        self.value.to_string().into_bytes()
    }
}

/// The object whose JSON is `json`, at another version.
pub(super) fn at_version(json: &[u8], version: u64) -> Vec<u8> {
    let object = serde_json::from_slice(json).ok().and_then(RawObject::new);
    object.map_or_else(|| json.to_vec(), |mut object| object.render(version))
}
