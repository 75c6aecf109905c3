#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{DecodeOptions, ListPage, ObjectEncoding, SpecField, WatchEventKind};
use podinit_sim::protobuf::{document, event};
use podinit_testing::random::{any_pod, any_value, same_in_every_run};
use to_json::to_json;

mod to_json;

pub(super) fn everything() -> DecodeOptions {
    DecodeOptions {
        pod_labels: vec!["app".into(), "x".into()],
        spec_fields: SpecField::ALL.into(),
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        // No recording is in protobuf.
        claims: false,
        nodes: None,
        milestones: vec!["example.com/Loaded".into()],
    }
}

pub(super) fn decoder() -> PodDecoder {
    PodDecoder::new(everything())
}

/// `pod` as an event in protobuf.
fn frame_of(pod: &Value) -> Vec<u8> {
    let mut pod = pod.clone();
    pod["kind"] = "Pod".into();
    event(json!({"type": "MODIFIED", "object": pod}).to_string().as_bytes()).unwrap()
}

fn page_of(body: &[u8], chunks: impl Iterator<Item = usize>) -> Result<ListPage, DecodeError> {
    let (mut decoder, mut buffer) = (decoder(), b"left over".to_vec());
    let mut page = decoder.page(ObjectEncoding::Protobuf, &mut buffer);
    let mut rest = body;
    for chunk in chunks {
        let (now, later) = rest.split_at(chunk.min(rest.len()));
        page.push(now)?;
        rest = later;
    }
    page.push(rest)?;
    page.finish()
}

fn pod_list() -> Value {
    json!({
        "kind": "PodList", "apiVersion": "v1",
        "metadata": {"resourceVersion": "12", "continue": "more", "remainingItemCount": 3},
        "items": [
            {"metadata": {"uid": "a", "name": "first", "creationTimestamp": "2026-01-02T03:04:05Z"}},
            {"metadata": {"name": "none"}},
            {"metadata": {"uid": "b", "labels": {"app": "web", "x": ""}}, "status": {"phase": "Failed"}},
        ],
    })
}

proptest! {
    #![proptest_config(same_in_every_run(512))]

    #[test]
    fn a_pod_is_the_same_in_both_encodings(pod in any_pod()) {
        let frame = frame_of(&pod);
        // Without the values of a wrong type, which no API server has.
        let typed = to_json(&frame).unwrap().to_string();
        let read = decoder().watch_event(typed.as_bytes());
        prop_assert_eq!(decoder().watch_frame(&frame), read, "{}", typed);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in any::<Vec<u8>>(), cut in 0..64_usize) {
        let _ = decoder().watch_frame(&bytes);
        let _ = EventDecoder::default().frame(&bytes);
        let _ = EventDecoder::default().version_of_protobuf_list(&bytes);
        let _ = error_status(&bytes);
        let _ = page_of(&bytes, [cut].into_iter());
    }

    /// A damaged pod is a pod, or costs only itself.
    #[test]
    fn damage_is_no_panic_and_no_other_version(
        pod in any_pod(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut frame = frame_of(&pod);
        let place = place.index(frame.len());
        frame[place] = byte;
        let _ = decoder().watch_frame(&frame);
        frame.truncate(place);
        prop_assert!(decoder().watch_frame(&frame).is_err());
    }

    #[test]
    fn a_page_is_the_same_however_it_is_cut(items in prop::collection::vec(any_value(), 0..4), cuts in prop::collection::vec(1..40_usize, 0..40)) {
        let mut list = pod_list();
        for item in items.into_iter().filter(Value::is_object) {
            list["items"].as_array_mut().unwrap().push(item);
        }
        let body = document(list.to_string().as_bytes()).unwrap();
        let whole = page_of(&body, std::iter::empty()).unwrap();
        prop_assert_eq!(page_of(&body, cuts.into_iter()).unwrap(), whole);
    }
}

#[test]
fn a_page_says_what_its_json_says() {
    let list = pod_list();
    let body = document(list.to_string().as_bytes()).unwrap();
    let page = page_of(&body, std::iter::repeat_n(1, body.len())).unwrap();
    assert_eq!(page, decoder().list_page(list.to_string().as_bytes()).unwrap());
    assert_eq!((page.pods.len(), page.undecodable), (2, 1));
    for end in 0..body.len() {
        // The last four bytes are the empty fields after the list.
        let cut = page_of(&body[..end], std::iter::empty());
        assert_eq!(cut.is_ok(), [4, 2].contains(&(body.len() - end)), "{end}");
    }
}

#[test]
fn an_empty_list_is_one_and_another_kind_is_none() {
    let list =
        |kind: &str| json!({"kind": kind, "metadata": {"resourceVersion": "3"}, "items": null});
    let body = |kind: &str| document(list(kind).to_string().as_bytes()).unwrap();
    let page = page_of(&body("PodList"), std::iter::empty()).unwrap();
    assert_eq!((page.pods.len(), page.resource_version.as_deref()), (0, Some("3")));
    let events = page_of(&body("EventList"), std::iter::empty()).unwrap_err();
    assert_eq!(events, ObjectFault::NotAList("EventList".into()).into());
    let version = |body: &[u8]| EventDecoder::default().version_of_protobuf_list(body);
    assert_eq!(version(&body("EventList")), Ok(Some("3".to_owned())));
    assert!(version(&body("PodList")).is_err());
    assert!(matches!(page_of(b"{\"kind\"", std::iter::empty()), Err(DecodeError::Protobuf(_))));
    let without_list = b"k8s\0\x0a\x09\x12\x07PodList";
    let error = page_of(without_list, std::iter::empty()).unwrap_err();
    assert_eq!(error, ObjectFault::NoItems.into());
}

#[test]
fn a_malformed_item_costs_only_itself() {
    let items = [&b"\x12\x02\x0a\x7f"[..], b"\x12\x05\x0a\x03\x2a\x01a"].concat();
    let list = [&[0x12, items.len() as u8], &items[..]].concat();
    let body = [b"k8s\0\x0a\x09\x12\x07PodList", &list[..]].concat();
    let page = page_of(&body, std::iter::empty()).unwrap();
    assert_eq!((page.pods.len(), page.undecodable), (1, 1));
}

#[test]
fn a_malformed_object_tells_its_version() {
    let pod = [&b"\x0a\x06\x2a\x01a\x32\x018"[..], b"\x1a\x02\x12\x7f"].concat();
    let answer = [&b"k8s\0\x12"[..], &[pod.len() as u8], &pod].concat();
    let extension = [&b"\x0a"[..], &[answer.len() as u8], &answer].concat();
    let frame = [&b"\x0a\x05ADDED\x12"[..], &[extension.len() as u8], &extension].concat();
    let unreadable =
        DecodeError::Object { resource_version: Some(8), fault: ObjectFault::Unreadable };
    assert_eq!(decoder().watch_frame(&frame), Err(unreadable));
    assert!(matches!(decoder().watch_frame(b"\x0a\x7f"), Err(DecodeError::Protobuf(_))));
}

/// Kubernetes writes the elements of a list one after another; the format does not ask for it.
#[test]
fn the_elements_of_a_list_may_be_apart() {
    let containers =
        [&b"\x12\x03\x0a\x01a"[..], b"\x58\x01", b"\x12\x03\x0a\x01b", b"\x52\x01n"].concat();
    let spec = [&[0x12, containers.len() as u8], &containers[..]].concat();
    let pod = [&b"\x0a\x03\x2a\x01u"[..], &spec].concat();
    let read = object_of(&pod, schema::POD, &mut DecodeContext::new(everything())).unwrap();
    let pod = read.into_pod(&mut DecodeContext::new(everything())).unwrap();
    let names: Vec<&str> = pod.containers.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(pod.info.host_network);
    assert_eq!(pod.info.node.as_deref(), Some("n"));
}

#[test]
fn a_field_of_another_type_is_absent() {
    // The UID, then a name and a creationTimestamp that are numbers, and labels that are one
    let metadata = b"\x2a\x01u\x08\x05\x40\x05\x58\x05";
    let pod = [&[0x0a, metadata.len() as u8], &metadata[..]].concat();
    let mut context = DecodeContext::new(everything());
    let read = object_of(&pod, schema::POD, &mut context).unwrap();
    let pod = read.into_pod(&mut context).unwrap();
    assert_eq!((&*pod.info.name, pod.created), ("", None));
}

#[test]
fn events_of_every_type_are_told_apart() {
    let frame = |event_type: &str, object: Value| {
        let line = json!({"type": event_type, "object": object}).to_string();
        let both = (
            decoder().watch_frame(&event(line.as_bytes()).unwrap()),
            decoder().watch_event(line.as_bytes()),
        );
        assert_eq!(both.0, both.1, "{line}");
        both.0
    };
    let pod = json!({"kind": "Pod", "metadata": {"uid": "a", "resourceVersion": "7"}});
    for event_type in ["ADDED", "MODIFIED", "DELETED", "NEW"] {
        assert_eq!(frame(event_type, pod.clone()).is_ok(), event_type != "NEW");
    }
    let annotations = json!({"k8s.io/initial-events-end": "true"});
    let end =
        json!({"kind": "Pod", "metadata": {"resourceVersion": "9", "annotations": annotations}});
    assert_eq!(
        frame("BOOKMARK", end).unwrap().kind,
        WatchEventKind::Bookmark { resource_version: Some("9".into()), initial_events_end: true }
    );
    let expired = json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"});
    frame("ERROR", expired).unwrap();
    let node = json!({"kind": "PersistentVolumeClaim", "metadata": {"uid": "a"}});
    let line = json!({"type": "ADDED", "object": node}).to_string();
    assert_eq!(event(line.as_bytes()), None, "the simulated API server has no such objects");
    let error = decoder().watch_frame(b"\x0a\x05ERROR\x12\x03\x0a\x01x").unwrap();
    assert!(matches!(error.kind, WatchEventKind::Error(status) if status.code == 0));
}

#[test]
fn a_status_explains_an_error() {
    let status = json!({"kind": "Status", "message": "busy", "code": 429, "details": {"retryAfterSeconds": 3}});
    let answer = document(status.to_string().as_bytes()).unwrap();
    let expected = ErrorStatus { message: "busy".into(), retry_after_seconds: Some(3) };
    assert_eq!(error_status(&answer), Some(expected));
    let pod = document(br#"{"kind":"Pod","metadata":{}}"#).unwrap();
    assert_eq!(error_status(&pod), None);
    assert_eq!(error_status(b"busy"), None);
}
