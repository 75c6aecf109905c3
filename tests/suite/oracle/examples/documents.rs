//! [§8](crate::specification#s8): lists, pages, streamed lists, bookmarks, errors, and where the
//! replay stops.

use super::{API, Example, Options, example};
use serde_json::json;

use crate::oracle::build::*;
use crate::oracle::reading;

/// The present, in seconds after the origin
const PRESENT: f64 = ((reading::PRESENT - ORIGIN) / 1_000_000_000) as f64;

/// The pod as a kubelet lists it that has it from there.
fn from(source: &str, pod: Pod) -> Pod {
    let annotations = json!({"kubernetes.io/config.source": source});
    pod.put("metadata", "annotations", annotations)
}

pub(super) fn examples() -> Vec<Example> {
    let ready = |name| pod(name).all([1.0, 4.0, 3.0, 9.0, 10.0]);
    let until = |seconds| Options { until: Some(instant(seconds)), ..API };
    vec![
        example(
            "§8: \"the first document, if it is one, is the first list\"; \"pages with metadata.continue are joined\"",
            API,
            vec![page(&[ready("a")]), page(&[ready("b")]), list(&[ready("c")])],
            "finished preexisting 3",
        ),
        example(
            "§1.14: in the kubelet's own list a static pod has the source `file` or `http`, others have `api`",
            API,
            vec![list(&[
                from("file", pod("a")),
                from("http", ready("b")),
                from("api", ready("c")),
            ])],
            "finished static 2
             finished preexisting 1",
        ),
        example(
            "§8.4: \"the bare Pod documents with which a recording begins […] are its first list\"",
            API,
            vec![ready("a").0, pod("b").0, pod("c").yes(SCHEDULED, 1.0).0],
            "finished preexisting 1
             inflight scheduling 1 since 0
             inflight network 1 since 1
             unobserved scheduling preexisting 1",
        ),
        example(
            "§8.4: it \"ends before the first UID that occurs a second time\", and no absence is inferred",
            API,
            vec![pod("a").0, pod("b").0, pod("a").yes(SCHEDULED, 4.0).0, ready("c").created(1.0).0],
            "inflight network 1 since 4
             inflight scheduling 1 since 0
             finished ready 1
             scheduling 2 4
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 9
             events MODIFIED 2
             discovered 3",
        ),
        example(
            "§8.4: \"Every other bare pod is an event like MODIFIED\", behind a list too",
            API,
            vec![list(&[pod("a"), pod("b")]), pod("a").yes(SCHEDULED, 2.0).0, pod("c").0],
            "inflight network 1 since 2
             inflight scheduling 2 since 0
             scheduling 1 2
             events MODIFIED 2
             discovered 3",
        ),
        example(
            "§8.7: what lies more than 5 s after the present \"is not used to tell the time\"",
            until(60.0),
            vec![
                added(&pod("a").yes("example.com/x", PRESENT + 6.0)),
                added(&pod("b").created(40.0)),
            ],
            "inflight scheduling 2 since 0
             events ADDED 2",
        ),
        example(
            "§8.7: and what lies 5 s after it is",
            until(60.0),
            vec![
                added(&pod("a").created(40.0)),
                added(&pod("b").yes("example.com/x", PRESENT + 5.0)),
            ],
            "inflight scheduling 1 since 40
             events ADDED 1",
        ),
        example(
            "§8.7: an `observedAt` \"says nothing about the others\": they are bounded by the present",
            until(7.5),
            vec![at(2.0, added(&pod("a"))), added(&pod("b").yes("example.com/x", 8.0))],
            "inflight scheduling 1 since 0
             events ADDED 1",
        ),
        example(
            "§8: a list of kind List, as kubectl writes it",
            API,
            vec![{
                let mut list = list(&[ready("a")]);
                list["kind"] = "List".into();
                list
            }],
            "finished preexisting 1",
        ),
        example(
            "§8: a list that is not the first document \"is a relist after a gap\"",
            API,
            vec![bookmark(false), list(&[pod("a").yes(SCHEDULED, 1.0)])],
            "inflight network 1 since 1
             scheduling 1 1
             events BOOKMARK 1",
        ),
        example(
            "§8: initial-events-end \"closes a streamed list\": as the first thing it is the first list",
            API,
            vec![
                added(&ready("a")),
                added(&pod("b").yes(SCHEDULED, 1.0)),
                added(&pod("gone")),
                deleted(&pod("gone")),
                bookmark(true),
                modified(&pod("b").yes(SCHEDULED, 1.0).yes(NETWORK, 3.0)),
            ],
            "finished preexisting 1
             inflight containers 1 since 3
             unobserved scheduling preexisting 1
             network 1 2
             events ADDED 3
             events DELETED 1
             events BOOKMARK 1
             events MODIFIED 1
             discovered 2",
        ),
        example(
            "§8: an ordinary bookmark closes nothing",
            API,
            vec![added(&pod("a")), bookmark(false)],
            "inflight scheduling 1 since 0
             events BOOKMARK 1",
        ),
        example(
            "§8: \"the pods that stand at that point, since the stream began, are that list\"",
            API,
            vec![
                list(&[pod("a"), pod("b"), ready("c")]),
                expired(),
                added(&pod("b").yes(SCHEDULED, 1.0)),
                added(&pod("d").yes(SCHEDULED, 2.0)),
                bookmark(true),
            ],
            "finished vanished 1
             finished preexisting 1
             inflight network 2 since 1
             scheduling 2 3
             events ERROR 1
             events BOOKMARK 1",
        ),
        example(
            "§8: a stream that breaks before its bookmark is no list",
            API,
            vec![list(&[pod("a")]), expired(), added(&pod("b")), expired()],
            "inflight scheduling 2 since 0",
        ),
        example(
            "§8: \"--until stops at the first later document\"",
            until(2.0),
            vec![
                at(1.0, added(&pod("a"))),
                at(2.0, modified(&pod("a").yes(SCHEDULED, 1.0))),
                at(2.1, modified(&pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 2.0))),
                at(1.5, added(&pod("b"))),
            ],
            "inflight network 1 since 1
             scheduling 1 1
             events ADDED 1
             events MODIFIED 1",
        ),
        example(
            "§8: \"Without observedAt, time is the greatest API time seen so far\"",
            until(6.0),
            vec![
                added(&pod("a").yes(SCHEDULED, 6.0)),
                added(&pod("b").created(3.0)),
                added(&pod("c").created(7.0)),
                added(&pod("d").created(2.0)),
            ],
            "inflight network 1 since 6
             inflight scheduling 1 since 3
             scheduling 1 6
             events ADDED 2",
        ),
        example(
            "§4: deletionTimestamp \"lies ahead\" and is no API time",
            until(6.0),
            vec![
                added(&pod("a").put("metadata", "deletionTimestamp", time(30.0))),
                deleted(&pod("a")),
            ],
            "finished deleted 1",
        ),
        example(
            "§8: \"until\" in the middle of a list leaves a list that did not complete",
            until(6.0),
            vec![added(&pod("a")), page(&[pod("b")]), list(&[pod("c").created(7.0)])],
            "inflight scheduling 1 since 0",
        ),
        example(
            "§8: \"the greatest API time seen so far\" counts those of documents with an observedAt",
            until(6.0),
            vec![at(2.0, added(&pod("a").yes(SCHEDULED, 7.0))), added(&pod("b"))],
            "inflight network 1 since 7
             scheduling 1 7
             events ADDED 1",
        ),
        example(
            "rule 1 in a streamed list: an older version is not what stands",
            API,
            vec![added(&ready("a").version(10)), added(&pod("a").version(9)), bookmark(true)],
            "finished preexisting 1",
        ),
        example(
            "rule 1 in a streamed list: \"a late duplicate does not revive\" what was deleted",
            API,
            vec![
                added(&pod("a").version(9)),
                deleted(&pod("a").version(10)),
                added(&pod("a").version(9)),
                bookmark(true),
            ],
            "discovered 0
             events ADDED 2",
        ),
    ]
}
