//! The lines of a watch stream.

use bytes::Bytes;

use super::object::Object;
use super::status::Failure;

const KIND: &str = r#""kind":"Pod","apiVersion":"v1""#;

/// An event about `object`.
pub(super) fn of(kind: &str, object: &Object) -> Bytes {
    line(kind, &object.json)
}

/// DELETED, because the object left the selection: as it was, at the version of the change.
pub(super) fn left(object: &Object, version: u64) -> Bytes {
    let text = String::from_utf8_lossy(&object.json);
    let former = format!(r#""resourceVersion":"{}""#, object.version);
    let present = format!(r#""resourceVersion":"{version}""#);
    // Unescaped, these characters occur only where the field is, which comes once in a pod.
    line("DELETED", text.replacen(&former, &present, 1).as_bytes())
}

/// BOOKMARK at `version`.
pub(super) fn bookmark(version: u64) -> Bytes {
    Bytes::from(format!(
        r#"{{"type":"BOOKMARK","object":{{{KIND},"metadata":{{"resourceVersion":"{version}"}},"spec":{{"containers":null}},"status":{{}}}}}}{}"#,
        '\n',
    ))
}

/// The BOOKMARK that ends a streamed list.
pub(super) fn end_of_list(version: u64) -> Bytes {
    Bytes::from(format!(
        r#"{{"type":"BOOKMARK","object":{{{KIND},"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}},"spec":{{"containers":null}},"status":{{}}}}}}{}"#,
        '\n',
    ))
}

/// ERROR
pub(super) fn error(failure: &Failure) -> Bytes {
    let status = failure.to_json();
    Bytes::from(format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n"))
}

/// A line that is not JSON.
pub(super) fn corrupt() -> Bytes {
    Bytes::from_static(
        b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",,\"metadata\":\x00}}\n",
    )
}

/// A line of `bytes` bytes (at least those that its frame needs): a pod with a long annotation.
pub(super) fn oversized(bytes: usize, version: u64) -> Bytes {
    let head = format!(
        r#"{{"type":"MODIFIED","object":{{{KIND},"metadata":{{"name":"oversized","namespace":"default","uid":"00000000-0000-4000-8000-00000000b16b","resourceVersion":"{version}","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{{"blob":""#
    );
    let tail = "\"}},\"spec\":{},\"status\":{}}}\n";
    let filling = bytes.saturating_sub(head.len() + tail.len());
    let mut line = head.into_bytes();
    line.resize(line.len() + filling, b'x');
    line.extend_from_slice(tail.as_bytes());
    line.into()
}

/// Frames an object that has neither `kind` nor `apiVersion` yet.
fn line(kind: &str, json: &[u8]) -> Bytes {
    let fields = json.strip_prefix(b"{").unwrap_or(json);
    let separator = if fields == b"}" { "" } else { "," };
    let head = format!("{{\"type\":\"{kind}\",\"object\":{{{KIND}{separator}");
    [head.as_bytes(), fields, b"}\n"].concat().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::super::object::ObjectKey;
    use super::*;

    fn object(json: &'static str) -> Object {
        Object {
            key: ObjectKey::new("a", "b"),
            version: 7,
            selectable: Default::default(),
            json: Bytes::from_static(json.as_bytes()),
        }
    }

    #[test]
    fn every_line_but_the_corrupt_one_is_json() {
        let pod = object(r#"{"metadata":{"resourceVersion":"7"}}"#);
        let lines = [
            of("ADDED", &pod),
            of("ADDED", &object("{}")),
            left(&pod, 9),
            bookmark(3),
            end_of_list(3),
            error(&Failure::too_old(1, 2)),
            oversized(5_000, 3),
        ];
        for line in &lines {
            serde_json::from_slice::<Value>(line).unwrap();
            assert!(line.ends_with(b"\n"));
        }
        assert_eq!(lines[6].len(), 5_000);
        assert!(serde_json::from_slice::<Value>(&corrupt()).is_err());
        let left: Value = serde_json::from_slice(&lines[2]).unwrap();
        assert_eq!(left["object"]["metadata"]["resourceVersion"], "9");
    }
}
