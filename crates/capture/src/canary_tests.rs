//! No name leaves a cluster in an anonymized recording: a name is planted in every text and every key of
//! all that an API server sends, and searched for in the file that is written.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod fabricated;

use std::io::{Read, Write};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::api::core::v1::{Event, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use k8s_openapi::{List, Metadata};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::fabricated::{TIME, fabricated};
use super::{Anonymizer, CaptureDestination, CaptureOutput, DocumentRecorder, OutputConfig};
use podinit_core::timestamp::Timestamp;

/// The name that must not get out. None of it is a word of Kubernetes.
const NAME: &str = "zyxwelt-payroll";

/// What API servers and strangers make of a name.
fn shapes() -> Vec<String> {
    let token = format!(r#"{{"v":"meta.k8s.io/v1","rv":7,"start":"{NAME}/{NAME}\u0000"}}"#);
    vec![
        NAME.to_owned(),
        NAME.to_uppercase(),
        BASE64_STANDARD.encode(token),
        BASE64_STANDARD.encode(gzip(NAME.as_bytes())),
        format!("0/3 nodes are available: 3 {NAME}, 1 node(s) had taint {{{NAME}: {NAME}}}."),
        format!("spec.containers{{{NAME}}}"),
        format!("{NAME}.18a2b3c4d5e6f708"),
        format!("web.{NAME}"),
        format!("{NAME}.k8s.io/v1"),
        format!("apps/{NAME}"),
        format!("kubernetes.io/{NAME}"),
        format!("{NAME}.svc.cluster.local:443/healthz?{NAME}=1"),
        format!("docker.io/{NAME}/{NAME}:{NAME}@sha256:{NAME}"),
        format!("Failed to pull image \"quay.io/{NAME}:1\": {NAME}: not found"),
        format!("2026-03-01T10:00:00Z{NAME}"),
        format!("7{NAME}"),
        format!("kubelet-{NAME}-controller"),
        format!("Ready{NAME}"),
        format!("not found\\n\\\"{NAME}\\\"\n\u{202e}'{NAME}'(`{NAME}`)=[{NAME}];<{NAME}>|{NAME}|"),
    ]
}

/// An object of type `T` that says `text` wherever it can.
fn object<T: DeserializeOwned + Serialize>(text: &str) -> Value {
    serde_json::to_value(fabricated::<T>(text)).unwrap()
}

/// What an API server may send, with `text` wherever it can stand.
fn documents(text: &str) -> Vec<Value> {
    let (pod, event) = (object::<Pod>(text), object::<Event>(text));
    let bookmark = Pod { metadata: fabricated::<Pod>(text).metadata().clone(), ..Pod::default() };
    let mut mixed = object::<List<Pod>>(text);
    mixed["kind"] = json!("List");
    mixed["items"] = json!([pod, event, object::<Node>(text)]);
    let mut bare_items = object::<List<Pod>>(text);
    bare_items["items"][0].as_object_mut().unwrap().remove("kind");
    let watched = |kind: &str, object: Value| json!({"type": kind, "object": object, (text): text});
    vec![
        object::<List<Pod>>(text),
        object::<List<Event>>(text),
        object::<List<Node>>(text),
        mixed,
        bare_items,
        watched("ADDED", pod),
        watched("MODIFIED", event),
        watched("MODIFIED", object::<Node>(text)),
        watched("BOOKMARK", serde_json::to_value(bookmark).unwrap()),
        watched("ERROR", object::<Status>(text)),
    ]
}

/// Every text in `value` becomes `text`, also times and whatever says what an object is.
fn plant_everywhere(value: &mut Value, text: &str) {
    match value {
        Value::String(old) => *old = text.to_owned(),
        Value::Array(elements) => elements.iter_mut().for_each(|e| plant_everywhere(e, text)),
        Value::Object(fields) => fields.values_mut().for_each(|f| plant_everywhere(f, text)),
        _ => {}
    }
}

/// The pointers of all that says what an object is.
const KINDS: [&str; 7] = [
    "/kind",
    "/apiVersion",
    "/type",
    "/object/kind",
    "/items/0/kind",
    "/items/1/kind",
    "/items/2/kind",
];

/// The documents with `text`; then those in which times are replaced too; then, one after the other,
/// those in which a field that says what an object is has been replaced.
fn planted(text: &str) -> Vec<Value> {
    let documents = documents(text);
    let everywhere = documents.iter().map(|document| {
        let mut planted = document.clone();
        plant_everywhere(&mut planted, text);
        for pointer in KINDS {
            if let (Some(to), Some(kind)) =
                (planted.pointer_mut(pointer), document.pointer(pointer))
            {
                *to = kind.clone();
            }
        }
        planted
    });
    let of_unknown_kind = documents.iter().flat_map(|document| {
        KINDS.iter().filter_map(|pointer| {
            let mut planted = document.clone();
            *planted.pointer_mut(pointer)? = json!(text);
            Some(planted)
        })
    });
    let everywhere: Vec<_> = everywhere.collect();
    let of_unknown_kind: Vec<_> = of_unknown_kind.collect();
    [documents, everywhere, of_unknown_kind].concat()
}

/// The file that an anonymized recording of `documents` is.
fn recorded(documents: &[Value]) -> Vec<u8> {
    let recorder = DocumentRecorder::new(Some(Anonymizer::with_key([7; 32])));
    let directory = tempfile::tempdir().unwrap();
    let config = OutputConfig {
        destination: CaptureDestination::Directory(directory.path().to_owned()),
        compress: true,
        rotate_bytes: u64::MAX,
        keep_files: 1,
    };
    let mut output = CaptureOutput::create(config, "canary".to_owned()).unwrap();
    for document in documents {
        let json = serde_json::to_vec(document).unwrap();
        if let Some(document) = recorder.document(&json, Timestamp::from_seconds(1_772_359_200)) {
            output.write(&document).unwrap();
        }
    }
    output.flush().unwrap();
    std::fs::read(output.path().unwrap()).unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Where `NAME` stands in `bytes`, in any case, also after unpacking gzip and base64.
fn found(bytes: &[u8]) -> Option<String> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut text = Vec::new();
        // What is cut off is searched as far as it goes.
        let _ = MultiGzDecoder::new(bytes).read_to_end(&mut text);
        return found(&text);
    }
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    if let Some(at) = text.find(NAME) {
        let before = &text.as_bytes()[at.saturating_sub(200)..at + NAME.len()];
        return Some(String::from_utf8_lossy(before).into_owned());
    }
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let decoders = [&alphabet::STANDARD, &alphabet::URL_SAFE];
    let decoders = decoders.map(|alphabet| GeneralPurpose::new(alphabet, config));
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    bytes
        .split(|byte| !is_base64(byte))
        .filter(|word| word.len() >= NAME.len())
        .flat_map(|word| decoders.each_ref().map(|decoder| decoder.decode(word)))
        .find_map(|decoded| found(&decoded.ok()?))
}

#[test]
fn a_name_in_any_field_of_any_document_is_not_in_the_file() {
    for shape in shapes() {
        let planted = planted(&shape);
        for document in &planted {
            let text = document.to_string();
            assert!(found(text.as_bytes()).is_some(), "{shape} is not found where it is");
            if let Some(leak) = found(&recorded(std::slice::from_ref(document))) {
                panic!("{shape} has got out: {leak}");
            }
        }
    }
}

/// The documents have all fields of their types, so that the test above says something.
#[test]
fn a_name_is_planted_in_every_field() {
    let pod = object::<Pod>(NAME);
    for pointer in [
        "/metadata/managedFields/0/fieldsV1",
        "/metadata/ownerReferences/0/apiVersion",
        "/spec/ephemeralContainers/0/env/0/valueFrom/secretKeyRef/name",
        "/spec/volumes/0/projected/sources/0/secret/items/0/path",
        "/status/containerStatuses/0/lastState/terminated/message",
    ] {
        assert!(pod.pointer(pointer).is_some_and(|text| *text != Value::Null), "{pointer}");
    }
    assert_eq!(pod["metadata"]["labels"][NAME], NAME);
    assert!(pod["status"]["startTime"].as_str().unwrap().starts_with(&TIME[..19]));
    assert_eq!(object::<List<Pod>>(NAME)["metadata"]["continue"], NAME);
    assert_eq!(object::<Event>(NAME)["reportingComponent"], NAME);
}

/// The canary can only sing where the recording is one: what is kept is still readable.
#[test]
fn what_is_recorded_of_the_planted_documents_can_be_read() {
    let file = recorded(&documents(NAME));
    let mut text = String::new();
    MultiGzDecoder::new(&*file).read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 10, "{text}");
    for line in text.lines() {
        let document: Value = serde_json::from_str(line).unwrap();
        assert!(document["observedAt"].is_string(), "{line}");
    }
}
