//! [§1](crate::specification#s1) and [§2](crate::specification#s2): when a milestone is reached,
//! and which one a condition stands for.

use super::{API, Example, FUSED, example};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    let whole = pod("a").all([1.0, 4.0, 3.0, 9.0, 10.0]);
    vec![
        example(
            "§3: gated is Created to Ungated, and scheduling starts at Ungated",
            API,
            vec![
                at(0.5, added(&pod("a").gated())),
                at(5.7, modified(&pod("a"))),
                at(7.2, modified(&pod("a").yes(SCHEDULED, 7.0))),
            ],
            "inflight network 1 since 7
             gated 1 5
             scheduling 1 2",
        ),
        example(
            "§4: Ungated \"is `o`\" in fused mode; Created's estimate is o too, as it lies in its second",
            FUSED,
            vec![at(0.5, added(&pod("a").gated())), at(5.7, modified(&pod("a")))],
            "inflight scheduling 1 since 5.7
             gated 1 5.2",
        ),
        example(
            "§4: Ungated is \"unknown without `o`\"",
            API,
            vec![
                added(&pod("a").gated()),
                modified(&pod("a")),
                modified(&pod("a").yes(SCHEDULED, 7.0)),
            ],
            "inflight network 1 since 7
             unobserved gated time 1
             unobserved scheduling time 1
             anomaly missing 2",
        ),
        example(
            "§4: \"Where the snapshot that first shows it also shows Scheduled, it is the earlier of `o` and Scheduled\"",
            API,
            vec![
                at(0.0, added(&pod("a").gated())),
                at(9.0, modified(&pod("a").yes(SCHEDULED, 7.0))),
            ],
            "inflight network 1 since 7
             gated 1 7
             scheduling 1 0",
        ),
        example(
            "§1: \"Both names are one milestone\"",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 1.0).yes(OLD_NETWORK, 5.0))],
            "inflight containers 1 since 5
             scheduling 1 1
             network 1 4",
        ),
        example(
            "§1: \"RTSC wins where both stand\", also where it is False",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 1.0).yes(OLD_NETWORK, 5.0).no(NETWORK, 0.0))],
            "inflight network 1 since 1
             scheduling 1 1",
        ),
        example(
            "§1: \"RTSC wins where both stand\": its time counts",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 1.0).yes(OLD_NETWORK, 5.0).yes(NETWORK, 8.0))],
            "inflight containers 1 since 8
             scheduling 1 1
             network 1 7",
        ),
        example(
            "§1: \"when a later milestone is reached without it, Scheduled counts as reached at an unknown time\"",
            API,
            vec![
                added(&pod("a").no(SCHEDULED, 0.0)),
                modified(&pod("a").no(SCHEDULED, 0.0).yes(INITIALIZED, 2.0)),
                modified(&pod("a").yes(SCHEDULED, 3.0).yes(INITIALIZED, 2.0)),
                modified(&pod("a").all([3.0, 4.0, 2.0, 8.0, 9.0])),
            ],
            "finished ready 1
             unobserved scheduling time 1
             unobserved network time 1
             anomaly missing 3
             containers 1 4
             created_to_ready 1 9",
        ),
        example(
            "§2: \"latched: nothing later moves it\"",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 3.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).no(NETWORK, 5.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 8.0)),
                modified(&pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 8.0).yes(CONTAINERS, 10.0)),
            ],
            "inflight readiness 1 since 10
             scheduling 1 1
             network 1 2
             containers 1 7
             reentries PodReadyToStartContainers 1",
        ),
        example(
            "§2: \"a new UID under an old name is a new pod\"",
            API,
            vec![
                added(&whole),
                added(&pod("a").uid("6d0ff2ae-3f41-4b5e-9d57-10b0a1c7e001").created(20.0)),
                modified(
                    &pod("a")
                        .uid("6d0ff2ae-3f41-4b5e-9d57-10b0a1c7e001")
                        .created(20.0)
                        .yes(SCHEDULED, 22.0),
                ),
            ],
            "finished ready 1
             inflight network 1 since 22
             scheduling 2 3
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10",
        ),
    ]
}
