//! Lists and watches as tables (`as=Table` of `meta.k8s.io/v1`), which is how `kubectl get` asks for
//! them: the columns and words are those of the Kubernetes API server. Objects are read loosely, since tests
//! write odd ones.

mod event;
mod pod;
mod workload;

use serde_json::{Value, json};

use super::object::ServedKind;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A column: its name and priority. `kubectl get` shows those above 0 with `-o wide` only.
type TableColumn = (&'static str, u8);

/// The table of a list, with ages at `now`.
pub(super) fn of_list(
    resource: ServedKind,
    list: &[u8],
    now: Timestamp,
) -> Result<Vec<u8>, serde_json::Error> {
    let list: Value = serde_json::from_slice(list)?;
    serde_json::to_vec(&table(resource, &list["metadata"], elements(&list["items"]), now))
}

/// The lines of a watch, with a table of one row in place of each object. What is no event about an
/// object stays as it is.
pub(super) fn of_watch(resource: ServedKind, lines: &[u8], now: Timestamp) -> Vec<u8> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| of_event(resource, line, now).unwrap_or_else(|| line.to_vec()));
    lines.collect::<Vec<_>>().concat()
}

fn of_event(resource: ServedKind, line: &[u8], now: Timestamp) -> Option<Vec<u8>> {
    let event: Value = serde_json::from_slice(line).ok()?;
    let kind = text(&event["type"]);
    if !["ADDED", "MODIFIED", "DELETED"].contains(&kind) {
        return None;
    }
    let table = table(resource, &Value::Null, std::slice::from_ref(&event["object"]), now);
    Some(format!("{{\"type\":\"{kind}\",\"object\":{table}}}\n").into_bytes())
}

/// The cells of an object at an instant.
type TableCells = fn(&Value, Timestamp) -> Value;

fn table(resource: ServedKind, metadata: &Value, objects: &[Value], now: Timestamp) -> Value {
    let (columns, cells): (&[TableColumn], TableCells) = match resource {
        ServedKind::Pods => (&pod::COLUMNS, pod::cells),
        ServedKind::Events => (&event::COLUMNS, event::cells),
        ServedKind::Nodes => (&NODE_COLUMNS, node_cells),
        ServedKind::Namespaces => (&NAMESPACE_COLUMNS, namespace_cells),
        ServedKind::Deployments => (&workload::DEPLOYMENT_COLUMNS, workload::deployment_cells),
        ServedKind::ReplicaSets => (&workload::REPLICA_SET_COLUMNS, workload::replica_set_cells),
        _ => (&workload::OTHER_COLUMNS, workload::other_cells),
    };
    document(columns, metadata, objects, |object| cells(object, now))
}

/// The table of objects whose columns, besides name and age, each show what stands at a JSON pointer.
pub(super) fn of_related(
    columns: &[(&'static str, &str)],
    metadata: &Value,
    objects: &[Value],
    now: Timestamp,
) -> Value {
    let named = columns.iter().map(|(name, _)| (*name, 0));
    let all: Vec<TableColumn> =
        [("Name", 0)].into_iter().chain(named).chain([("Age", 0)]).collect();
    document(&all, metadata, objects, |object| {
        let cells =
            columns.iter().map(|(_, place)| object.pointer(place).map_or("", text).to_owned());
        let own = &object["metadata"];
        let (first, last) = (text(&own["name"]).to_owned(), age(&own["creationTimestamp"], now));
        [first].into_iter().chain(cells).chain([last]).collect()
    })
}

fn document(
    columns: &[TableColumn],
    metadata: &Value,
    objects: &[Value],
    cells: impl Fn(&Value) -> Value,
) -> Value {
    let columns = columns.iter().map(|(name, priority)| {
        let format = if *name == "Name" { "name" } else { "" };
        json!({"name": name, "type": "string", "format": format, "description": "", "priority": priority})
    });
    let rows = objects.iter().map(|object| {
        let object_metadata = json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": object["metadata"],
        });
        json!({"cells": cells(object), "object": object_metadata})
    });
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns.collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
    })
}

/// The text that a value is, if it is one.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The elements of an array.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The time from `since` (RFC 3339) to `now`.
fn age(since: &Value, now: Timestamp) -> String {
    let since = since.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
    since.map_or_else(
        || "<unknown>".to_owned(),
        |since| seconds_as_age(now.as_nanos().div_euclid(NANOS_PER_SECOND) - since.as_second()),
    )
}

/// This many seconds in two units at most, and in one where the second says little.
fn seconds_as_age(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => units(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => units(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => units(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => units(days / 365, 'y', days % 365, 'd'),
        252_288_000.. => format!("{}y", days / 365),
    }
}

fn units(large: i64, unit: char, small: i64, unit_of_small: char) -> String {
    match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{unit_of_small}"),
    }
}

const NODE_COLUMNS: [TableColumn; 10] = [
    ("Name", 0),
    ("Status", 0),
    ("Roles", 0),
    ("Age", 0),
    ("Version", 0),
    ("Internal-IP", 1),
    ("External-IP", 1),
    ("OS-Image", 1),
    ("Kernel-Version", 1),
    ("Container-Runtime", 1),
];

const NAMESPACE_COLUMNS: [TableColumn; 3] = [("Name", 0), ("Status", 0), ("Age", 0)];

/// The cells of a node, with its age at `now`.
fn node_cells(node: &Value, now: Timestamp) -> Value {
    let status = &node["status"];
    let info = &status["nodeInfo"];
    let mut conditions = elements(&status["conditions"]).iter();
    let is_ready = conditions.any(|one| one["type"] == "Ready" && one["status"] == "True");
    json!([
        text(&node["metadata"]["name"]),
        if is_ready { "Ready" } else { "NotReady" },
        "<none>",
        age(&node["metadata"]["creationTimestamp"], now),
        text(&info["kubeletVersion"]),
        text(&status["addresses"][0]["address"]),
        "<none>",
        text(&info["osImage"]),
        text(&info["kernelVersion"]),
        text(&info["containerRuntimeVersion"]),
    ])
}

/// The cells of a namespace, with its age at `now`.
fn namespace_cells(namespace: &Value, now: Timestamp) -> Value {
    json!([
        text(&namespace["metadata"]["name"]),
        text(&namespace["status"]["phase"]),
        age(&namespace["metadata"]["creationTimestamp"], now),
    ])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_767_323_045);

    #[test]
    fn a_list_keeps_its_metadata_and_gets_a_row_for_each_object() {
        let list = br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c"},
            "items":[{"metadata":{"name":"a","namespace":"n"},"spec":{},"status":{"phase":"Pending"}}]}"#;
        let table: Value =
            serde_json::from_slice(&of_list(ServedKind::Pods, list, NOW).unwrap()).unwrap();
        assert_eq!(table["metadata"]["continue"], "c");
        assert_eq!(table["columnDefinitions"][0]["name"], "Name");
        assert_eq!(table["columnDefinitions"][0]["format"], "name");
        assert_eq!(table["rows"][0]["cells"][2], "Pending");
        assert_eq!(table["rows"][0]["object"]["metadata"]["namespace"], "n");
    }

    #[test]
    fn a_watch_has_tables_of_one_row_and_keeps_its_other_lines() {
        let pod = r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":{},"status":{}}}"#;
        let bookmark = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#;
        let lines = format!("{pod}\n{bookmark}\n{{\"type\":");
        let lines = of_watch(ServedKind::Pods, lines.as_bytes(), NOW);
        let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').collect();
        let first: Value = serde_json::from_slice(lines[0]).unwrap();
        assert_eq!(first["type"], "ADDED");
        assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
        assert_eq!(lines[1], bookmark.as_bytes());
        assert_eq!(lines[2], b"{\"type\":");
    }

    #[test]
    fn ages_are_as_exact_as_they_need_to_be() {
        let ages = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_859, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (700_000, "8d"),
            (63_072_000, "2y"),
            (300_000_000, "9y"),
        ];
        for (seconds, age) in ages {
            assert_eq!(seconds_as_age(seconds), age, "{seconds}");
        }
        let now = Timestamp::from_seconds(1_767_323_045);
        assert_eq!(super::age(&json!("2026-01-02T03:04:00Z"), now), "5s");
        assert_eq!(super::age(&Value::Null, now), "<unknown>");
    }
}
