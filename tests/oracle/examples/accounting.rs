//! §5 rules 1 to 6: the fold, cold starts, gaps, memory, and what happens again.

use super::{API, BACKFILL, Example, FUSED, example};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    [fold(), cold_start(), gaps(), reentries()]
        .into_iter()
        .flatten()
        .collect()
}

fn ready(name: &str) -> Pod {
    pod(name).all([1.0, 4.0, 3.0, 9.0, 10.0])
}

/// The figures of one [`ready`] pod that was observed in full.
const READY_IN_FULL: &str = "finished ready 1
    scheduling 1 1
    network 1 3
    containers 1 5
    scheduled_to_ready 1 9
    created_to_ready 1 10";

fn fold() -> Vec<Example> {
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
                    &pod("a")
                        .put("metadata", "resourceVersion", "x17".into())
                        .yes(SCHEDULED, 1.0),
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

fn cold_start() -> Vec<Example> {
    let old = |name| pod(name).created(-100.0);
    vec![
        example(
            "rule 2: \"pods already Ready or terminal are preexisting: no latency\"",
            API,
            vec![list(&[
                ready("a"),
                pod("b").phase("Succeeded"),
                pod("c").phase("Failed"),
            ])],
            "finished preexisting 3",
        ),
        example(
            "rule 2: \"Ready=False LTT is more than 5 s after status.startTime have been Ready before\"",
            API,
            vec![list(&[
                pod("a").yes(SCHEDULED, 0.0).started(1.0).no(READY, 7.0),
                pod("b").yes(SCHEDULED, 0.0).started(1.0).no(READY, 6.0),
            ])],
            "finished preexisting 1
             inflight network 1 since 0
             unobserved scheduling preexisting 1",
        ),
        example(
            "rule 2: \"milestones already reached are latched but their stages are not observed; the stage in progress and all later ones are, and so are the whole durations\"",
            API,
            vec![
                list(&[pod("a").yes(SCHEDULED, 1.0).yes(INITIALIZED, 3.0)]),
                modified(&ready("a")),
            ],
            "finished ready 1
             unobserved scheduling preexisting 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "rule 2: with init containers, Initialized at first sight ends init without a measurement",
            API,
            vec![list(&[pod("a")
                .init_containers()
                .yes(SCHEDULED, 1.0)
                .yes(INITIALIZED, 3.0)])],
            "inflight network 1 since 1
             unobserved scheduling preexisting 1
             unobserved init preexisting 1",
        ),
        example(
            "rule 2: static pods are static in the first list too, and nothing is reentered (rule 6)",
            API,
            vec![
                list(&[ready("a").mirror()]),
                modified(&ready("a").mirror().yes(READY, 50.0)),
            ],
            "finished static 1",
        ),
        example(
            "§8: \"--backfill observes the pods of the first list as if they had been watched\"",
            BACKFILL,
            vec![list(&[
                ready("a"),
                pod("b").mirror(),
                pod("c").phase("Failed"),
            ])],
            "finished ready 1
             finished static 1
             finished failed 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "rule 3: \"observed in full, even when its first snapshot already shows every milestone\"",
            API,
            vec![at(0.0, list(&[])), at(11.0, added(&ready("a")))],
            READY_IN_FULL,
        ),
        example(
            "rule 3: \"created more than 30 s before the first list began: rule 2 applies\"",
            API,
            vec![
                at(-70.0, list(&[])),
                at(1.0, added(&old("exactly").yes(SCHEDULED, -99.0))),
                at(
                    2.0,
                    added(&old("before").created(-101.0).yes(SCHEDULED, -99.0)),
                ),
                at(3.0, added(&old("ready").created(-101.0).yes(READY, -90.0))),
            ],
            "finished preexisting 1
             inflight network 2 since -99
             scheduling 1 1
             unobserved scheduling preexisting 1
             delivered 2 201",
        ),
        example(
            "§4: an adopted pod that an event brought in shows its skew, but is not live at first sight",
            FUSED,
            vec![
                at(0.0, list(&[])),
                at(1.0, added(&old("a").yes(SCHEDULED, 2.0))),
                at(
                    4.25,
                    modified(&old("a").yes(SCHEDULED, 2.0).yes(NETWORK, 4.0)),
                ),
            ],
            "inflight containers 1 since 4.25
             unobserved scheduling preexisting 1
             network 1 2.25
             anomaly skew 1
             delivered 1 0.25",
        ),
    ]
}

fn gaps() -> Vec<Example> {
    vec![
        example(
            "rule 4: \"a known UID that is absent ends as vanished; an unknown one is rule 3\"",
            API,
            vec![added(&pod("a")), list(&[ready("b")])],
            "finished vanished 1
             finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "rule 4: \"Nothing is inferred from a list that did not complete\"",
            API,
            vec![
                added(&pod("a")),
                page(&[ready("b")]),
                expired(),
                added(&pod("c")),
            ],
            "inflight scheduling 2 since 0
             discovered 2",
        ),
        example(
            "rule 4: a page does not make a pod of the next page vanish",
            API,
            vec![added(&pod("a")), page(&[pod("b")]), list(&[pod("a")])],
            "inflight scheduling 2 since 0",
        ),
        example(
            "rule 5: \"A finished UID stays remembered until it is … absent from a completed list\"",
            API,
            vec![added(&ready("a")), list(&[]), added(&ready("a"))],
            "finished ready 2
             scheduling 2 2
             network 2 6
             containers 2 10
             scheduled_to_ready 2 18
             created_to_ready 2 20
             discovered 2",
        ),
        example(
            "rule 4: a UID that vanished and comes back is discovered again",
            API,
            vec![
                added(&pod("a").version(5)),
                list(&[]),
                added(&pod("a").version(4)),
            ],
            "finished vanished 1
             inflight scheduling 1 since 0
             discovered 2",
        ),
    ]
}

fn reentries() -> Vec<Example> {
    let flapped = |seconds| ready("a").yes(READY, seconds);
    vec![
        example(
            "rule 6: a condition True again with a later LTT \"adds to reentries and to nothing else (also after the pod has finished)\"",
            API,
            vec![
                added(&ready("a")),
                modified(&ready("a").no(READY, 20.0)),
                modified(&flapped(25.0)),
                modified(&flapped(25.0)),
            ],
            "finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10
             reentries Ready 1",
        ),
        example(
            "rule 6: later than \"the last one seen\", which is not the greatest",
            API,
            vec![
                list(&[flapped(30.0)]),
                modified(&flapped(20.0)),
                modified(&flapped(25.0)),
            ],
            "finished preexisting 1
             reentries Ready 1",
        ),
        example(
            "rule 6: \"PodScheduled aside\"",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 1.0)),
                modified(&pod("a").yes(SCHEDULED, 5.0)),
            ],
            "inflight network 1 since 1
             scheduling 1 1",
        ),
        example(
            "rule 6: \"for the same condition type\": a kubelet upgraded in place reports another one (§1)",
            API,
            vec![
                list(&[ready("a").yes(OLD_NETWORK, 4.0)]),
                modified(&ready("a").yes(OLD_NETWORK, 4.0).yes(NETWORK, 90.0)),
                modified(&ready("a").yes(OLD_NETWORK, 95.0).yes(NETWORK, 90.0)),
            ],
            "finished preexisting 1
             reentries PodReadyToStartContainers 2",
        ),
        example(
            "rule 6: a missing LTT is no LTT",
            API,
            vec![
                list(&[ready("a")]),
                modified(&ready("a").condition(READY, "True", serde_json::Value::Null)),
                modified(&flapped(10.0)),
            ],
            "finished preexisting 1",
        ),
    ]
}
