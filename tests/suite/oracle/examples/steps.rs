//! [§9.1](crate::specification#s9-1): the steps.

use super::{API, Example, FUSED, example, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{exited, running, waiting};
use serde_json::{Value, json};

/// Bound at 1 s, accepted at 2 s, its network at 5 s, its container at 8 s, ready at 10 s.
fn whole() -> Pod {
    pod("a").all([1.0, 5.0, 3.0, 10.0, 10.0]).started(2.0).container("main", running(8.0))
}

pub(super) fn examples() -> Vec<Example> {
    [steps(), starts(), judged()].into_iter().flatten().collect()
}

fn steps() -> Vec<Example> {
    vec![
        example(
            "§9.1: acknowledge, sandbox, start and probe of a pod",
            API,
            vec![added(&whole())],
            "finished ready 1
             scheduling 1 1
             network 1 4
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10
             step acknowledge 1 1
             step sandbox 1 3
             step start 1 3
             step probe 1 2",
        ),
        example(
            "§9.1: start begins at \"the later of NetworkReady and (with init containers) Initialized\"",
            API,
            vec![added(
                &whole()
                    .init_containers()
                    .init_container("setup", exited(6.0, 0))
                    .yes(INITIALIZED, 7.0),
            )],
            "finished ready 1
             scheduling 1 1
             network 1 4
             init 1 2
             containers 1 3
             scheduled_to_ready 1 9
             created_to_ready 1 10
             step acknowledge 1 1
             step sandbox 1 3
             step start 1 1
             step probe 1 2",
        ),
        example(
            "§9.1, fused: estimates as for stages, but no skew and no delivery",
            FUSED,
            vec![at(
                1.25,
                added(&pod("a").yes(SCHEDULED, 1.0).started(3.0).container("main", running(4.0))),
            )],
            "inflight network 1
             scheduling 1 0.75
             step acknowledge 1 0
             delivered 0 0",
        ),
        example(
            "§9.1, fused: \"the milestone's API time is the latest start\", and `o` lies in its second",
            FUSED,
            vec![at(
                4.25,
                added(
                    &pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 3.0).container("main", running(4.0)),
                ),
            )],
            "inflight containers 1
             scheduling 1 1
             network 1 2
             step start 1 0.75",
        ),
        example(
            "§9.1: \"rounded, negative, too_long, missing count them too\"",
            API,
            vec![
                added(&pod("a").yes(SCHEDULED, 5.0).started(4.0)),
                added(&pod("b").yes(SCHEDULED, 5.0).started(3.0)),
                added(&pod("c").condition(SCHEDULED, "True", Value::Null).started(3.0)),
            ],
            "inflight network 3
             scheduling 2 10
             unobserved scheduling time 1
             step acknowledge 1 0
             unobserved acknowledge time 2
             anomaly rounded 1
             anomaly negative 1
             anomaly missing 2",
        ),
    ]
}

fn starts() -> Vec<Example> {
    let network = || pod("a").yes(SCHEDULED, 1.0).started(1.0).yes(NETWORK, 2.0);
    let two = json!([{"name": "main"}, {"name": "proxy"}]);
    let started = "inflight containers 1
                   scheduling 1 1
                   network 1 1
                   step acknowledge 1 0
                   step sandbox 1 1
                   step start 1 ";
    let started = |seconds: &str| -> &'static str { format!("{started}{seconds}").leak() };
    let not_started = started("0").replace("step start 1 0", "step start 0 0").leak();
    vec![
        example(
            "§9.1: the start of a container that has ended",
            API,
            vec![added(&network().container("main", exited(6.0, 1)))],
            started("4"),
        ),
        example(
            "§9.1: \"the earliest of state.running.startedAt, … and lastState.terminated.startedAt\"",
            API,
            vec![added(&network().restarted("main", running(60.0), 5.0))],
            started("3"),
        ),
        example(
            "§9.1: a container that waits after its first end has started",
            API,
            vec![added(&network().restarted("main", waiting("CrashLoopBackOff"), 5.0))],
            started("3"),
        ),
        example(
            "§9.1: the earliest \"that is not absurd\"",
            API,
            vec![added(
                &network()
                    .container("main", json!({"running": {"startedAt": "1970-01-01T00:00:00Z"}})),
            )],
            not_started,
        ),
        example(
            "§9.1: \"every container of spec.containers\"",
            API,
            vec![added(
                &network().put("spec", "containers", two.clone()).container("main", running(5.0)),
            )],
            not_started,
        ),
        example(
            "§9.1: \"the milestone's API time is the latest start over the containers\"",
            API,
            vec![added(
                &network()
                    .put("spec", "containers", two)
                    .container("main", running(5.0))
                    .container("proxy", running(9.0)),
            )],
            started("7"),
        ),
        example(
            "§9.1: \"No containers in the spec: never reached.\"",
            API,
            vec![added(
                &network().put("spec", "containers", json!([])).container("main", running(5.0)),
            )],
            not_started,
        ),
    ]
}

fn judged() -> Vec<Example> {
    vec![
        example(
            "§9.1: adopted: the steps whose end was reached before first sight are preexisting",
            API,
            vec![
                list(&[pod("a").yes(SCHEDULED, 1.0).started(2.0)]),
                modified(&pod("a").yes(SCHEDULED, 1.0).started(2.0).yes(NETWORK, 5.0)),
            ],
            "inflight containers 1
             unobserved scheduling preexisting 1
             network 1 4
             unobserved acknowledge preexisting 1
             step sandbox 1 3",
        ),
        example(
            "§9.1: \"condition_absent is for conditions only\"; Acknowledged and ContainersStarted are not_seen",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 1.0).yes(CONTAINERS, 3.0).yes(READY, 4.0))],
            "finished ready 1
             scheduling 1 1
             unobserved network condition_absent 1
             unobserved containers condition_absent 1
             scheduled_to_ready 1 3
             created_to_ready 1 4
             unobserved acknowledge not_seen 1
             unobserved sandbox condition_absent 1
             unobserved start condition_absent 1
             unobserved probe not_seen 1",
        ),
        example(
            "§9.1: \"Steps may be intervals of an SLO.\"",
            slos(API, [("acknowledge", 1.0), ("sandbox", 2.0), ("start", 60.0), ("probe", 1.0)]),
            vec![added(&whole())],
            "slo acknowledge good 1
             slo sandbox bad 1
             slo start good 1
             slo probe bad 1",
        ),
    ]
}
