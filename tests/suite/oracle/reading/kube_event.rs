//! One `v1` Event, as its JSON states it.

use serde_json::Value;

use super::snapshot::api_time;
use crate::oracle::instant::Nanos;

/// What [§9](crate::specification#s9) and [§10](crate::specification#s10) speak of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KubeEvent {
    pub(crate) name: String,
    /// The UID of the pod that it is about, if it is about a pod of its own namespace
    pub(crate) uid: Option<String>,
    /// `metadata.namespace` and `involvedObject.namespace`, as far as they are stated
    pub(crate) namespaces: Vec<String>,
    /// The name of what it is about, if it is stated
    pub(crate) object: Option<String>,
    pub(crate) field_path: String,
    pub(crate) reporting_component: String,
    pub(crate) source_component: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// `firstTimestamp`
    pub(crate) first: Option<Nanos>,
    /// `eventTime`
    pub(crate) event_time: Option<Nanos>,
}

impl KubeEvent {
    pub(crate) fn read(event: &Value) -> Self {
        let text = |path: &str| {
            let value = event.pointer(path).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let is_of_pod =
            event.pointer("/involvedObject/kind").and_then(Value::as_str) == Some("Pod");
        let stated = |path| Some(text(path)).filter(|text| !text.is_empty());
        let mut namespaces: Vec<String> = ["/metadata/namespace", "/involvedObject/namespace"]
            .into_iter()
            .filter_map(stated)
            .collect();
        namespaces.dedup();
        let uid = stated("/involvedObject/uid").filter(|_| is_of_pod && namespaces.len() < 2);
        Self {
            name: text("/metadata/name"),
            uid,
            namespaces,
            object: stated("/involvedObject/name"),
            field_path: text("/involvedObject/fieldPath"),
            reporting_component: text("/reportingComponent"),
            source_component: text("/source/component"),
            reason: text("/reason"),
            message: text("/message"),
            first: api_time(event.get("firstTimestamp")),
            event_time: api_time(event.get("eventTime")),
        }
    }

    /// "what follows the last dot: hexadecimal Unix nanoseconds"
    pub(crate) fn instant_in_name(&self) -> Option<Nanos> {
        let (_, digits) = self.name.rsplit_once('.')?;
        let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hexadecimal.then(|| i64::from_str_radix(digits, 16).ok().map(Nanos::from)).flatten()
    }
}
