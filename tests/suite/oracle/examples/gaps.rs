//! [§5.4](crate::specification#s5-4) to [§5.6](crate::specification#s5-6): gaps, memory, and what
//! happens again.

use super::{API, Example, example, ready};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    [gaps(), reentries()].into_iter().flatten().collect()
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
            vec![added(&pod("a")), page(&[ready("b")]), expired(), added(&pod("c"))],
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
            vec![added(&pod("a").version(5)), list(&[]), added(&pod("a").version(4))],
            "finished vanished 1
             inflight scheduling 1 since 0
             discovered 2",
        ),
        example(
            "rule 4: \"An event of an unknown pod that has the namespace and name of one in flight\"",
            API,
            vec![
                added(&pod("web-0").uid("b").created(5.0)),
                added(&pod("web-0").uid("a").created(4.0)),
                added(&pod("web-0").uid("same").created(5.0)),
                added(&pod("web-1").uid("other").created(9.0)),
                added(&pod("web-0").uid("c").created(7.0)),
                modified(&pod("web-0").uid("c").created(7.0)),
            ],
            "finished vanished 3
             inflight scheduling 2 since 7
             discovered 5",
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
            vec![list(&[flapped(30.0)]), modified(&flapped(20.0)), modified(&flapped(25.0))],
            "finished preexisting 1
             reentries Ready 1",
        ),
        example(
            "rule 6: \"PodScheduled aside\"",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 1.0)), modified(&pod("a").yes(SCHEDULED, 5.0))],
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
