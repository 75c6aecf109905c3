//! A decoder that remembers pods reads each event as one does that has seen nothing.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tests::{decoder, everything};
use super::super::{SentEvent, pod_parts};
use crate::{PodDecoder, WatchEventKind};
use podinit_sim::protobuf::event;
use podinit_testing::random::{any_pod, any_value, same_in_every_run};

/// The places that change in the life of a pod, and some that Kubernetes does not let change.
const CHANGES: [&str; 16] = [
    "/metadata/resourceVersion",
    "/metadata/deletionTimestamp",
    "/metadata/labels",
    "/metadata/annotations",
    "/metadata/managedFields",
    "/metadata/name",
    "/metadata/ownerReferences",
    "/spec/nodeName",
    "/spec/schedulingGates",
    "/spec/containers/0/image",
    "/spec/initContainers",
    "/spec/readinessGates",
    "/status",
    "/status/phase",
    "/status/conditions/1/status",
    "/status/containerStatuses/0/state",
];

fn frame(event_type: &str, pod: &Value) -> Vec<u8> {
    let mut pod = pod.clone();
    pod["kind"] = "Pod".into();
    let line = json!({"type": event_type, "object": pod}).to_string();
    event(line.as_bytes()).unwrap()
}

/// What happens to one of three pods.
#[derive(Clone, Debug)]
enum Change {
    /// It is another one of this name, or is seen for the first time
    New(Value),
    /// A place of it has another value
    Place(&'static str, Value),
    Deleted,
    /// A byte of what is sent is another
    Damaged(prop::sample::Index, u8),
}

fn any_change() -> impl Strategy<Value = (usize, Change)> {
    let place = prop::sample::select(&CHANGES[..]);
    let text = prop::sample::select(vec!["", "a", "True", "2026-01-02T03:04:05Z", "7"]);
    let value = prop_oneof![any_value(), text.prop_map(Value::from)];
    let change = prop_oneof![
        2 => any_pod().prop_map(Change::New),
        8 => (place, value).prop_map(|(place, value)| Change::Place(place, value)),
        1 => Just(Change::Deleted),
        2 => (any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(place, byte)| Change::Damaged(place, byte)),
    ];
    (0..3_usize, change)
}

proptest! {
    #![proptest_config(same_in_every_run(256))]

    #[test]
    fn what_is_remembered_changes_nothing(
        first in any_pod(),
        sharded in any::<bool>(),
        changes in prop::collection::vec(any_change(), 1..24),
    ) {
        let shard = sharded.then(|| "1/2".parse().unwrap());
        let fresh = || decoder().of_shard(shard);
        let mut remembers = fresh();
        let mut pods = [first.clone(), first.clone(), first];
        for (number, change) in changes {
            let pod = &mut pods[number];
            let mut event_type = "MODIFIED";
            let mut damage = None;
            match change {
                Change::New(new) => *pod = new,
                Change::Place(place, value) => {
                    if let Some(field) = pod.pointer_mut(place) {
                        *field = value;
                    }
                }
                Change::Deleted => event_type = "DELETED",
                Change::Damaged(place, byte) => damage = Some((place, byte)),
            }
            pod["metadata"]["uid"] = format!("pod-{number}").into();
            let mut frame = frame(event_type, pod);
            if let Some((place, byte)) = damage {
                let place = place.index(frame.len());
                frame[place] = byte;
            }
            let read = remembers.watch_frame(&frame);
            prop_assert_eq!(read, fresh().watch_frame(&frame), "{}", pod);
        }
    }
}

fn pod(uid: &str) -> Value {
    json!({
        "metadata": {"uid": uid, "name": "web", "resourceVersion": "7", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        "status": {"phase": "Pending"},
    })
}

fn is_known(decoder: &mut PodDecoder, frame: &[u8]) -> bool {
    let answer = SentEvent::from_frame(frame).unwrap().answer.unwrap();
    let parts = pod_parts(answer, &decoder.0.memory.hashes).unwrap();
    parts.pod(&mut decoder.0).is_some()
}

#[test]
fn a_pod_is_known_until_its_spec_or_its_labels_change_or_it_is_deleted() {
    let mut decoder = PodDecoder::new(everything());
    let mut web = pod("web");
    let seen = |decoder: &mut PodDecoder, event_type: &str, pod: &Value| {
        let frame = frame(event_type, pod);
        let known = is_known(decoder, &frame);
        decoder.watch_frame(&frame).unwrap();
        known
    };
    assert!(!seen(&mut decoder, "ADDED", &web));
    web["metadata"]["resourceVersion"] = "8".into();
    web["metadata"]["deletionTimestamp"] = "2026-01-02T03:04:05Z".into();
    web["metadata"]["managedFields"] = json!([{"manager": "kubelet"}]);
    web["status"]["phase"] = "Running".into();
    assert!(seen(&mut decoder, "MODIFIED", &web));
    assert!(!seen(&mut decoder, "ADDED", &pod("another")));
    web["spec"]["nodeName"] = "n".into();
    assert!(!seen(&mut decoder, "MODIFIED", &web));
    web["metadata"]["labels"]["app"] = "shop".into();
    assert!(!seen(&mut decoder, "MODIFIED", &web));
    assert!(seen(&mut decoder, "DELETED", &web));
    assert!(!seen(&mut decoder, "ADDED", &web));
    assert!(seen(&mut decoder, "MODIFIED", &pod("another")));
}

#[test]
fn a_malformed_status_of_a_known_pod_is_an_error() {
    let mut decoder = PodDecoder::new(everything());
    let whole = frame("MODIFIED", &pod("web"));
    assert!(matches!(decoder.watch_frame(&whole).unwrap().kind, WatchEventKind::Modified(_)));
    let phase = memchr::memmem::find(&whole, b"Pending").unwrap();
    let mut damaged = whole.clone();
    damaged[phase - 1] = 0x7f;
    assert!(is_known(&mut decoder, &whole) && !is_known(&mut decoder, &damaged));
    assert!(decoder.watch_frame(&damaged).is_err());
}
