//! [§6](crate::specification#s6) and [§8](crate::specification#s8): when deadlines pass.

use serde_json::Value;

use super::{API, Example, FUSED, Options, example, ready, slos};
use crate::oracle::build::*;

/// Scheduled at 1: with a threshold of 10 s the deadline of `network` is 1 + 10 + 5 = 16.
pub(super) fn bound() -> Pod {
    pod("a").yes(SCHEDULED, 1.0)
}

/// Something at that time that is about no pod: "a DELETED for an unknown UID is ignored"
/// ([§5](crate::specification#s5)).
pub(super) fn clock(seconds: f64) -> Value {
    at(seconds, deleted(&pod("clock")))
}

pub(super) fn network(options: Options) -> Options {
    slos(options, [("network", 10.0)])
}

fn until(seconds: f64) -> Options {
    Options { until: Some(instant(seconds)), ..API }
}

pub(super) fn examples() -> Vec<Example> {
    [passing(), of_intervals(), ends_of_recordings()].into_iter().flatten().collect()
}

fn passing() -> Vec<Example> {
    vec![
        example(
            "§6: \"A deadline passes strictly after its instant\"",
            network(API),
            vec![at(1.0, added(&bound())), clock(16.0)],
            "",
        ),
        example(
            "§6: \"bad at the moment the deadline passes (threshold plus a delivery grace, default 5 s), not when the pod finally arrives\"",
            network(API),
            vec![at(1.0, added(&bound())), clock(16.001)],
            "slo network bad 1",
        ),
        example(
            "§6: \"exactly one event\": what arrives after its deadline stays bad",
            network(API),
            vec![
                at(1.0, added(&bound())),
                clock(16.001),
                at(20.0, modified(&bound().yes(NETWORK, 10.0))),
                at(21.0, deleted(&bound().yes(NETWORK, 10.0))),
            ],
            "slo network bad 1",
        ),
        example(
            "§6: what is delivered within the grace is judged by its times",
            network(API),
            vec![at(1.0, added(&bound())), at(16.0, modified(&bound().yes(NETWORK, 11.0)))],
            "slo network good 1",
        ),
        example(
            "§8: with observedAt, \"deadlines that passed before the event fire first\"",
            network(API),
            vec![at(1.0, added(&bound())), at(17.0, modified(&bound().yes(NETWORK, 11.0)))],
            "slo network bad 1",
        ),
        example(
            "§8: with observedAt, a pod that is deleted after its deadline was bad before",
            network(API),
            vec![at(1.0, added(&bound())), at(17.0, deleted(&bound()))],
            "slo network bad 1",
        ),
        example(
            "§8: \"Without observedAt, […] a snapshot is folded before deadlines fire\"",
            network(API),
            vec![added(&bound()), modified(&bound().yes(NETWORK, 11.0).yes(CONTAINERS, 40.0))],
            "slo network good 1",
        ),
        example(
            "§8: without observedAt, what the event itself leaves overdue passes with it",
            network(API),
            vec![added(&bound()), modified(&bound().yes(INITIALIZED, 17.0).no(NETWORK, 17.0))],
            "slo network bad 1",
        ),
        example(
            "§8: a list is folded before deadlines fire, with observedAt too",
            network(API),
            vec![
                at(0.0, list(&[])),
                at(1.0, added(&bound())),
                at(30.0, list(&[bound().yes(NETWORK, 11.0)])),
            ],
            "slo network good 1",
        ),
        example(
            "§5.4: what is absent from a list \"ends as vanished\", and its deadline passes no more",
            network(API),
            vec![at(0.0, list(&[])), at(1.0, added(&bound())), at(30.0, list(&[]))],
            "slo network excluded vanished 1",
        ),
        example(
            "§5.5: a UID that is forgotten and comes again is another pod, with deadlines of its own",
            network(API),
            vec![
                at(0.0, list(&[])),
                at(1.0, added(&bound())),
                at(2.0, list(&[])),
                at(3.0, added(&pod("a"))),
                clock(60.0),
            ],
            "slo network excluded vanished 1",
        ),
        example(
            "§8: a bookmark is a watch event: time passes with it",
            network(API),
            vec![at(1.0, added(&bound())), at(17.0, bookmark(false))],
            "slo network bad 1",
        ),
    ]
}

fn of_intervals() -> Vec<Example> {
    vec![
        example(
            "§4, fused: the deadline counts from the estimate, 1.25 + 10 + 5",
            slos(FUSED, [("network", 10.0), ("scheduled_to_ready", 10.1)]),
            vec![at(0.0, list(&[])), at(1.25, added(&bound())), clock(16.25), clock(16.3)],
            "slo network bad 1",
        ),
        example(
            "§4, fused: for a list the estimate is t + 0.5 s",
            slos(FUSED, [("network", 10.0), ("scheduled_to_ready", 9.9)]),
            vec![at(1.25, list(&[bound()])), clock(16.5)],
            "slo scheduled_to_ready bad 1",
        ),
        example(
            "§6: a deadline counts from the interval's start, whenever that is: ContainersReady 60",
            slos(API, [("readiness", 10.0)]),
            vec![
                at(1.0, added(&bound().readiness_gates())),
                at(61.0, modified(&bound().readiness_gates().yes(CONTAINERS, 60.0))),
                clock(75.0),
            ],
            "",
        ),
        example(
            "§3: \"the later of NetworkReady and (with init containers) Initialized\": 4 and 20",
            slos(API, [("containers", 10.0), ("init", 60.0)]),
            vec![
                at(5.0, added(&bound().init_containers().yes(NETWORK, 4.0))),
                clock(30.0),
                at(
                    30.0,
                    modified(&bound().init_containers().yes(NETWORK, 4.0).yes(INITIALIZED, 20.0)),
                ),
                clock(35.0),
                clock(35.5),
            ],
            "slo init good 1
             slo containers bad 1",
        ),
        example(
            "§3: unschedulable is for pods seen so; then it is found overdue: 0 + 10 + 5",
            slos(API, [("scheduling", 10.0), ("unschedulable", 10.0)]),
            vec![at(1.0, added(&pod("a"))), at(15.5, modified(&pod("a").unschedulable(15.0)))],
            "slo scheduling bad 1
             slo unschedulable bad 1",
        ),
        example(
            "§3: a pod that is late and never Unschedulable has not entered unschedulable",
            slos(API, [("scheduling", 10.0), ("unschedulable", 10.0)]),
            vec![at(1.0, added(&pod("a"))), at(60.0, modified(&pod("a").yes(SCHEDULED, 59.0)))],
            "slo scheduling bad 1
             slo unschedulable excluded not_entered 1",
        ),
    ]
}

fn ends_of_recordings() -> Vec<Example> {
    vec![
        example(
            "§8: \"--until stops at the first later document and moves time there\", strictly",
            network(until(16.0)),
            vec![at(1.0, added(&bound())), at(17.0, modified(&bound().yes(NETWORK, 11.0)))],
            "",
        ),
        example(
            "§8: \"--until […] moves time there\"",
            network(until(16.5)),
            vec![at(1.0, added(&bound())), at(17.0, modified(&bound().yes(NETWORK, 11.0)))],
            "slo network bad 1",
        ),
        example(
            "§8: \"--until\" past the recording's end moves time there too",
            network(until(600.0)),
            vec![added(&bound()), added(&ready("b"))],
            "slo network bad 1
             slo network good 1",
        ),
        example(
            "§6: out of sync no deadline passes at \"--until\" either",
            network(until(600.0)),
            vec![at(1.0, added(&bound())), at(2.0, expired())],
            "",
        ),
        example(
            "§6: where the recording ends before the deadline the pod is undecided",
            network(API),
            vec![added(&bound())],
            "",
        ),
    ]
}
