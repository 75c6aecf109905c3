//! [§5.2](crate::specification#s5-2) and [§5.3](crate::specification#s5-3): first lists, adoption,
//! and what comes later.

use super::{API, BACKFILL, Example, FUSED, READY_IN_FULL, example, ready};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    let old = |name| pod(name).created(-100.0);
    vec![
        example(
            "rule 2: \"pods already Ready or terminal are preexisting: no latency\"",
            API,
            vec![list(&[ready("a"), pod("b").phase("Succeeded"), pod("c").phase("Failed")])],
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
            "rule 2: \"milestones already reached are latched but their stages are not observed; the stage in progress and all later ones are, and so are the end-to-end durations\"",
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
            vec![list(&[pod("a").init_containers().yes(SCHEDULED, 1.0).yes(INITIALIZED, 3.0)])],
            "inflight network 1 since 1
             unobserved scheduling preexisting 1
             unobserved init preexisting 1",
        ),
        example(
            "rule 2: static pods are static in the first list too, and nothing is reentered (rule 6)",
            API,
            vec![list(&[ready("a").mirror()]), modified(&ready("a").mirror().yes(READY, 50.0))],
            "finished static 1",
        ),
        example(
            "§8: \"--backfill observes the pods of the first list as if they had been watched\"",
            BACKFILL,
            vec![list(&[ready("a"), pod("b").mirror(), pod("c").phase("Failed")])],
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
                at(2.0, added(&old("before").created(-101.0).yes(SCHEDULED, -99.0))),
                at(3.0, added(&old("ready").created(-101.0).yes(READY, -90.0))),
            ],
            "finished preexisting 1
             inflight network 2 since -99
             scheduling 1 1
             unobserved scheduling preexisting 1
             delivered 0 0",
        ),
        example(
            "§8.4: \"The ADDED events with which a recording begins […] are its first pods\"",
            API,
            vec![
                added(&pod("ready").created(-101.0).yes(READY, -90.0)),
                added(&pod("waits").created(-21.0).yes(SCHEDULED, -19.0)),
                added(&ready("a")),
                added(&pod("waits").created(-21.0).yes(SCHEDULED, -19.0).version(9)),
                modified(&pod("later").created(-40.0).yes(READY, 11.0)),
            ],
            "finished preexisting 2
             inflight network 1 since -19
             unobserved scheduling preexisting 1
             finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§8.4: \"up to a UID that comes again with another resourceVersion\": not up to a duplicate",
            API,
            vec![
                added(&pod("ready").created(-101.0).yes(READY, -90.0)),
                added(&pod("ready").created(-101.0).yes(READY, -90.0)),
                added(&ready("a")),
            ],
            "finished preexisting 1
             finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§8.4: it begins \"at the `observedAt` of the first\", and another first document has no first pods",
            API,
            vec![
                at(-80.0, added(&pod("b").created(-101.0).yes(SCHEDULED, -99.0))),
                at(2.0, added(&pod("c").created(-1.0).yes(SCHEDULED, 1.0))),
            ],
            "inflight network 2 since -99
             scheduling 2 4",
        ),
        example(
            "§8.4: \"if its first document of pods is one of them\"",
            API,
            vec![
                modified(&pod("b").created(-101.0).yes(SCHEDULED, -99.0)),
                added(&pod("c").yes(SCHEDULED, 1.0)),
            ],
            "inflight network 2 since -99
             scheduling 2 3",
        ),
        example(
            "§8.4: \"pages of a list that did not complete aside\"",
            API,
            vec![
                page(&[pod("page")]),
                added(&pod("ready").created(-101.0).yes(READY, -90.0)),
                added(&ready("a")),
            ],
            "finished preexisting 1
             finished ready 1
             scheduling 1 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
        example(
            "§4: an adopted pod that an event brought in shows its skew, but is not live at first sight",
            FUSED,
            vec![
                at(0.0, list(&[])),
                at(1.0, added(&old("a").yes(SCHEDULED, 2.0))),
                at(4.25, modified(&old("a").yes(SCHEDULED, 2.0).yes(NETWORK, 4.0))),
            ],
            "inflight containers 1 since 4.25
             unobserved scheduling preexisting 1
             network 1 2.25
             anomaly skew 1
             delivered 0 0",
        ),
    ]
}
