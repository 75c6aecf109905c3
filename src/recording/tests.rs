#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::pod::{ConditionType, PodUid};
use crate::watch::decode::WatchEventKind;
use crate::watch::rfc3339;

/// A reader that gives `step` bytes at a time.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let step = self.1.min(buffer.len());
        self.0.read(&mut buffer[..step])
    }
}

fn read_in_steps(bytes: &[u8], step: usize) -> Result<Vec<Document>, RecordingError> {
    let input = Drip(Cursor::new(bytes.to_vec()), step);
    Recording::from_reader("test", input, DecodeOptions::default()).collect()
}

fn read(bytes: impl AsRef<[u8]>) -> Result<Vec<Document>, RecordingError> {
    read_in_steps(bytes.as_ref(), usize::MAX)
}

fn bodies(text: &str) -> Vec<Body> {
    let documents = read(text).unwrap();
    documents.into_iter().map(|doc| doc.body).collect()
}

fn error(bytes: impl AsRef<[u8]>) -> String {
    let text = read(bytes).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const EVENTS: &str = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}
{"object": {"metadata": {"uid": "a", "name": "x\"}]\\"}, "kind": "Pod"},
 "observedAt": "2026-01-02T03:04:05.678901234Z",
 "type": "ADDED"}{"type":"ERROR","object":{"kind":"Status","code":410}}
"#;

const LIST: &str = r#"
{
    "apiVersion": "v1",
    "items": [
        {"kind": "Pod", "metadata": {"uid": "a"}},
        {"kind": "Pod", "metadata": {"uid": "b"},
         "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    ],
    "kind": "List",
    "metadata": {"resourceVersion": "9", "continue": "more"},
    "observedAt": "2026-01-02T03:04:05Z"
}
"#;

const YAML_LIST: &str = r#"---
# recorded
apiVersion: v1
items:
- kind: Pod
  metadata:
    uid: a
- kind: Pod
  metadata: {uid: b}
  status:
    conditions:
    - type: Ready
      status: "True"
kind: List
metadata:
  resourceVersion: "9"
  continue: more
observedAt: "2026-01-02T03:04:05Z"
---
object:
  metadata:
    uid: c
    annotations:
      text: |
        --- not a marker
         ---
type: DELETED
...
---
"#;

fn uids(pods: &[crate::pod::PodSnapshot]) -> Vec<PodUid> {
    pods.iter().map(|pod| pod.uid).collect()
}

fn assert_is_the_list(document: &Document) {
    assert_eq!(document.observed_at, rfc3339::parse("2026-01-02T03:04:05Z"));
    let Body::List {
        pods,
        continue_token,
        resource_version,
    } = &document.body
    else {
        panic!("not a list: {document:?}");
    };
    assert_eq!(uids(pods), [PodUid::from_text("a"), PodUid::from_text("b")]);
    assert!(pods[1].conditions.holding(ConditionType::Ready).is_some());
    assert_eq!(continue_token.as_deref(), Some("more"));
    assert_eq!(resource_version.as_deref(), Some("9"));
}

#[test]
fn events_follow_one_another_in_any_layout() {
    let documents = read(EVENTS).unwrap();
    let [bookmark, added, failed] = &documents[..] else {
        panic!("three documents: {documents:?}");
    };
    assert!(matches!(
        &bookmark.body,
        Body::Event(WatchEventKind::Bookmark {
            initial_events_end: true,
            ..
        })
    ));
    let Body::Event(WatchEventKind::Added(pod)) = &added.body else {
        panic!("not an event: {added:?}");
    };
    assert_eq!(&*pod.info.name, "x\"}]\\");
    assert_eq!(
        added.observed_at,
        rfc3339::parse("2026-01-02T03:04:05.678901234Z")
    );
    assert_eq!((added.position.line, added.position.document), (2, 2));
    assert_eq!(added.position.byte, EVENTS.find('\n').unwrap() as u64 + 1);
    assert!(matches!(
        &failed.body,
        Body::Event(WatchEventKind::Error(status)) if status.code == 410
    ));
}

#[test]
fn a_list_is_read_item_by_item_whatever_its_key_order() {
    let documents = read(LIST).unwrap();
    assert_eq!(documents.len(), 1);
    assert_is_the_list(&documents[0]);
    assert_eq!(documents[0].position.line, 2);
    let empty = Body::List {
        pods: vec![],
        continue_token: None,
        resource_version: None,
    };
    for text in [
        r#"{"kind":"PodList","items":[]}"#,
        r#"{"items": [ ] ,"kind":"PodList"}"#,
        r#"{"kind":"PodList","items":null}"#,
    ] {
        assert_eq!(bodies(text), [empty.clone()], "{text}");
    }
    let escaped = r#"{"kind":"PodList","\u0069tems":[{"metadata":{"uid":"a"}}]}"#;
    assert_eq!(bodies(escaped), bodies(&escaped.replace("\\u0069", "i")));
}

#[test]
fn yaml_says_the_same() {
    let documents = read(YAML_LIST).unwrap();
    assert_eq!(documents.len(), 2);
    assert_is_the_list(&documents[0]);
    let Body::Event(WatchEventKind::Deleted(pod)) = &documents[1].body else {
        panic!("not an event: {documents:?}");
    };
    assert_eq!(pod.uid, PodUid::from_text("c"));
    assert_eq!(documents[1].position.line, 20);
    let flow = "--- {metadata: {uid: a}}\n--- {metadata: {uid: b}}\n";
    assert_eq!(bodies(flow).len(), 2);
    let indented = "\n  metadata:\n    uid: a\n  kind: Pod\n";
    assert_eq!(bodies(indented).len(), 1);
    assert_eq!(bodies("%YAML 1.2\n---\nmetadata: {uid: a}\n").len(), 1);
}

#[test]
fn where_reads_end_does_not_matter() {
    for text in [EVENTS, LIST, YAML_LIST, "\n  metadata:\n    uid: a\n"] {
        let whole = read(text).unwrap();
        for step in [1, 2, 3, 7, 64] {
            assert_eq!(read_in_steps(text.as_bytes(), step).unwrap(), whole);
            let packed = gzip(text.as_bytes());
            assert_eq!(read_in_steps(&packed, step).unwrap(), whole);
        }
    }
}

#[test]
fn gzip_members_and_a_byte_order_mark_are_passed_over() {
    let mut members = gzip(EVENTS.as_bytes());
    members.extend(gzip(LIST.as_bytes()));
    assert_eq!(read(members).unwrap().len(), 4);
    let marked = format!("\u{feff}{EVENTS}");
    assert_eq!(bodies(&marked), bodies(EVENTS));
    let marked = format!("\u{feff}{YAML_LIST}");
    assert_eq!(bodies(&marked), bodies(YAML_LIST));
}

#[test]
fn an_empty_recording_holds_no_documents() {
    for text in [
        "",
        " \n\t\r\n",
        "---\n",
        "# nothing\n\n---\n...\n",
        "\u{feff}",
    ] {
        assert_eq!(bodies(text), [], "{text:?}");
    }
    assert_eq!(read(gzip(b"")).unwrap(), []);
}

#[test]
fn each_fault_is_said_in_one_line_with_its_place() {
    let pod = r#"{"metadata":{"uid":"a"}}"#;
    let cases = [
        (
            format!("{pod}\n{{\"metadata\":\n{{"),
            "test: line 3, column 2, byte 39 (document 2): the input ends within a document that began at line 2",
        ),
        (
            format!("{pod}\n}}"),
            "line 2, column 1, byte 25 (document 2): invalid JSON: a document begins with `{`",
        ),
        (format!("{pod}\n[{pod}]"), "(document 2): a JSON array"),
        (
            "[]".into(),
            "line 1, column 1, byte 0 (document 1): a JSON array",
        ),
        (
            r#"{"metadata":{"uid":"a" "b"}}"#.into(),
            "column 24, byte 23 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (
            r#"{"a":1 "b":2}"#.into(),
            "column 8, byte 7 (document 1): invalid JSON: expected `,` or `}`",
        ),
        (r#"{"a":nul}"#.into(), "invalid JSON: expected ident"),
        (
            r#"{"kind":"Service","metadata":{"uid":"a"}}"#.into(),
            "a Service is not a Pod",
        ),
        (
            r#"{"kind":"Secret","type":"Opaque"}"#.into(),
            "a Secret is not a Pod",
        ),
        (
            r#"{"kind":"NodeList","items":[]}"#.into(),
            "not \"NodeList\"",
        ),
        (r#"{"kind":"PodList"}"#.into(), "no items"),
        (r#"{"items":[]}"#.into(), "kind PodList or List"),
        ("{}".into(), "no metadata.uid"),
        (
            r#"{"kind":"Pod","metadata":{"name":"x"}}"#.into(),
            "no metadata.uid",
        ),
        (
            r#"{"type":"GONE","object":{}}"#.into(),
            "\"GONE\" is not a type of watch event",
        ),
        (r#"{"type":"ADDED"}"#.into(), "not an object"),
        (
            r#"{"type":"ADDED","object":{"kind":"Node"}}"#.into(),
            "a Node is not a Pod",
        ),
        (
            format!(r#"{{"observedAt":"now","type":"ADDED","object":{pod}}}"#),
            "observedAt is not a time",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},\n {{\"kind\":\"Service\"}}]}}"),
            "line 2, column 2, byte 51 (document 1): item 2 of the list: a Service is not a Pod",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},5]}}"),
            "item 2 of the list: this is not an object",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod},]}}"),
            "column 50, byte 49 (document 1): invalid JSON: expected a value",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod} {pod}]}}"),
            "invalid JSON: expected `,` or `]`",
        ),
        (
            format!("{{\"kind\":\"List\",\"items\":[{pod}],\n\"metadata\":{{\"x\" 1}}}}"),
            "line 2, column 17, byte 67 (document 1): invalid JSON: expected `:`",
        ),
        ("hello\n".into(), "this is not an object"),
        ("a: 1\nb: [\n".into(), "invalid YAML"),
        ("a: 1\nb: c: d\n".into(), "line 2"),
        (
            "kind: Service\nmetadata: {uid: a}\n".into(),
            "a Service is not a Pod",
        ),
        (
            "metadata: {uid: a}\n---\nmetadata: {name: b}\n".into(),
            "line 3, column 1, byte 23 (document 2): this pod has no metadata.uid",
        ),
        (
            "kind: List\nitems:\n- metadata: {uid: a}\n- kind: Node\n".into(),
            "item 2 of the list: a Node is not a Pod",
        ),
    ];
    for (text, expected) in cases {
        let said = error(&text);
        assert!(said.contains(expected), "{text}\n{said}\n{expected}");
        assert!(read_in_steps(text.as_bytes(), 1).is_err());
    }
}

#[test]
fn what_is_no_text_is_called_binary() {
    assert!(error(b"\x7fELF\x02\x01\x01\0\0\0").contains("binary data"));
    assert!(error(b"\xff\xfe{\0").contains("binary data"));
    assert!(error(b"{\"metadata\": \xff\xff\0}").contains("invalid JSON"));
    let mut late = "metadata: {uid: a}\n---\n".repeat(1_000).into_bytes();
    late.extend(b"a: \xff\xff\n");
    let said = error(late);
    assert!(said.contains("(document 1001): invalid YAML"), "{said}");
}

#[test]
fn damaged_gzip_is_told_apart() {
    let packed = gzip(LIST.repeat(50).as_bytes());
    assert!(error(&packed[..packed.len() / 2]).contains("cut off"));
    assert!(error(&packed[..2]).contains("gzip data is"));
    let mut damaged = packed.clone();
    let middle = damaged.len() - 6;
    damaged[middle] ^= 0xff;
    assert!(error(damaged).contains("gzip data is damaged"));
}

#[test]
fn an_endless_object_or_line_is_refused_before_it_fills_the_memory() {
    let endless = |head: &'static str| {
        let input = Cursor::new(head).chain(std::io::repeat(b'a'));
        let mut recording = Recording::from_reader("test", input, DecodeOptions::default());
        let said = recording.next().unwrap().unwrap_err().to_string();
        assert!(recording.next().is_none());
        assert!(recording.progress().bytes_read() < 3 * OBJECT_LIMIT as u64);
        said
    };
    let limit = "longer than 16 MiB";
    assert!(endless("{\"type\":\"").contains(limit));
    assert!(endless("{\"items\":[{\"metadata\":{\"name\":\"").contains(limit));
    assert!(endless("hello").contains(limit));
    assert!(endless("metadata:\n  name: ").contains("line 2, column 1, byte 10 (document 1)"));
}

#[test]
fn a_missing_file_and_a_directory_are_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| match Recording::open(path, DecodeOptions::default()) {
        Ok(_) => panic!("opened"),
        Err(error) => error.to_string(),
    };
    let said = open(&folder.path().join("no\nsuch.json"));
    assert!(said.contains("no such.json: cannot be opened: "), "{said}");
    assert!(open(folder.path()).contains("directory"));
}

#[test]
fn progress_counts_the_bytes_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.json.gz");
    let packed = gzip(EVENTS.as_bytes());
    std::fs::write(&path, &packed).unwrap();
    let mut recording = Recording::open(&path, DecodeOptions::default()).unwrap();
    let progress = recording.progress();
    assert_eq!(progress.bytes_read(), 0);
    assert_eq!(progress.size(), Some(packed.len() as u64));
    assert_eq!(recording.by_ref().filter(Result::is_ok).count(), 3);
    assert_eq!(progress.bytes_read(), packed.len() as u64);
}
