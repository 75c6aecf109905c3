//! Random recordings: JSON and YAML give the same documents, and neither the size of reads nor the layout
//! changes them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use podinit_testing::random::{any_event, any_pod, any_value, same_in_every_run};

/// Returns its bytes in steps of the given sizes, in rotation.
struct Steps {
    input: Cursor<Vec<u8>>,
    steps: Vec<usize>,
    next: usize,
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let step = self.steps[self.next % self.steps.len()];
        self.next += 1;
        let step = step.min(buffer.len());
        self.input.read(&mut buffer[..step])
    }
}

/// The documents, and the error that ended them, if any.
fn read(bytes: &[u8], steps: &[usize]) -> (Vec<RecordingDocument>, Option<String>) {
    let input = Steps { input: Cursor::new(bytes.to_vec()), steps: steps.to_vec(), next: 0 };
    let mut documents = Vec::new();
    for document in Recording::from_reader("test", input, DecodeOptions::default()) {
        match document {
            Ok(document) => documents.push(document),
            Err(error) => return (documents, Some(error.to_string())),
        }
    }
    (documents, None)
}

fn bodies(documents: Vec<RecordingDocument>) -> Vec<(Option<RecordedPods>, RecordedEvidence)> {
    documents.into_iter().map(|document| (document.pods, document.evidence)).collect()
}

fn any_document() -> impl Strategy<Value = Value> {
    let event = prop::sample::select(vec!["ADDED", "MODIFIED", "DELETED"]);
    prop_oneof![
        any_pod(),
        any_event(),
        (event, prop_oneof![any_pod(), any_event()]).prop_map(|(event, object)| json!({
            "type": event, "object": object, "observedAt": "2026-01-02T03:04:05.25Z",
        })),
        prop::collection::vec(prop_oneof![any_pod(), any_event()], 0..4)
            .prop_map(|items| json!({"kind": "List", "items": items, "metadata": {}})),
        prop::collection::vec(any_event(), 0..3)
            .prop_map(|events| json!({"items": events, "kind": "EventList"})),
    ]
}

proptest! {
    #![proptest_config(same_in_every_run(128))]

    #[test]
    fn layout_and_size_of_reads_do_not_matter(
        documents in prop::collection::vec(any_document(), 0..4),
        steps in prop::collection::vec(1..64_usize, 1..8),
    ) {
        let compact: String = documents.iter().map(Value::to_string).collect();
        let pretty: Vec<_> = documents
            .iter()
            .map(|value| serde_json::to_string_pretty(value).unwrap())
            .collect();
        let pretty = format!("\n{}\n", pretty.join("\r\n"));
        let (whole, error) = read(compact.as_bytes(), &[usize::MAX]);
        prop_assert_eq!(error, None);
        prop_assert_eq!(whole.len(), documents.len());
        prop_assert_eq!(&read(compact.as_bytes(), &steps).0, &whole);
        let (laid_out, error) = read(pretty.as_bytes(), &steps);
        prop_assert_eq!(error, None);
        prop_assert_eq!(bodies(laid_out), bodies(whole));
    }

    #[test]
    fn yaml_and_json_give_the_same_documents(documents in prop::collection::vec(any_document(), 1..4)) {
        let json: String = documents.iter().map(Value::to_string).collect();
        let yaml: String = documents
            .iter()
            .map(|value| format!("---\n{}", serde_saphyr::to_string(value).unwrap()))
            .collect();
        let (from_yaml, error) = read(yaml.as_bytes(), &[usize::MAX]);
        prop_assert_eq!(error, None, "{}", yaml);
        let (from_json, _) = read(json.as_bytes(), &[usize::MAX]);
        prop_assert_eq!(bodies(from_yaml), bodies(from_json));
    }

    #[test]
    fn a_truncated_recording_gives_its_whole_documents_and_an_error(
        documents in prop::collection::vec(any_document(), 1..3),
        cut in any::<prop::sample::Index>(),
    ) {
        let text: String = documents.iter().map(|value| format!("{value}\n")).collect();
        let cut = cut.index(text.len());
        let (read, error) = read(&text.as_bytes()[..cut], &[usize::MAX]);
        let newlines = text.as_bytes()[..cut].iter().filter(|byte| **byte == b'\n').count();
        let at_end = text.as_bytes()[cut] == b'\n';
        prop_assert_eq!(read.len(), newlines + usize::from(at_end));
        let newline = text.as_bytes()[..cut].iter().rposition(|byte| *byte == b'\n');
        let began = newline.map_or(0, |newline| newline + 1);
        prop_assert_eq!(error.is_some(), cut > began && !at_end);
    }

    #[test]
    fn no_input_makes_it_panic(
        head in prop::sample::select(vec!["", "{", "---\n", "{\"items\":[", "items:\n- "]),
        value in any_value(),
        bytes in any::<Vec<u8>>(),
        steps in prop::collection::vec(1..9_usize, 1..4),
    ) {
        let text = [head.as_bytes(), value.to_string().as_bytes(), &bytes].concat();
        let (documents, error) = read(&text, &steps);
        prop_assert_eq!(read(&text, &[usize::MAX]), (documents, error));
    }
}
