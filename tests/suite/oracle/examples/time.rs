//! [§4](crate::specification#s4): the two clocks, and what becomes of a duration.

use serde_json::{Value, json};

use super::{API, Example, FUSED, example};
use crate::oracle::build::*;
use crate::oracle::build_evidence::running;

pub(super) fn examples() -> Vec<Example> {
    let scheduled = |seconds| pod("a").yes(SCHEDULED, seconds);
    let absurd =
        |transition: Value| vec![added(&pod("a").condition(SCHEDULED, "True", transition))];
    let scheduled_at_3 =
        |arrived| vec![at(0.5, added(&pod("a"))), at(arrived, modified(&scheduled(3.0)))];
    let begun = || at(0.5, added(&pod("a").yes(SCHEDULED, 0.0)));
    let ready_without_time = || pod("a").yes(SCHEDULED, 0.0).condition(READY, "True", Value::Null);
    let missing = "inflight network 1 since 0
                   unobserved scheduling time 1
                   anomaly missing 1";
    vec![
        example(
            "§4: \"below zero by at most 1 s is noise of the truncation: observe 0 and count it\"",
            API,
            vec![added(&pod("a").created(5.0).yes(SCHEDULED, 4.0))],
            "inflight network 1 since 4
             scheduling 1 0
             anomaly rounded 1",
        ),
        example(
            "§4: \"Further below zero, …: observe nothing and count kind=negative\"",
            API,
            vec![added(&pod("a").created(5.0).yes(SCHEDULED, 3.0))],
            "inflight network 1 since 3
             unobserved scheduling time 1
             anomaly negative 1",
        ),
        example(
            "§4: thirty days are not \"above 30 days\"",
            API,
            vec![modified(&scheduled(2_592_000.0))],
            "inflight network 1 since 2592000
             scheduling 1 2592000",
        ),
        example(
            "§4: \"or above 30 days\": too_long",
            API,
            vec![modified(&scheduled(2_592_001.0))],
            "inflight network 1 since 2592001
             unobserved scheduling time 1
             anomaly too_long 1",
        ),
        example("§4: \"with a time missing\": null", API, absurd(Value::Null), missing),
        example("§4: \"absurd (unparsable\"", API, absurd("yesterday".into()), missing),
        example(
            "§4: \"absurd (…, 1970 or before)\": the epoch",
            API,
            absurd("1970-01-01T00:00:00Z".into()),
            missing,
        ),
        example(
            "§4: \"absurd (…, 1970 or before)\": the year",
            API,
            absurd("1970-12-31T23:59:59Z".into()),
            missing,
        ),
        example(
            "§4: \"absurd (…, 1970 or before)\": Go's zero time",
            API,
            absurd("0001-01-01T00:00:00Z".into()),
            missing,
        ),
        example(
            "§4: \"with a time missing\": no number is a time",
            API,
            absurd(json!(1_772_323_200)),
            missing,
        ),
        example(
            "§4: \"Each interval is judged by itself\": a missing creationTimestamp costs only what starts there",
            API,
            vec![added(
                &pod("a")
                    .put("metadata", "creationTimestamp", Value::Null)
                    .all([1.0, 4.0, 3.0, 9.0, 10.0]),
            )],
            "finished ready 1
             unobserved scheduling time 1
             anomaly missing 2
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9",
        ),
        example(
            "§4: \"differences of API times, as they are\": observedAt changes nothing in api mode",
            API,
            vec![
                at(1.9, added(&scheduled(1.0))),
                at(1.95, modified(&scheduled(1.0).yes(NETWORK, 1.0))),
            ],
            "inflight containers 1 since 1
             scheduling 1 1
             network 1 0
             delivered 0 0",
        ),
        example(
            "§4: \"`o` inside [t, t+1s): use `o`\"",
            FUSED,
            vec![
                at(0.25, added(&pod("a"))),
                at(1.75, modified(&scheduled(1.0))),
                at(3.0, modified(&scheduled(1.0).yes(NETWORK, 3.0))),
            ],
            "inflight containers 1 since 3
             scheduling 1 1.5
             network 1 1.25
             delivered 1 0.75",
        ),
        example(
            "§4: \"`o` later, or none: use t+0.5s\"; t+1s itself is later",
            FUSED,
            vec![
                at(1.0, added(&pod("a"))),
                at(4.0, modified(&scheduled(2.0))),
                modified(&scheduled(2.0).yes(NETWORK, 5.0)),
            ],
            "inflight containers 1 since 5.5
             scheduling 1 2
             network 1 3
             delivered 1 2",
        ),
        example(
            "§4.3: \"`o` before `t` by at most 1 s: use `t`\", and count skew: 0.5 s",
            FUSED,
            scheduled_at_3(2.5),
            "inflight network 1 since 3
             scheduling 1 2.5
             anomaly skew 1
             delivered 0 0",
        ),
        example(
            "§4.3: \"`o` before `t` by at most 1 s: use `t`\": 1 s exactly",
            FUSED,
            scheduled_at_3(2.0),
            "inflight network 1 since 3
             scheduling 1 2.5
             anomaly skew 1
             delivered 0 0",
        ),
        example(
            "§4.3: \"`o` earlier still: use `o`\", and count skew",
            FUSED,
            scheduled_at_3(1.75),
            "inflight network 1 since 1.75
             scheduling 1 1.25
             anomaly skew 1
             delivered 0 0",
        ),
        example(
            "§4.3: a kubelet two hours ahead: what it states is used nowhere, starts included",
            FUSED,
            vec![
                begun(),
                at(
                    8.25,
                    modified(
                        &pod("a")
                            .started(7201.0)
                            .all([0.0, 7204.0, 7201.0, 7207.0, 7207.0])
                            .container("main", running(7206.0)),
                    ),
                ),
            ],
            "finished ready 1
             scheduling 1 0
             network 1 7.75
             containers 1 0
             scheduled_to_ready 1 7.75
             created_to_ready 1 7.75
             step acknowledge 1 7.75
             step sandbox 1 0
             step start 1 0
             step probe 1 0
             anomaly skew 4
             delivered 0 0",
        ),
        example(
            "§4.3: the creation is no exception",
            FUSED,
            vec![
                at(0.5, added(&pod("a").created(40.0))),
                at(1.5, modified(&pod("a").created(40.0).yes(SCHEDULED, 1.0))),
            ],
            "inflight network 1 since 1.5
             scheduling 1 1
             anomaly skew 1
             delivered 1 0.5",
        ),
        example(
            "§4.6: \"A Ready that has no usable time takes `o` in `fused` mode\"",
            FUSED,
            vec![begun(), at(9.25, modified(&ready_without_time()))],
            "finished ready 1
             scheduling 1 0
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             scheduled_to_ready 1 8.75
             created_to_ready 1 8.75
             delivered 0 0",
        ),
        example(
            "§4.6: an absurd time is no usable time, and ContainersReady takes nothing",
            FUSED,
            vec![
                begun(),
                at(
                    9.25,
                    modified(
                        &pod("a")
                            .all([0.0, 4.0, 3.0, 0.0, 0.0])
                            .condition(CONTAINERS, "True", Value::Null)
                            .condition(READY, "True", "1970-01-01T00:00:00Z".into()),
                    ),
                ),
            ],
            "finished ready 1
             scheduling 1 0
             network 1 4
             unobserved containers time 1
             anomaly missing 1
             scheduled_to_ready 1 8.75
             created_to_ready 1 8.75
             delivered 0 0",
        ),
        example(
            "§4.6: in `api` mode a Ready without a time stays missing",
            API,
            vec![at(9.25, added(&ready_without_time()))],
            "finished ready 1
             scheduling 1 0
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             anomaly missing 2
             delivered 0 0",
        ),
        example(
            "§4.6: a list has no `o` that a Ready without a time could take",
            FUSED,
            vec![begun(), expired(), at(9.25, list(&[ready_without_time()]))],
            "finished ready 1
             scheduling 1 0
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             anomaly missing 2
             delivered 0 0",
        ),
        example(
            "§4: skew is a matter of fused mode",
            API,
            scheduled_at_3(1.5),
            "inflight network 1 since 3
             scheduling 1 3
             delivered 0 0",
        ),
        example(
            "§4: the instant of \"the first event that shows the milestone\": a duplicate has no say",
            FUSED,
            vec![
                at(0.5, added(&pod("a").version(1))),
                at(1.25, modified(&scheduled(1.0).version(2))),
                at(1.75, modified(&scheduled(1.0).version(2))),
            ],
            "inflight network 1 since 1.25
             scheduling 1 0.75",
        ),
        example(
            "§4: a LIST has no `o`, whatever its observedAt",
            FUSED,
            vec![at(0.1, list(&[])), at(2.0, list(&[scheduled(1.0)]))],
            "inflight network 1 since 1.5
             scheduling 1 1
             delivered 0 0",
        ),
        example(
            "§4: 1.25 s below zero between two estimates is more than truncation",
            FUSED,
            vec![
                at(5.75, added(&pod("a").created(5.0))),
                at(5.8, modified(&pod("a").created(5.0).yes(SCHEDULED, 4.0))),
            ],
            "inflight network 1 since 4.5
             anomaly negative 1
             unobserved scheduling time 1",
        ),
        example(
            "§7: podinit_watch_delivery_seconds, \"of bindings only\": a list may have shown the pod before",
            API,
            vec![
                at(10.0, list(&[])),
                at(12.0, list(&[pod("a").created(9.0)])),
                at(14.0, modified(&pod("a").created(9.0).yes(SCHEDULED, 11.0))),
            ],
            "inflight network 1 since 11
             scheduling 1 2
             delivered 1 3",
        ),
    ]
}
