//! Random Events, mutilated at random, against a plain reading of the same fields from a
//! `serde_json::Value`. The generator also serves the tests of recordings.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::Value;

use super::tests::{event, full};
use super::*;
use crate::decode::properties::{any_value, same_in_every_run};
use crate::decode::rfc3339;

/// The places at which an Event is mutilated.
const PLACES: [&str; 14] = [
    "/metadata",
    "/metadata/name",
    "/involvedObject",
    "/involvedObject/kind",
    "/involvedObject/uid",
    "/involvedObject/fieldPath",
    "/reason",
    "/message",
    "/source",
    "/source/component",
    "/firstTimestamp",
    "/eventTime",
    "/reportingComponent",
    "/count",
];

/// Texts of which some field makes something.
fn word() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "Pulling",
        "Pulled",
        "Created",
        "Started",
        "Failed",
        "FailedMount",
        "FailedCreatePodSandBox",
        "Pod",
        "Node",
        "kubelet",
        "spec.initContainers{a}",
        "x.17f0000000000000",
        "x.y.zz",
        "2026-01-02T03:04:05Z",
        "Failed to pull image \"a/b\": no",
        "Container image \"quay.io/b\" already present on machine",
        "Successfully pulled image \"a\" in 1h2m3.5s",
        "Failed to create pod sandbox: CNI",
    ]);
    words.prop_map(Value::from)
}

/// An Event in which anything may be anything.
pub(crate) fn any_event() -> impl Strategy<Value = Value> {
    let value = prop_oneof![any_value(), word()];
    let change = (prop::sample::select(&PLACES[..]), value);
    prop::collection::vec(change, 0..6).prop_map(|changes| {
        let mut event = full();
        for (place, value) in changes {
            if let Some(field) = event.pointer_mut(place) {
                *field = value;
            }
        }
        event
    })
}

proptest! {
    #![proptest_config(same_in_every_run(512))]

    #[test]
    fn every_object_of_kind_event_is_read_as_its_fields_say(object in any_event()) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let read = event(&object);
        let involved = &object["involvedObject"];
        let uid = text(&involved["uid"]);
        let of_pod = involved["kind"].as_str().is_none_or(|kind| kind == "Pod") && !uid.is_empty();
        prop_assert_eq!(read.pod, of_pod.then(|| PodUid::from_text(&uid)));
        let reporter = match text(&object["reportingComponent"]).as_str() {
            "" => text(&object["source"]["component"]),
            reporter => reporter.to_owned(),
        };
        prop_assert_eq!(read.from_kubelet, reporter == "kubelet");
        prop_assert_eq!(read.first, rfc3339::parse(&text(&object["firstTimestamp"])));
        prop_assert_eq!(read.named, instant_in_name(&text(&object["metadata"]["name"])));
        let mut context = DecodeContext::default();
        prop_assert_eq!(read.container, container(&text(&involved["fieldPath"]), &mut context));
        let (reason, message) = (text(&object["reason"]), text(&object["message"]));
        prop_assert_eq!(read.reason, reason_of(&reason, &message, &mut context));
    }

    #[test]
    fn no_message_makes_it_panic(reason in "(Pulled|Failed|FailedCreatePodSandBox)", message in "\\PC{0,40}") {
        let mut context = DecodeContext::default();
        for head in ["", "Successfully pulled image \"", "Successfully pulled image \"a\" in "] {
            let _ = reason_of(&reason, &format!("{head}{message}"), &mut context);
        }
    }
}
