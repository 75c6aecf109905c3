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
        taken(
            "§9.5: \"in a watch event of type ADDED\"",
            watched("ADDED", started()),
        ),
        taken("§9.5: \"or MODIFIED\"", watched("MODIFIED", started())),
    ];
    all.extend(dropped());
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
                with(
                    of("List", &[started()]),
                    "/metadata/continue",
                    json!("next"),
                ),
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
