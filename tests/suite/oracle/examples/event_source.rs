//! [§9.5](crate::specification#s9-5): Events in recordings.

use super::{API, EVENTS, Example, example, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{heard, watched, with};
use serde_json::{Value, json};

fn bound() -> Pod {
    pod("a").yes(SCHEDULED, 1.0)
}

fn started() -> Value {
    heard(&bound(), "Started", "Started container main", 3.0)
}

fn of(kind: &str, items: &[Value]) -> Value {
    json!({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": items})
}

const BY_EVENT: &str = "inflight containers 1 since 3
    scheduling 1 1
    network 1 2
    evidence event 1
    dropped unknown 0";

pub(super) fn examples() -> Vec<Example> {
    let taken = |says: &'static str, document: Value| {
        example(says, EVENTS, vec![added(&bound()), document], BY_EVENT)
    };
    let mut all = vec![
        taken("§9.5: \"kind: Event, alone\"", started()),
        taken("§9.5: \"as an item of a List\"", of("List", &[started()])),
        taken("§9.5: \"or EventList\"", of("EventList", &[started()])),
        taken("§9.5: \"in a watch event of type ADDED\"", watched("ADDED", started())),
        taken("§9.5: \"or MODIFIED\"", watched("MODIFIED", started())),
    ];
    all.extend(dropped());
    all.extend(of_another());
    all.extend(no_lists());
    all
}

fn dropped() -> Vec<Example> {
    let of_node = with(started(), "/involvedObject/kind", json!("Node"));
    vec![
        example(
            "§9.5: finished: \"a pod that is remembered and not in flight\"; a deleted one is for ten minutes",
            EVENTS,
            vec![
                added(&bound()),
                deleted(&bound()),
                started(),
                added(&pod("clock").created(601.0)),
                started(),
                added(&pod("clock").created(602.0)),
                started(),
            ],
            "finished deleted 1
             inflight scheduling 1
             scheduling 1 1
             dropped finished 2
             dropped unknown 1",
        ),
        example(
            "§9.5: \"other: no pod's\", \"else unknown\"",
            EVENTS,
            vec![started(), of_node, watched("DELETED", started())],
            "dropped unknown 1
             dropped other 1",
        ),
        example(
            "§9.5: preexisting and static pods are not in flight",
            EVENTS,
            vec![list(&[bound().mirror()]), started()],
            "finished static 1
             dropped finished 1",
        ),
    ]
}

/// An Event that has the UID of the pod and the names of another one.
fn of_another() -> Vec<Example> {
    const NOT_ITS_OWN: &str = "inflight network 1
        scheduling 1 1
        evidence event 0
        dropped other 1";
    let own = "/metadata/namespace";
    let [namespace, name] = ["/involvedObject/namespace", "/involvedObject/name"];
    let changed = |places: &[&str]| {
        let change = |event, place: &&str| with(event, place, json!("attacker"));
        places.iter().fold(started(), change)
    };
    let told = |says: &'static str, places: &[&str]| {
        let documents = vec![added(&bound()), changed(places)];
        example(says, EVENTS, documents, NOT_ITS_OWN)
    };
    vec![
        told(
            "§9.5: \"its own namespace and that of `involvedObject`\" are the pod's",
            &[own, namespace],
        ),
        told("§9.5: an Event of another namespace", &[own]),
        told("§9.5: an Event about an object of another namespace", &[namespace]),
        told("§9.5: an Event about an object of another name", &[name]),
        example(
            "§9.5: \"What an Event does not state speaks for no pod and against none\"",
            EVENTS,
            vec![added(&bound()), without_names()],
            BY_EVENT,
        ),
        example(
            "§9.5: of a pod that is remembered and not in flight, podinit does not know the name",
            EVENTS,
            vec![added(&bound()), deleted(&bound()), changed(&[name])],
            "finished deleted 1
             scheduling 1 1
             dropped finished 1",
        ),
        example(
            "§9.5: one with two namespaces \"is `other`, also with the UID of a finished pod\"",
            EVENTS,
            vec![added(&bound()), deleted(&bound()), changed(&[own])],
            "finished deleted 1
             scheduling 1 1
             dropped other 1",
        ),
        example(
            "§9.5: an unknown pod has no name, but an Event about another namespace is of no pod",
            EVENTS,
            vec![changed(&[name]), changed(&[own])],
            "dropped unknown 1
             dropped other 1",
        ),
    ]
}

/// The Event without the names that no API server leaves out.
fn without_names() -> Value {
    let places = ["/metadata/namespace", "/involvedObject/namespace", "/involvedObject/name"];
    let forget = |event, place: &str| with(event, place, Value::Null);
    places.into_iter().fold(started(), forget)
}

fn no_lists() -> Vec<Example> {
    vec![
        example(
            "§9.5: \"A document of Events only is no list of pods, neither the first nor a relist\"",
            EVENTS,
            vec![
                of("EventList", &[started()]),
                list(&[bound()]),
                of("List", &[started()]),
                of("EventList", &[]),
            ],
            "inflight containers 1
             unobserved scheduling preexisting 1
             network 1 2
             evidence event 1
             dropped unknown 1",
        ),
        example(
            "§9.5: \"in the order of the file\": what comes before the end of a streamed list is unknown",
            EVENTS,
            vec![added(&bound()), started(), bookmark(true)],
            "inflight network 1
             unobserved scheduling preexisting 1
             dropped unknown 1",
        ),
        example(
            "§9.5: so is what stands on the pages of a list that never completed",
            EVENTS,
            vec![
                with(of("List", &[started()]), "/metadata/continue", json!("next")),
                added(&bound()),
                bookmark(true),
            ],
            "inflight network 1
             unobserved scheduling preexisting 1
             dropped unknown 1",
        ),
        example(
            "§9.5: nor without --evidence events",
            API,
            vec![
                of("EventList", &[started()]),
                list(&[bound()]),
                of("List", &[started()]),
                watched("ADDED", started()),
            ],
            "inflight network 1
             unobserved scheduling preexisting 1
             events ADDED 0",
        ),
        example(
            "§9.5: \"Events do not move time, nor does their observedAt.\"",
            slos(EVENTS, [("scheduling", 5.0)]),
            vec![
                added(&pod("a")),
                at(600.0, heard(&bound(), "Scheduled", "assigned", 700.0)),
                at(600.0, of("EventList", &[started()])),
                at(3.5, modified(&pod("a").yes(SCHEDULED, 3.0))),
            ],
            "slo scheduling good 1",
        ),
    ]
}
