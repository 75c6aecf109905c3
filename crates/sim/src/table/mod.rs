//! Lists and watches as tables (`as=Table` of `meta.k8s.io/v1`), which is how `kubectl get` asks for
//! them: the columns and words are those of the Kubernetes API server.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::resource::Resource;
use podinit_core::timestamp::Timestamp;

mod age;
mod event;
mod pod;

/// A column: its name, type and priority. `kubectl get` shows those above 0 with `-o wide` only.
type Column = (&'static str, &'static str, u8);

/// Reads the cells of an object, with ages at an instant.
type Cells = fn(&str, Timestamp) -> Result<Vec<Value>, serde_json::Error>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Option<&'a RawValue>,
    column_definitions: Vec<ColumnDefinition>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct ColumnDefinition {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    format: &'static str,
    description: &'static str,
    priority: u8,
}

#[derive(Serialize)]
struct Row<'a> {
    cells: Vec<Value>,
    object: PartialObjectMetadata<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialObjectMetadata<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: &'a RawValue,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize, Serialize)]
struct WatchEvent<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The table of a list, with ages at `now`.
pub(super) fn of_list(
    resource: Resource,
    list: &[u8],
    now: Timestamp,
) -> Result<Vec<u8>, serde_json::Error> {
    let list: List<'_> = serde_json::from_slice(list)?;
    let table = table(resource, Some(list.metadata), &list.items, now)?;
    serde_json::to_vec(&table)
}

/// The lines of a watch, with a table of one row in place of each object. What is no event about an
/// object stays as it is.
pub(super) fn of_watch(resource: Resource, lines: &[u8], now: Timestamp) -> Vec<u8> {
    let lines = lines.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(|line| of_event(resource, line, now).unwrap_or_else(|| line.to_vec()));
    lines.collect::<Vec<_>>().concat()
}

fn of_event(resource: Resource, line: &[u8], now: Timestamp) -> Option<Vec<u8>> {
    let event: WatchEvent<'_> = serde_json::from_slice(line).ok()?;
    if !matches!(event.kind, "ADDED" | "MODIFIED" | "DELETED") {
        return None;
    }
    let table = table(resource, None, &[event.object], now).ok()?;
    let table = serde_json::value::to_raw_value(&table).ok()?;
    let event = WatchEvent {
        kind: event.kind,
        object: &table,
    };
    let mut line = serde_json::to_vec(&event).ok()?;
    line.push(b'\n');
    Some(line)
}

fn table<'a>(
    resource: Resource,
    metadata: Option<&'a RawValue>,
    objects: &[&'a RawValue],
    now: Timestamp,
) -> Result<Table<'a>, serde_json::Error> {
    let (columns, cells): (&[Column], Cells) = match resource {
        Resource::Pods => (&pod::COLUMNS, pod::cells),
        Resource::Events => (&event::COLUMNS, event::cells),
    };
    let rows = objects.iter().map(|object| {
        let json = object.get();
        Ok(Row {
            cells: cells(json, now)?,
            object: PartialObjectMetadata {
                kind: "PartialObjectMetadata",
                api_version: "meta.k8s.io/v1",
                metadata: serde_json::from_str::<Object<'_>>(json)?.metadata,
            },
        })
    });
    Ok(Table {
        kind: "Table",
        api_version: "meta.k8s.io/v1",
        metadata,
        column_definitions: columns.iter().map(ColumnDefinition::of).collect(),
        rows: rows.collect::<Result<_, serde_json::Error>>()?,
    })
}

impl ColumnDefinition {
    const fn of((name, kind, priority): &Column) -> Self {
        let is_name = matches!(name.as_bytes(), b"Name");
        Self {
            name,
            kind,
            format: if is_name { "name" } else { "" },
            description: "",
            priority: *priority,
        }
    }
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
            serde_json::from_slice(&of_list(Resource::Pods, list, NOW).unwrap()).unwrap();
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
        let lines = of_watch(Resource::Pods, lines.as_bytes(), NOW);
        let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').collect();
        let first: Value = serde_json::from_slice(lines[0]).unwrap();
        assert_eq!(first["type"], "ADDED");
        assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
        assert_eq!(lines[1], bookmark.as_bytes());
        assert_eq!(lines[2], b"{\"type\":");
    }
}
