#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use podinit_core::pod::packed::PackedPods;
use podinit_core::pod::{ConditionType, PodUid};
use podinit_decode::WatchEventKind;
use podinit_decode::rfc3339;

mod dumps;
mod faults;
mod kube_events;
mod present;

/// A reader that returns at most `step` bytes at a time.
struct Drip(Cursor<Vec<u8>>, usize);

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let step = self.1.min(buffer.len());
        self.0.read(&mut buffer[..step])
    }
}

fn read_in_steps(bytes: &[u8], step: usize) -> Result<Vec<RecordingDocument>, RecordingError> {
    let input = Drip(Cursor::new(bytes.to_vec()), step);
    Recording::from_reader("test", input, DecodeOptions::default()).collect()
}

fn read(bytes: impl AsRef<[u8]>) -> Result<Vec<RecordingDocument>, RecordingError> {
    read_in_steps(bytes.as_ref(), usize::MAX)
}

fn bodies(text: &str) -> Vec<(Option<RecordedPods>, RecordedEvidence)> {
    let documents = read(text).unwrap();
    documents.into_iter().map(|document| (document.pods, document.evidence)).collect()
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

fn uids(pods: &RecordedPods) -> Vec<PodUid> {
    pods.snapshots().map(|pod| pod.uid).collect()
}

fn assert_is_the_list(document: &RecordingDocument) {
    assert_eq!(document.observed_at, rfc3339::parse("2026-01-02T03:04:05Z"));
    let Some(pods @ RecordedPods::List { goes_on, .. }) = &document.pods else {
        panic!("not a list: {document:?}");
    };
    assert_eq!(uids(pods), [PodUid::from_text("a"), PodUid::from_text("b")]);
    assert_eq!(document.evidence, RecordedEvidence::default());
    let second = pods.snapshots().nth(1).unwrap();
    assert!(second.conditions.holding(ConditionType::Ready).is_some());
    assert!(goes_on);
}

#[test]
fn events_may_have_any_layout() {
    let documents = read(EVENTS).unwrap();
    let [bookmark, added, failed] = &documents[..] else {
        panic!("three documents: {documents:?}");
    };
    assert!(matches!(
        &bookmark.pods,
        Some(RecordedPods::Event(WatchEventKind::Bookmark { initial_events_end: true, .. }))
    ));
    let Some(RecordedPods::Event(WatchEventKind::Added(pod))) = &added.pods else {
        panic!("not an event: {added:?}");
    };
    assert_eq!(&*pod.info.name, "x\"}]\\");
    assert_eq!(added.observed_at, rfc3339::parse("2026-01-02T03:04:05.678901234Z"));
    assert_eq!((added.position.line, added.position.document), (2, 2));
    assert_eq!(added.position.byte, EVENTS.find('\n').unwrap() as u64 + 1);
    assert!(matches!(
        &failed.pods,
        Some(RecordedPods::Event(WatchEventKind::Error(status))) if status.code == 410
    ));
}

#[test]
fn a_list_is_read_item_by_item_whatever_its_key_order() {
    let documents = read(LIST).unwrap();
    assert_eq!(documents.len(), 1);
    assert_is_the_list(&documents[0]);
    assert_eq!(documents[0].position.line, 2);
    let empty = Some(RecordedPods::List { pods: PackedPods::default(), goes_on: false });
    let empty = (empty, RecordedEvidence::default());
    for text in [
        r#"{"kind":"PodList","items":[]}"#,
        r#"{"items": [ ] ,"kind":"PodList"}"#,
        r#"{"kind":"PodList","items":null}"#,
    ] {
        assert_eq!(bodies(text), std::slice::from_ref(&empty), "{text}");
    }
    let escaped = r#"{"kind":"PodList","\u0069tems":[{"metadata":{"uid":"a"}}]}"#;
    assert_eq!(bodies(escaped), bodies(&escaped.replace("\\u0069", "i")));
}

#[test]
fn yaml_says_the_same() {
    let documents = read(YAML_LIST).unwrap();
    assert_eq!(documents.len(), 2);
    assert_is_the_list(&documents[0]);
    let Some(RecordedPods::Event(WatchEventKind::Deleted(pod))) = &documents[1].pods else {
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
fn the_size_of_reads_does_not_matter() {
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
fn gzip_members_and_a_byte_order_mark_are_skipped() {
    let mut members = gzip(EVENTS.as_bytes());
    members.extend(gzip(LIST.as_bytes()));
    assert_eq!(read(members).unwrap().len(), 4);
    let marked = format!("\u{feff}{EVENTS}");
    assert_eq!(bodies(&marked), bodies(EVENTS));
    let marked = format!("\u{feff}{YAML_LIST}");
    assert_eq!(bodies(&marked), bodies(YAML_LIST));
}

#[test]
fn an_empty_recording_has_no_documents() {
    for text in ["", " \n\t\r\n", "---\n", "# nothing\n\n---\n...\n", "\u{feff}"] {
        assert_eq!(bodies(text), [], "{text:?}");
    }
    assert_eq!(read(gzip(b"")).unwrap(), []);
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
