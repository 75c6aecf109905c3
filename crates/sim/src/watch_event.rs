//! The lines of a watch stream.

use bytes::Bytes;

use super::object::{ServedKind, StoredObject};
use super::status::StatusFailure;

fn type_meta(resource: ServedKind) -> String {
    let names = resource.names();
    format!(r#""kind":"{}","apiVersion":"{}""#, names.kind, names.api_version())
}

/// What a bookmark has besides its metadata.
const fn bookmark_rest(resource: ServedKind) -> &'static str {
    match resource {
        ServedKind::Pods => r#""spec":{"containers":null},"status":{}"#,
        ServedKind::Events => {
            r#""involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#
        }
        ServedKind::ControllerRevisions => r#""revision":0"#,
        _ => r#""spec":{},"status":{}"#,
    }
}

/// An event about `object`.
pub(super) fn encode_watch_event(resource: ServedKind, kind: &str, object: &StoredObject) -> Bytes {
    line(resource, kind, &object.json)
}

/// DELETED, because the object left the selection: as it was, at the version of the change.
pub(super) fn left(resource: ServedKind, object: &StoredObject, version: u64) -> Bytes {
    line(resource, "DELETED", &at_version(object, version))
}

/// The object as it is, at another version.
pub(super) fn at_version(object: &StoredObject, version: u64) -> Vec<u8> {
    let text = String::from_utf8_lossy(&object.json);
    let former = format!(r#""resourceVersion":"{}""#, object.version);
    let present = format!(r#""resourceVersion":"{version}""#);
    // Unescaped, these characters occur only where the field is, which comes once in an object.
    text.replacen(&former, &present, 1).into_bytes()
}

/// BOOKMARK at `version`, which may end a streamed list.
pub(super) fn bookmark(resource: ServedKind, version: u64, ends_list: bool) -> Bytes {
    let (kind, rest) = (type_meta(resource), bookmark_rest(resource));
    let annotations = match ends_list {
        true => r#","annotations":{"k8s.io/initial-events-end":"true"}"#,
        false => "",
    };
    let metadata = format!(r#"{{"resourceVersion":"{version}"{annotations}}}"#);
    let object = format!(r#"{{{kind},"metadata":{metadata},{rest}}}"#);
    format!("{{\"type\":\"BOOKMARK\",\"object\":{object}}}\n").into()
}

/// ERROR
pub(super) fn error(failure: &StatusFailure) -> Bytes {
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
    let kind = type_meta(ServedKind::Pods);
    let head = format!(
        r#"{{"type":"MODIFIED","object":{{{kind},"metadata":{{"name":"oversized","namespace":"default","uid":"00000000-0000-4000-8000-00000000b16b","resourceVersion":"{version}","creationTimestamp":"2026-01-01T00:00:00Z","annotations":{{"blob":""#
    );
    let tail = "\"}},\"spec\":{},\"status\":{}}}\n";
    let filling = bytes.saturating_sub(head.len() + tail.len());
    let mut line = head.into_bytes();
    line.resize(line.len() + filling, b'x');
    line.extend_from_slice(tail.as_bytes());
    line.into()
}

/// The object as a document of its own, with the `kind` and `apiVersion` that it does not have yet.
pub(super) fn document(resource: ServedKind, json: &[u8]) -> Vec<u8> {
    let fields = json.strip_prefix(b"{").unwrap_or(json);
    let separator = if fields == b"}" { "" } else { "," };
    let head = format!("{{{}{separator}", type_meta(resource));
    [head.as_bytes(), fields].concat()
}

fn line(resource: ServedKind, kind: &str, json: &[u8]) -> Bytes {
    let head = format!("{{\"type\":\"{kind}\",\"object\":");
    [head.as_bytes(), &document(resource, json), b"}\n"].concat().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::super::object::ObjectKey;
    use super::*;

    const PODS: ServedKind = ServedKind::Pods;

    fn object(json: &'static str) -> StoredObject {
        StoredObject {
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
            encode_watch_event(PODS, "ADDED", &pod),
            encode_watch_event(ServedKind::Events, "ADDED", &object("{}")),
            left(PODS, &pod, 9),
            bookmark(ServedKind::Events, 3, false),
            bookmark(PODS, 3, true),
            error(&StatusFailure::too_old(1, 2)),
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
