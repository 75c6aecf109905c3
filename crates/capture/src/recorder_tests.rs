#![allow(clippy::unwrap_used)]

use super::*;
use podinit_decode::DecodeOptions;
use podinit_recordings::reader::Recording;

const AT: Timestamp = Timestamp::from_nanos(1_772_359_200_250_000_000);

fn recorders() -> [DocumentRecorder; 2] {
    let anonymizer = Anonymizer::with_key([7; 32]);
    [None, Some(anonymizer)].map(DocumentRecorder::new)
}

/// What is recorded of `json`, as text.
fn recorded(recorder: &DocumentRecorder, json: &[u8]) -> Option<String> {
    Some(String::from_utf8(recorder.document(json, AT)?).unwrap())
}

/// How many pods `replay` reads in a document.
fn pods(document: &str) -> usize {
    let input = std::io::Cursor::new(document.to_owned());
    let mut recording = Recording::from_reader("test", input, DecodeOptions::default());
    let document = recording.next().unwrap().unwrap();
    let pods = document.snapshots().count();
    assert!(recording.next().is_none());
    pods
}

fn counts(left_out: u64, repaired: u64) -> RecorderCounts {
    RecorderCounts { left_out, repaired }
}

#[test]
fn the_time_of_arrival_is_put_in_front_and_the_rest_stays() {
    let [plain, _] = recorders();
    let json = r#"{"type":"ADDED","object":{ "metadata": {"uid":"a"},"x":1.50}}"#;
    assert_eq!(
        recorded(&plain, json.as_bytes()).unwrap(),
        r#"{"observedAt":"2026-03-01T10:00:00.25Z","type":"ADDED","object":{ "metadata": {"uid":"a"},"x":1.50}}"#
    );
    let forged = r#"{"observedAt":"noon","kind":"PodList","items":null}"#;
    assert_eq!(
        recorded(&plain, forged.as_bytes()).unwrap(),
        r#"{"observedAt":"2026-03-01T10:00:00.25Z","kind":"PodList","items":[]}"#
    );
    assert_eq!(plain.counts(), counts(0, 0));
}

/// What one object holds, that `replay` or other readers of JSON cannot read.
fn odd_objects() -> Vec<Vec<u8>> {
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    let with = |value: &str| format!(r#"{{"metadata":{{"uid":"odd"}},"x":{value}}}"#).into_bytes();
    vec![
        with(&deep),
        with(&deep.replace('[', r#"{"a":"#).replace(']', "}")),
        with("1e999"),
        with(&"9".repeat(400)),
        with(r#""\ud800""#),
        br#"{"metadata":{"name":"without a uid"}}"#.to_vec(),
        br#"{"kind":"Secret","metadata":{"uid":"a"}}"#.to_vec(),
        br#"{"kind":"Node","metadata":{"name":"without a uid"}}"#.to_vec(),
        b"17".to_vec(),
        b"null".to_vec(),
    ]
}

#[test]
fn an_odd_object_is_left_out_and_counted_and_the_rest_is_recorded() {
    for recorder in recorders() {
        for (number, odd) in odd_objects().into_iter().enumerate() {
            let line = [br#"{"type":"ADDED","object":"#, &*odd, b"}"].concat();
            assert_eq!(recorded(&recorder, &line), None, "{number}");
            let good = br#"{"metadata":{"uid":"good"}}"#;
            let list = [
                br#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":["#,
                &*odd,
                b",",
                good,
                b",",
                &odd,
                b"]}",
            ]
            .concat();
            let document = recorded(&recorder, &list).unwrap();
            assert_eq!(pods(&document), 1, "{number}");
            let left_out = 3 * (number as u64 + 1);
            assert_eq!(recorder.counts(), counts(left_out, 0));
        }
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_never_written() {
    for recorder in recorders() {
        let line =
            b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"a\",\"name\":\"\xff\xfe\"}}}";
        assert_eq!(pods(&recorded(&recorder, line).unwrap()), 1);
        assert_eq!(recorder.counts(), counts(0, 1));
        let between = b"{\"type\":\"ADDED\",\xff\"object\":{\"metadata\":{\"uid\":\"a\"}}}";
        assert_eq!(recorded(&recorder, between), None);
        assert_eq!(recorder.counts(), counts(1, 1));
    }
}

#[test]
fn what_is_neither_a_list_nor_a_watch_event_is_not_recorded() {
    let documents = [
        "",
        "{",
        "7",
        "[]",
        "{}",
        r#"{"kind":"PodList"}"#,
        r#"{"kind":"PodList","items":7}"#,
        r#"{"kind":"PodList","metadata":{"x":1e999},"items":[]}"#,
        r#"{"kind":"SecretList","items":[]}"#,
        r#"{"items":[]}"#,
        r#"{"type":"NEW","object":{"metadata":{"uid":"a"}}}"#,
        r#"{"type":7,"object":{"metadata":{"uid":"a"}}}"#,
        r#"{"object":{"metadata":{"uid":"a"}}}"#,
        r#"{"type":"BOOKMARK","object":7}"#,
    ];
    for recorder in recorders() {
        for document in documents {
            assert_eq!(recorded(&recorder, document.as_bytes()), None, "{document}");
        }
        assert_eq!(recorder.counts(), counts(documents.len() as u64, 0));
    }
}

#[test]
fn what_says_nothing_about_a_pod_is_recorded_as_well() {
    for recorder in recorders() {
        for document in [
            r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}"#,
            r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#,
            r#"{"type":"ADDED","object":{"kind":"Event","involvedObject":{"uid":"a"}}}"#,
        ] {
            assert!(recorded(&recorder, document.as_bytes()).is_some(), "{document}");
        }
        assert_eq!(recorder.counts(), counts(0, 0));
    }
}
