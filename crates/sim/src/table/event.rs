//! The row of an Event.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Column, age};
use podinit_core::timestamp::Timestamp;

pub(super) const COLUMNS: [Column; 10] = [
    ("Last Seen", "string", 0),
    ("Type", "string", 0),
    ("Reason", "string", 0),
    ("Object", "string", 0),
    ("Subobject", "string", 1),
    ("Source", "string", 1),
    ("Message", "string", 0),
    ("First Seen", "string", 1),
    ("Count", "string", 1),
    ("Name", "string", 1),
];

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    metadata: Metadata,
    involved_object: InvolvedObject,
    reason: String,
    message: String,
    #[serde(rename = "type")]
    kind: String,
    source: Source,
    reporting_component: String,
    first_timestamp: Option<String>,
    last_timestamp: Option<String>,
    event_time: Option<String>,
    count: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct InvolvedObject {
    kind: String,
    name: String,
    field_path: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Source {
    component: String,
    host: String,
}

/// The cells of an Event, with ages at `now`.
pub(super) fn cells(json: &str, now: Timestamp) -> Result<Vec<Value>, serde_json::Error> {
    let event: Event = serde_json::from_str(json)?;
    let first = event.first_timestamp.as_deref();
    let first = first.or(event.event_time.as_deref());
    let last = event.last_timestamp.as_deref().or(first);
    let object = &event.involved_object;
    let component = match event.source.component.as_str() {
        "" => &event.reporting_component,
        component => component,
    };
    let source = match event.source.host.as_str() {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    };
    Ok(vec![
        json!(age::since(last, now)),
        json!(event.kind),
        json!(event.reason),
        json!(format!("{}/{}", object.kind.to_lowercase(), object.name)),
        json!(object.field_path),
        json!(source),
        json!(event.message.trim()),
        json!(age::since(first, now)),
        json!(event.count.unwrap_or(1).to_string()),
        json!(event.metadata.name),
    ])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_event_shows_who_said_what_about_whom() {
        let json = r#"{"metadata":{"name":"web.1"},"involvedObject":{"kind":"Pod","name":"web",
            "fieldPath":"spec.containers{app}"},"reason":"Pulled","message":"pulled\n","type":"Normal",
            "source":{"component":"kubelet","host":"node-1"},"firstTimestamp":"2026-01-02T03:03:05Z",
            "lastTimestamp":"2026-01-02T03:04:00Z","count":3}"#;
        let now = Timestamp::from_seconds(1_767_323_045);
        let expected = json!([
            "5s",
            "Normal",
            "Pulled",
            "pod/web",
            "spec.containers{app}",
            "kubelet, node-1",
            "pulled",
            "60s",
            "3",
            "web.1"
        ]);
        assert_eq!(Value::from(cells(json, now).unwrap()), expected);
    }
}
