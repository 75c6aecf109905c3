//! Protobuf and JSON say the same: of every pod and Event that was recorded of real clusters, and over a
//! watch, whichever of the two an API server offers.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use podinit_decode::event::watch::{EventDecoder, EventLineKind};
use podinit_decode::{
    DecodeOptions, ListPage, ObjectEncoding, PodDecoder, SpecField, WatchEventKind,
};
use podinit_kube::watch::event_reader::EventReader;
use podinit_kube::watch::line_reader::FramedEvent;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason};
use podinit_sim::faults::ProtobufSupport;
use podinit_sim::protobuf::{document, event, schema};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use serde_json::{Value, json};

use crate::support::embedded::{Embedded, cluster, put};
use crate::support::watch::{FakeApi, page, pod};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf, application/json";
const PROTOBUF_WATCH: &str = "application/vnd.kubernetes.protobuf;stream=watch, application/json";

/// The documents of every recording in the repository.
fn documents() -> Vec<Value> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut documents = Vec::new();
    for directory in [fixtures.join("recordings"), fixtures] {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let bytes = match fs::read(&path) {
                Ok(bytes) if !name.ends_with(".expected.json") => bytes,
                _ => continue,
            };
            if name.ends_with(".yaml") {
                documents.push(serde_saphyr::from_slice(&bytes).unwrap());
                continue;
            }
            let mut text = String::new();
            match name.ends_with(".gz") {
                true => MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap(),
                false => (&*bytes).read_to_string(&mut text).unwrap(),
            };
            let values = serde_json::Deserializer::from_str(&text).into_iter();
            documents.extend(values.map(Result::<Value, _>::unwrap));
        }
    }
    documents
}

/// The events of watches, and the items of lists as events.
pub(crate) fn events() -> Vec<Value> {
    let mut events = Vec::new();
    for mut document in documents() {
        match document["items"].take() {
            Value::Array(items) => events.extend(items.into_iter().map(|mut item| {
                let kind = document["kind"].as_str().unwrap();
                if item["kind"].is_null() {
                    item["kind"] = kind.trim_end_matches("List").into();
                }
                json!({"type": "ADDED", "object": item})
            })),
            _ => {
                document.as_object_mut().unwrap().remove("observedAt");
                events.push(document);
            }
        }
    }
    events
}

pub(crate) fn everything() -> DecodeOptions {
    DecodeOptions {
        pod_labels: vec!["app".into(), "k8s-app".into(), "empty".into()],
        spec_fields: SpecField::ALL.into(),
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        claims: false,
        nodes: None,
        milestones: vec!["DisruptionTarget".into()],
    }
}

#[test]
fn every_recorded_pod_and_event_is_the_same_in_both_encodings() {
    let (mut pods, mut kube_events) = (0, 0);
    for said in events() {
        let line = said.to_string();
        let frame = event(line.as_bytes()).unwrap();
        if said["object"]["kind"] == "Event" {
            kube_events += 1;
            let of_json = EventDecoder::default().line(line.as_bytes());
            assert!(of_json.is_ok(), "{line}");
            assert_eq!(EventDecoder::default().frame(&frame), of_json, "{line}");
            continue;
        }
        pods += u32::from(said["object"]["kind"] == "Pod");
        let mut decoder = PodDecoder::new(everything());
        let of_json = decoder.watch_event(line.as_bytes());
        assert!(of_json.is_ok(), "{line}");
        assert_eq!(decoder.watch_frame(&frame), of_json, "{line}");
        assert!(frame.len() < line.len());
    }
    assert!(pods > 2_000 && kube_events > 900, "{pods} pods, {kube_events} Events");
}

#[test]
fn every_recorded_list_is_the_same_in_both_encodings() {
    let mut lists = 0;
    for list in documents() {
        let items = list["items"].as_array();
        if list["kind"] != "PodList" || items.is_none() {
            continue;
        }
        lists += 1;
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        let text = list.to_string();
        let of_json = decoder.list_page(text.as_bytes()).unwrap();
        let body = document(text.as_bytes()).unwrap();
        let mut buffer = Vec::new();
        let mut reader = decoder.page(ObjectEncoding::Protobuf, &mut buffer);
        for chunk in body.chunks(1_000) {
            reader.push(chunk).unwrap();
        }
        assert_eq!(reader.finish().unwrap(), of_json);
    }
    assert!(lists >= 10, "{lists} lists");
}

/// What an API server has answered, in `directory`: the same list and the same watch in both encodings.
struct Answers<'a>(&'a Path);

impl Answers<'_> {
    fn read(&self, name: &str, encoding: ObjectEncoding) -> Vec<u8> {
        let form = match encoding {
            ObjectEncoding::Json => "json",
            ObjectEncoding::Protobuf => "protobuf",
        };
        let path = self.0.join(format!("{name}.{form}.gz"));
        let file = fs::File::open(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let mut bytes = Vec::new();
        MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn page(&self, encoding: ObjectEncoding) -> ListPage {
        let (mut decoder, mut buffer) = (PodDecoder::new(everything()), Vec::new());
        let mut reader = decoder.page(encoding, &mut buffer);
        for chunk in self.read("pods.list", encoding).chunks(1_000) {
            reader.push(chunk).unwrap();
        }
        reader.finish().unwrap()
    }

    /// What `decode` makes of each event of a watch.
    fn watch<T>(
        &self,
        name: &str,
        encoding: ObjectEncoding,
        mut decode: impl FnMut(&[u8]) -> T,
    ) -> Vec<T> {
        let mut events = EventReader::new(encoding, 8 << 20);
        let mut found = Vec::new();
        for mut chunk in self.read(name, encoding).chunks(1_000) {
            while let Some(event) = events.next(&mut chunk) {
                let FramedEvent::Whole(event) = event else { panic!("too long") };
                found.push(decode(event));
            }
        }
        found
    }

    /// The pods of the list, and the events of the watches of pods and Events.
    fn agree(&self) -> (usize, usize, usize) {
        let [json, protobuf] = [ObjectEncoding::Json, ObjectEncoding::Protobuf].map(|encoding| {
            let (mut pods, mut kube_events) =
                (PodDecoder::new(everything()), EventDecoder::default());
            let mut version = EventDecoder::default();
            let list = self.read("events.list", encoding);
            (
                self.page(encoding),
                version.version_of_list(encoding, &list).unwrap(),
                self.watch("pods.watch", encoding, |event| {
                    pods.decode_event(encoding, event).unwrap().kind
                }),
                self.watch("events.watch", encoding, |event| {
                    kube_events.decode_event(encoding, event).unwrap().kind
                }),
            )
        });
        assert_eq!(json.0, protobuf.0);
        assert_eq!(json.1, protobuf.1);
        // Bookmarks come by the clock.
        let pods = |events: Vec<WatchEventKind>| -> Vec<WatchEventKind> {
            let is_pod = |event: &WatchEventKind| !matches!(event, WatchEventKind::Bookmark { .. });
            events.into_iter().filter(is_pod).collect()
        };
        let (json_pods, protobuf_pods) = (pods(json.2), pods(protobuf.2));
        assert_eq!(json_pods, protobuf_pods);
        let kube_events = |events: Vec<EventLineKind>| -> Vec<EventLineKind> {
            let is_event = |event: &EventLineKind| *event != EventLineKind::Bookmark;
            events.into_iter().filter(is_event).collect()
        };
        let (json_events, protobuf_events) = (kube_events(json.3), kube_events(protobuf.3));
        assert_eq!(json_events, protobuf_events);
        (json.0.pods.len(), json_pods.len(), json_events.len())
    }
}

/// Recorded of Kubernetes 1.37: pods with every field that is read, and times that are absurd.
#[test]
fn the_answers_of_an_api_server_are_the_same_in_both_encodings() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/encodings");
    assert_eq!(Answers(&directory).agree(), (5, 21, 5));
}

/// The paths of the texts and times that are written in a message, be they empty; those of items with their
/// positions.
fn written(message: &str, mut bytes: &[u8], path: &str, found: &mut BTreeSet<String>) {
    let mut items = 0;
    while !bytes.is_empty() {
        let (number, wire_type) = decode_key(&mut bytes).unwrap();
        if wire_type != WireType::LengthDelimited {
            skip_field(wire_type, number, &mut bytes, DecodeContext::default()).unwrap();
            continue;
        }
        let length = usize::try_from(decode_varint(&mut bytes).unwrap()).unwrap();
        let (inner, rest) = bytes.split_at(length);
        bytes = rest;
        let mut fields = schema::fields(message).unwrap().iter();
        let Some(field) = fields.find(|field| field.number == number) else {
            continue;
        };
        let mut path = format!("{path}.{}", field.name);
        if field.name == "items" {
            path += &items.to_string();
            items += 1;
        }
        match field.kind {
            "string" | "Time" | "MicroTime" => _ = found.insert(path),
            kind if !field.is_map && schema::fields(kind).is_some() => {
                written(kind, inner, &path, found);
            }
            _ => {}
        }
    }
}

/// What an API server leaves out is nothing to a client in Go; what is there and empty is: `kubectl describe`
/// follows the pointer to a time of deletion.
#[test]
fn the_simulated_server_writes_no_text_or_time_that_an_api_server_leaves_out() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/encodings");
    let answers = Answers(&directory);
    for (name, list) in [("pods.list", "PodList"), ("events.list", "EventList")] {
        let of_server = answers.read(name, ObjectEncoding::Protobuf);
        let simulated = document(&answers.read(name, ObjectEncoding::Json)).unwrap();
        let [real, ours] = [of_server, simulated].map(|answer| {
            let mut found = BTreeSet::new();
            written(list, &raw(&answer[4..]), "", &mut found);
            found
        });
        let more: Vec<_> = ours.difference(&real).collect();
        assert!(more.is_empty() && ours.len() > 5, "{name}: {more:?}");
    }
}

/// The field 2 of a message.
fn raw(mut bytes: &[u8]) -> Vec<u8> {
    loop {
        let (number, wire_type) = decode_key(&mut bytes).unwrap();
        assert_eq!(wire_type, WireType::LengthDelimited);
        let length = usize::try_from(decode_varint(&mut bytes).unwrap()).unwrap();
        if number == 2 {
            return bytes[..length].to_vec();
        }
        bytes = &bytes[length..];
    }
}

#[test]
#[ignore = "needs the answers of an API server in PODINIT_ENCODINGS (tests/e2e/run)"]
fn the_answers_of_the_end_to_end_suite_are_the_same_in_both_encodings() {
    let directory = std::env::var("PODINIT_ENCODINGS").unwrap();
    let (listed, pods, events) = Answers(Path::new(&directory)).agree();
    println!("{listed} pods listed, {pods} events of pods, {events} events of Events");
    assert!(listed >= 10 && pods >= 20 && events >= 2);
}

fn asking_for_protobuf() -> FakeApi {
    FakeApi::start_with(vec![PodScope::Cluster], PodSelectors::default(), |config| {
        config.encoding = ObjectEncoding::Protobuf;
    })
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_read_in_the_encoding_that_it_states() {
    let mut api = asking_for_protobuf();
    let list = api.call().await;
    assert_eq!(list.accept, PROTOBUF);
    // JSON, although protobuf was asked for
    list.list("10", None, &page(0..2));
    assert_eq!(api.next_delivery().await, "Listed p0@0 p1@1");
    let watch = api.watch_from("10").await;
    assert_eq!(watch.accept, PROTOBUF_WATCH);
    let writer = watch.protobuf();
    writer.frame("ADDED", &pod("a", 11));
    assert_eq!(api.next_delivery().await, "Applied a@11");
    drop(writer);
    let writer = api.watch_from("11").await.stream();
    writer.event("ADDED", &pod("b", 12));
    assert_eq!(api.next_delivery().await, "Applied b@12");
    assert_eq!(api.all_errors(), 0);
}

#[tokio::test(start_paused = true)]
async fn json_is_asked_for_once_protobuf_is_refused() {
    let mut api = asking_for_protobuf();
    let refused = api.call().await;
    let uri = refused.uri.clone();
    refused.refuse(406, "only application/json");
    let again = api.call().await;
    assert_eq!((again.uri.as_str(), again.accept.as_str()), (uri.as_str(), "application/json"));
    again.list("10", None, &[]);
    assert_eq!(api.next_delivery().await, "Listed ");
    let watch = api.watch_from("10").await;
    assert_eq!(watch.accept, "application/json");
    assert_eq!(api.all_errors(), 0);
    // What is refused in JSON as well is an error.
    watch.refuse(406, "no");
    let again = api.watch_from("10").await;
    assert_eq!(api.errors(WatchErrorReason::ClientError), 1);
    drop(again);
}

#[tokio::test(start_paused = true)]
async fn frames_that_cannot_be_read_cost_only_themselves_unless_they_may_be_deletions() {
    let mut api = asking_for_protobuf();
    api.call().await.list("10", None, &[]);
    assert_eq!(api.next_delivery().await, "Listed ");
    let writer = api.watch_from("10").await.protobuf();
    // A MODIFIED event with an object that is none
    writer.bytes(b"\0\0\0\x0f\x0a\x08MODIFIED\x12\x03\x0a\x01x".to_vec());
    writer.frame("ADDED", &pod("a", 11));
    assert_eq!(api.next_delivery().await, "Applied a@11");
    assert_eq!(api.errors(WatchErrorReason::Decode), 1);
    // The same of a DELETED event
    writer.bytes(b"\0\0\0\x0e\x0a\x07DELETED\x12\x03\x0a\x01x".to_vec());
    assert_eq!(api.next_delivery().await, "SyncLost");
    let writer = {
        api.call().await.list("12", None, &[pod("a", 11)]);
        assert_eq!(api.next_delivery().await, "Listed a@11");
        api.watch_from("12").await.protobuf()
    };
    assert_eq!(api.relists(RelistReason::LostDelete), 1);
    // A frame that is too long, and one that is cut off by the end
    writer.bytes([&(9_u32 << 20).to_be_bytes()[..], b"\x0a\x05ADDED"].concat());
    for _ in 0..9 {
        writer.bytes(vec![0; 1 << 20]);
    }
    drop(writer);
    let writer = api.watch_from("12").await.protobuf();
    writer.frame("MODIFIED", &pod("a", 13));
    assert_eq!(api.next_delivery().await, "Applied a@13");
}

#[tokio::test(start_paused = true)]
async fn pods_are_the_same_whatever_an_api_server_offers() {
    for protobuf in [ProtobufSupport::Offered, ProtobufSupport::Absent, ProtobufSupport::Refused] {
        let cluster = cluster().await;
        cluster.faults().set_modes(|modes| modes.protobuf = protobuf);
        put(&cluster, "a");
        let mut api = Embedded::watching_in(ObjectEncoding::Protobuf, cluster);
        assert_eq!(api.next_delivery().await, "Listed a@1001");
        api.put("b");
        assert_eq!(api.next_delivery().await, "Applied b@1002");
        // It changes while the watch lasts.
        for other in [ProtobufSupport::Absent, ProtobufSupport::Offered, ProtobufSupport::Refused] {
            api.cluster.faults().set_modes(|modes| modes.protobuf = other);
            let stream = podinit_sim::faults::StreamFault::Gone;
            api.cluster.faults().stream(stream);
            while !api.next_delivery().await.starts_with("Listed") {}
        }
        let client_errors = api.errors(WatchErrorReason::ClientError);
        assert_eq!((client_errors, api.errors(WatchErrorReason::Decode)), (0, 0), "{protobuf:?}");
    }
}
