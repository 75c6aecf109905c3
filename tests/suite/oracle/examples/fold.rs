//! [§5.1](crate::specification#s5-1): what is delivered twice counts once, and how long a pod is remembered.

use super::{API, Example, READY_IN_FULL, example, ready};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    vec![
        example(
            "rule 1: \"never on duplicates\"",
            API,
            vec![
                added(&ready("a").version(7)),
                added(&ready("a").version(7)),
                modified(&ready("a").version(7)),
            ],
            READY_IN_FULL,
        ),
        example(
            "rule 1: \"never on duplicates, relists\": a list says it all again",
            API,
            vec![
                added(&ready("a").version(7)),
                list(&[ready("a").version(7)]),
                modified(&ready("a").version(7)),
            ],
            READY_IN_FULL,
        ),
        example(
            "rule 1: \"A snapshot whose resourceVersion is older (as a decimal integer) … is ignored\"",
            API,
            vec![
                added(&pod("a").version(10).yes(SCHEDULED, 1.0)),
                modified(&pod("a").version(9).yes(SCHEDULED, 1.0).yes(NETWORK, 3.0)),
            ],
            "inflight network 1 since 1
             scheduling 1 1",
        ),
        example(
            "rule 1: a version that is none is not older, and leaves the newest one held as it is",
            API,
            vec![
                added(&pod("a").version(10)),
                modified(
                    &pod("a").put("metadata", "resourceVersion", "x17".into()).yes(SCHEDULED, 1.0),
                ),
                modified(&pod("a").version(9).yes(SCHEDULED, 1.0).yes(NETWORK, 3.0)),
            ],
            "inflight network 1 since 1
             scheduling 1 1",
        ),
        example(
            "rule 1: \"A DELETED event's object is the pod's last snapshot\"",
            API,
            vec![added(&pod("a").version(1)), deleted(&ready("a").version(2))],
            READY_IN_FULL,
        ),
        example(
            "rule 1: \"(unless it is an older version), then the pod ends\"",
            API,
            vec![added(&pod("a").version(3)), deleted(&ready("a").version(2))],
            "finished deleted 1",
        ),
        example(
            "rule 1: \"a DELETED for an unknown UID is ignored\"",
            API,
            vec![deleted(&ready("a"))],
            "discovered 0\n events DELETED 1",
        ),
        example(
            "rule 1: \"A deleted UID stays remembered for ten minutes\": a late duplicate at the last instant",
            API,
            vec![
                at(1.0, added(&pod("a").version(1))),
                at(2.0, deleted(&pod("a").version(2))),
                at(602.0, added(&pod("a").version(3))),
            ],
            "finished deleted 1
             discovered 1",
        ),
        example(
            "rule 1: after ten minutes it is a pod again",
            API,
            vec![
                at(1.0, added(&pod("a").version(1))),
                at(2.0, deleted(&pod("a").version(2))),
                at(602.1, added(&pod("a").version(1))),
            ],
            "finished deleted 1
             inflight scheduling 1 since 0
             discovered 2",
        ),
        example(
            "rule 1: a list within ten minutes does not revive a deleted UID, nor does its absence from one forget it",
            API,
            vec![
                at(1.0, added(&pod("a"))),
                at(2.0, deleted(&pod("a"))),
                at(3.0, list(&[pod("a")])),
                at(4.0, list(&[])),
                at(5.0, added(&pod("a"))),
            ],
            "finished deleted 1",
        ),
    ]
}
