//! [§14.3](crate::specification#s14-3) to [§14.6](crate::specification#s14-6): what nodes and images tell of
//! startups.

use super::{BOTH, EVENTS, Example, FUSED_NODES, NODES, READY_IN_FULL, example, ready};
use crate::oracle::build::*;
use crate::oracle::build_evidence::heard;
use crate::oracle::build_nodes::{mixed, node, nodes};
use crate::oracle::reading::Options;
use serde_json::{Value, json};

/// Figures of a pod that was ready, and others.
fn with_pod(figures: &str) -> &'static str {
    format!("{READY_IN_FULL}\n{figures}").leak()
}

pub(super) fn examples() -> Vec<Example> {
    [capacity(), images(), waits()].concat()
}

fn capacity() -> Vec<Example> {
    let on_n = ready("a").on("n");
    let startup = |says, options: &Options, documents, capacity: &str| {
        let figures = with_pod(&format!("startup {capacity} unknown 1 10"));
        example(says, options.clone(), documents, figures)
    };
    vec![
        startup(
            "§14.3: `new` if its node was created in a later second than the pod",
            &NODES,
            vec![at(1.5, added(&node("n").created(1.0))), at(10.5, added(&on_n))],
            "new",
        ),
        startup(
            "§14.3: the same second is no later one",
            &NODES,
            vec![at(0.9, added(&node("n"))), at(10.1, added(&on_n))],
            "existing",
        ),
        startup(
            "§14.3: `unknown` if the node is not known then",
            &NODES,
            vec![at(10.5, added(&on_n)), at(11.0, added(&node("n").created(1.0)))],
            "unknown",
        ),
        startup(
            "§14.3: \"When a pod's Scheduled is latched\": what is known when it is Ready is too late",
            &NODES,
            vec![
                at(1.5, added(&pod("a").yes(SCHEDULED, 1.0).on("n"))),
                at(2.0, added(&node("n").created(1.0))),
                at(10.5, modified(&on_n)),
            ],
            "unknown",
        ),
        startup(
            "§14.3: a node that is deleted after that was there",
            &NODES,
            vec![
                at(1.2, added(&node("n").created(1.0))),
                at(1.5, added(&pod("a").yes(SCHEDULED, 1.0).on("n"))),
                at(2.0, deleted(&node("n").created(1.0))),
                at(10.5, modified(&on_n)),
            ],
            "new",
        ),
        startup(
            "§14.1: \"A node that was deleted […] is not known any more\"",
            &NODES,
            vec![
                at(1.2, added(&node("n").created(1.0))),
                at(1.3, deleted(&node("n").created(1.0))),
                at(10.5, added(&on_n)),
            ],
            "unknown",
        ),
        startup(
            "§14.1: a node that is created again is another one",
            &NODES,
            vec![
                at(0.5, added(&node("n").created(-5.0))),
                at(1.2, deleted(&node("n").created(-5.0))),
                at(1.3, added(&node("n").uid("again").created(1.0))),
                at(10.5, added(&on_n)),
            ],
            "new",
        ),
        example(
            "§14.3: without a time of the node's creation, which its first pod needs too",
            NODES,
            vec![
                at(0.5, added(&node("n").put("metadata", "creationTimestamp", Value::Null))),
                at(10.5, added(&on_n)),
            ],
            with_pod("startup unknown unknown 1 10\nanomaly missing 1"),
        ),
        startup(
            "§14.3: a pod without a node",
            &NODES,
            vec![at(0.5, added(&node("").created(1.0))), at(10.5, added(&ready("a")))],
            "unknown",
        ),
        startup(
            "§14.5: \"a label whose source is off is `unknown`\"",
            &EVENTS,
            vec![at(1.5, added(&node("n").created(1.0))), at(10.5, added(&on_n))],
            "unknown",
        ),
        startup(
            "§14.3, §1.8: Scheduled is latched by a later milestone too",
            &NODES,
            vec![
                at(1.5, added(&node("n").created(1.0))),
                at(1.6, added(&pod("a").on("n").no(SCHEDULED, 1.0))),
                at(10.5, modified(&on_n)),
            ],
            "new",
        ),
        example(
            "§14.3: \"Pods that are adopted with Scheduled reached are `unknown`\"",
            NODES,
            vec![
                at(1.5, nodes(&[node("n").created(1.0)])),
                at(2.0, list(&[pod("a").yes(SCHEDULED, 1.0).on("n")])),
                at(10.5, modified(&on_n)),
            ],
            "finished ready 1
             network 1 3
             containers 1 5
             scheduled_to_ready 1 9
             created_to_ready 1 10
             unobserved scheduling preexisting 1
             startup unknown unknown 1 10",
        ),
        example(
            "§14.3: of others that are adopted it is known",
            NODES,
            vec![
                at(1.5, nodes(&[node("n").created(1.0)])),
                at(1.6, list(&[pod("a")])),
                at(10.5, modified(&on_n)),
            ],
            with_pod("startup new unknown 1 10"),
        ),
        example(
            "§14.1: \"In a `List` of both, nodes come first\"",
            NODES,
            vec![
                at(1.2, list(&[pod("a")])),
                at(
                    1.5,
                    mixed("List", &[pod("a").yes(SCHEDULED, 1.0).on("n"), node("n").created(1.0)]),
                ),
                at(10.5, modified(&on_n)),
            ],
            with_pod("startup new unknown 1 10"),
        ),
    ]
}

fn images() -> Vec<Example> {
    const PULLED: &str = "Successfully pulled image \"a\" in 1s (2s including waiting)";
    const PRESENT: &str = "Container image \"a\" already present on machine";
    let two = || {
        let containers = json!([{"name": "main"}, {"name": "proxy"}]);
        ready("a").put("spec", "containers", containers)
    };
    let said = |container: &str, message: &str| {
        let mut event = heard(&pod("a"), "Pulled", message, 4.0);
        event["involvedObject"]["fieldPath"] = format!("spec.containers{{{container}}}").into();
        event
    };
    let first = || {
        let unready = pod("a").put("spec", "containers", two().0["spec"]["containers"].clone());
        at(0.5, added(&unready))
    };
    let of = |says, events: Vec<Value>, images: &str| {
        let documents = [vec![first()], events, vec![at(10.5, modified(&two()))]].concat();
        let figures = with_pod(&format!("startup unknown {images} 1 10"));
        example(says, BOTH, documents, figures)
    };
    vec![
        of(
            "§14.4: \"`pulled` if at least one container […] was pulled\"",
            vec![said("main", PRESENT), said("proxy", PULLED)],
            "pulled",
        ),
        of("§14.4: though of the other nothing came", vec![said("proxy", PULLED)], "pulled"),
        of(
            "§14.4: \"`present` if every container of the spec […] has a pull whose result is `present`\"",
            vec![said("main", PRESENT), said("proxy", PRESENT)],
            "present",
        ),
        of("§14.4: otherwise `unknown`", vec![said("main", PRESENT)], "unknown"),
        of(
            "§9.3: \"Each container has at most one pull\": the first",
            vec![said("main", PRESENT), said("main", PULLED), said("proxy", PRESENT)],
            "present",
        ),
        example(
            "§14.5: without events images are `unknown`",
            NODES,
            vec![first(), said("main", PULLED), at(10.5, modified(&two()))],
            with_pod("startup unknown unknown 1 10"),
        ),
        example(
            "§14.4: a pod without containers has all its images",
            BOTH,
            vec![at(10.5, added(&ready("a").put("spec", "containers", json!([]))))],
            with_pod("startup unknown present 1 10"),
        ),
    ]
}

fn waits() -> Vec<Example> {
    let waiting = pod("a").unschedulable(0.0);
    let bound = pod("a").yes(SCHEDULED, 25.0).on("n");
    let registers = at(10.5, added(&node("n").created(10.0)));
    let becomes_ready = at(20.5, modified(&node("n").created(10.0).ready(20.0)));
    let waited = "inflight network 1
        unschedulable 1 25
        step node_launch 1 10
        step node_ready 1 10
        step node_join 1 5";
    let unready = "inflight network 1
        unschedulable 1 25
        step node_launch 1 10
        unobserved node_ready time 1
        unobserved node_join time 1
        anomaly missing 2";
    let nothing = "inflight network 1\nunschedulable 1 25\nstep node_launch 0 0";
    let all = |options: Options| {
        let documents = vec![
            at(0.5, added(&waiting)),
            registers.clone(),
            becomes_ready.clone(),
            at(25.5, modified(&bound)),
        ];
        example(
            "§14.6: from Created to the node's creation, its Ready, and Scheduled",
            options,
            documents,
            waited,
        )
    };
    let gated = |says, ungated: Vec<Value>, expected| {
        let first = at(0.5, added(&waiting.clone().gated()));
        let nodes = vec![registers.clone(), becomes_ready.clone()];
        example(says, NODES, [vec![first], ungated, nodes].concat(), expected)
    };
    vec![
        all(NODES),
        all(FUSED_NODES),
        example(
            "§14.6: \"a node that is not Ready by then\"",
            NODES,
            vec![at(0.5, added(&waiting)), registers.clone(), at(25.5, modified(&bound))],
            unready,
        ),
        example(
            "§14.6: \"'By then' means by what was delivered\"",
            NODES,
            vec![
                at(0.5, added(&waiting)),
                registers.clone(),
                at(25.5, modified(&bound)),
                at(26.0, modified(&node("n").created(10.0).ready(20.0))),
            ],
            unready,
        ),
        example(
            "§14.6: \"first Ready=True\"",
            NODES,
            vec![
                at(0.5, added(&waiting)),
                registers.clone(),
                becomes_ready.clone(),
                at(22.0, modified(&node("n").created(10.0).no(READY, 21.0))),
                at(24.0, modified(&node("n").created(10.0).ready(23.0))),
                at(25.5, modified(&bound)),
            ],
            waited,
        ),
        example(
            "§14.6: a node that was there when it was first seen has these times too",
            NODES,
            vec![
                at(0.5, added(&waiting)),
                at(24.0, nodes(&[node("n").created(10.0).ready(20.0)])),
                at(25.5, modified(&bound)),
            ],
            waited,
        ),
        example(
            "§14.6: \"whose capacity is `new`\"",
            NODES,
            vec![
                at(0.5, added(&node("n").ready(0.0))),
                at(0.5, added(&waiting)),
                at(25.5, modified(&bound)),
            ],
            nothing,
        ),
        example(
            "§14.6: \"pods that were `unschedulable`\"",
            NODES,
            vec![
                at(0.5, added(&pod("a"))),
                registers.clone(),
                becomes_ready.clone(),
                at(25.5, modified(&bound)),
            ],
            "inflight network 1\nscheduling 1 25\nstep node_launch 0 0",
        ),
        example(
            "§14.6: Scheduled at an unknown time",
            NODES,
            vec![
                at(0.5, added(&waiting)),
                registers.clone(),
                becomes_ready.clone(),
                at(25.5, modified(&waiting.clone().yes(INITIALIZED, 25.0).on("n"))),
            ],
            "inflight network 1
             unobserved unschedulable time 1
             step node_launch 1 10
             step node_ready 1 10
             unobserved node_join time 1
             anomaly missing 2",
        ),
        gated(
            "§14.6: \"Ungated for pods seen with gates\"",
            vec![
                at(4.5, modified(&waiting)),
                at(5.0, added(&node("n").created(5.0).ready(5.0))),
                at(25.5, modified(&bound)),
            ],
            "inflight network 1
             gated 1 4
             unschedulable 1 21
             step node_launch 1 1
             step node_ready 1 0
             step node_join 1 20",
        ),
        gated(
            "§14.6: \"judged when Scheduled is latched\", with gates or without",
            vec![
                at(5.0, added(&node("n").created(5.0).ready(5.0))),
                at(25.5, modified(&bound.clone().gated())),
            ],
            "inflight gated 1
             unobserved node_launch time 1
             step node_ready 1 0
             step node_join 1 20
             anomaly missing 1",
        ),
    ]
}
