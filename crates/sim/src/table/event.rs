//! The row of an Event.

use serde_json::{Value, json};

use super::{TableColumn, age, text};
use podinit_core::timestamp::Timestamp;

pub(super) const COLUMNS: [TableColumn; 10] = [
    ("Last Seen", 0),
    ("Type", 0),
    ("Reason", 0),
    ("Object", 0),
    ("Subobject", 1),
    ("Source", 1),
    ("Message", 0),
    ("First Seen", 1),
    ("Count", 1),
    ("Name", 1),
];

/// The cells of an Event, with ages at `now`.
pub(super) fn cells(event: &Value, now: Timestamp) -> Value {
    let or = |value, other| match value {
        &Value::Null => other,
        value => value,
    };
    let first = or(&event["firstTimestamp"], &event["eventTime"]);
    let last = or(&event["lastTimestamp"], first);
    let (object, source) = (&event["involvedObject"], &event["source"]);
    let component = match text(&source["component"]) {
        "" => text(&event["reportingComponent"]),
        component => component,
    };
    let kind = text(&object["kind"]).to_lowercase();
    json!([
        age(last, now),
        text(&event["type"]),
        text(&event["reason"]),
        format!("{kind}/{}", text(&object["name"])),
        text(&object["fieldPath"]),
        match text(&source["host"]) {
            "" => component.to_owned(),
            host => format!("{component}, {host}"),
        },
        text(&event["message"]).trim(),
        age(first, now),
        event["count"].as_u64().unwrap_or(1).to_string(),
        text(&event["metadata"]["name"]),
    ])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_event_shows_who_said_what_about_whom() {
        let event = r#"{"metadata":{"name":"web.1"},"involvedObject":{"kind":"Pod","name":"web",
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
        let event = serde_json::from_str(event).unwrap();
        assert_eq!(cells(&event, now), expected);
    }
}
