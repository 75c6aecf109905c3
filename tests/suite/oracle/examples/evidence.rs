//! [§9.2](crate::specification#s9-2): since when the network was ready.

use super::{API, EVENTS, Example, FUSED, FUSED_EVENTS, example, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{
    about, assigned, exited, heard, named, running, watched, with,
};
use serde_json::{Value, json};

pub(super) fn examples() -> Vec<Example> {
    [containers(), events(), before_scheduled(), no_evidence(), deadlines(), scheduler()]
        .into_iter()
        .flatten()
        .collect()
}

fn bound() -> Pod {
    pod("a").yes(SCHEDULED, 1.0)
}

/// Something that begins `containers` when the network has been ready.
fn until_network(seconds: u32, source: &str) -> &'static str {
    format!(
        "inflight containers 1 since {}
         scheduling 1 1
         network 1 {seconds}
         evidence {source} 1",
        seconds + 1
    )
    .leak()
}

fn containers() -> Vec<Example> {
    vec![
        example(
            "§9.2: \"the earliest of the condition's (§4) and the earliest start of a container\"",
            API,
            vec![modified(&bound().yes(NETWORK, 60.0).container("main", running(4.0)))],
            until_network(3, "container"),
        ),
        example(
            "§9.2: \"… or init container in that snapshot\"",
            API,
            vec![modified(
                &bound()
                    .put("spec", "initContainers", json!([{"name": "setup"}]))
                    .yes(INITIALIZED, 60.0)
                    .yes(NETWORK, 60.0)
                    .init_container("setup", exited(3.0, 0)),
            )],
            "inflight containers 1 since 60
             scheduling 1 1
             network 1 2
             init 1 57
             evidence container 1",
        ),
        example(
            "§9.2: \"on a tie the first of these\"",
            API,
            vec![added(&bound().yes(NETWORK, 4.0).container("main", running(4.0)))],
            until_network(3, "condition"),
        ),
        example(
            "§9.2: \"a condition without a usable time takes that start\"",
            API,
            vec![added(
                &bound().condition(NETWORK, "True", Value::Null).container("main", running(4.0)),
            )],
            until_network(3, "container"),
        ),
        example(
            "§9.2: \"Container starts alone never latch it.\"",
            API,
            vec![added(&bound().container("main", running(4.0)))],
            "inflight network 1 since 1
             scheduling 1 1
             evidence container 0",
        ),
        example(
            "§9.2: \"earlier by at most 1 s, it is raised to it\"",
            API,
            vec![added(&pod("a").yes(SCHEDULED, 9.0).yes(NETWORK, 8.0))],
            "inflight containers 1 since 9
             scheduling 1 9
             network 1 0
             evidence condition 1",
        ),
        // The clock of the node is ten minutes behind, and the sandbox took 5 minutes.
        example(
            "§9.2: \"Further below it stays as it is\"; `sandbox` is \"judged as any other\"",
            API,
            vec![modified(
                &pod("a")
                    .yes(SCHEDULED, 1000.0)
                    .started(401.0)
                    .yes(NETWORK, 700.0)
                    .yes(CONTAINERS, 702.0),
            )],
            "inflight readiness 1 since 702
             scheduling 1 1000
             unobserved network time 1
             unobserved acknowledge time 1
             containers 1 2
             step sandbox 1 299
             evidence condition 1
             anomaly negative 2",
        ),
        example(
            "§9.2, fused: \"a container start is its second plus 0.5 s\"",
            FUSED,
            vec![at(4.75, added(&bound().yes(NETWORK, 4.0).container("main", running(4.0))))],
            "inflight containers 1 since 4.5
             scheduling 1 1
             network 1 3
             evidence container 1",
        ),
        example(
            "§9.2: not \"for what adoption latches, not for preexisting and static\"",
            API,
            vec![
                list(&[bound().yes(NETWORK, 4.0), pod("b").all([1.0, 2.0, 3.0, 4.0, 5.0])]),
                added(&pod("c").mirror().yes(NETWORK, 4.0)),
            ],
            "inflight containers 1
             finished preexisting 1
             finished static 1
             unobserved scheduling preexisting 1
             unobserved network preexisting 1
             evidence condition 0",
        ),
    ]
}

fn events() -> Vec<Example> {
    let pulling = || heard(&bound(), "Pulling", "Pulling image \"a\"", 3.0);
    let after = |event: Value| vec![added(&bound()), event, modified(&bound().yes(NETWORK, 60.0))];
    vec![
        example(
            "§9.2: \"Latched by an event, it is the event's time\"; \"Nothing later moves it.\"",
            EVENTS,
            after(pulling()),
            until_network(2, "event"),
        ),
        example(
            "§9: \"Evidence sources are chosen by --evidence (default none\"",
            API,
            after(pulling()),
            until_network(59, "condition"),
        ),
        example(
            "§9.2: \"(an aggregated one too: its time is its first occurrence's)\"",
            EVENTS,
            after(with(with(pulling(), "/count", json!(9)), "/lastTimestamp", time(50.0))),
            until_network(2, "event"),
        ),
        example(
            "§9.2, fused: \"the instant in the event's name … where that lies in the second\"",
            FUSED_EVENTS,
            vec![at(1.5, added(&bound())), named(pulling(), 3.25)],
            "inflight containers 1 since 3.25
             scheduling 1 1
             network 1 1.75
             evidence event 1",
        ),
        example(
            "§9.2, fused: \"else the second plus 0.5 s\"",
            FUSED_EVENTS,
            vec![at(1.5, added(&bound())), named(pulling(), 4.0)],
            "inflight containers 1 since 3.5
             scheduling 1 1
             network 1 2
             evidence event 1",
        ),
        example(
            "§9.2: raised to Scheduled, the source is \"what gave the time before it was raised\"",
            EVENTS,
            vec![
                added(&pod("a").yes(SCHEDULED, 9.0)),
                heard(&bound(), "Started", "Started container main", 8.0),
            ],
            "inflight containers 1 since 9
             scheduling 1 9
             network 1 0
             evidence event 1",
        ),
        example(
            "§9.2: \"by what is delivered first\": the condition",
            EVENTS,
            vec![added(&bound()), modified(&bound().yes(NETWORK, 60.0)), pulling()],
            until_network(59, "condition"),
        ),
    ]
}

fn before_scheduled() -> Vec<Example> {
    let created = |second| heard(&pod("a"), "Created", "Created container main", second);
    vec![
        example(
            "§9.2: \"Evidence that is delivered before Scheduled is latched implies nothing\"",
            EVENTS,
            vec![added(&pod("a")), created(4.0)],
            "inflight scheduling 1 since 0
             evidence event 0",
        ),
        example(
            "§9.2: \"the first is kept, and latches NetworkReady in the snapshot that latches Scheduled\"",
            EVENTS,
            vec![added(&pod("a")), created(4.0), created(3.0), modified(&bound())],
            until_network(3, "event"),
        ),
        example(
            "§9.2: \"before that snapshot's own conditions are looked at\"",
            EVENTS,
            vec![added(&pod("a")), created(4.0), modified(&bound().yes(NETWORK, 2.0))],
            until_network(3, "event"),
        ),
    ]
}

/// Events that show nothing.
fn no_evidence() -> Vec<Example> {
    let pulling = || heard(&bound(), "Pulling", "Pulling image \"a\"", 3.0);
    let shows_nothing = "inflight network 1 since 1
                         scheduling 1 1
                         evidence event 0";
    let nothing = |says: &'static str, event: Value| {
        example(says, EVENTS, vec![added(&bound()), event], shows_nothing)
    };
    let other = json!("00000000-0000-4000-8000-ffffffffffff");
    vec![
        nothing(
            "§9.2: \"whose involvedObject is the pod (by uid)\"",
            with(pulling(), "/involvedObject/uid", other),
        ),
        nothing(
            "§9.2: \"reportingComponent, or where that is empty source.component\"",
            with(pulling(), "/reportingComponent", json!("webhook")),
        ),
        nothing(
            "§9.2: \"of a container in the pod's spec\"",
            about(pulling(), "spec.containers{other}"),
        ),
        nothing(
            "§9.2: \"spec.containers{NAME} or spec.initContainers{NAME}\"",
            about(pulling(), "spec.ephemeralContainers{main}"),
        ),
        nothing(
            "§9.2: a regular container is no init container",
            about(pulling(), "spec.initContainers{main}"),
        ),
        nothing(
            "§9.2: \"with reason Pulling, Pulled, Created or Started\"",
            with(pulling(), "/reason", json!("Killing")),
        ),
        nothing("§9.5: \"DELETED is ignored\"", watched("DELETED", pulling())),
        example(
            "§9.2: \"where that is empty source.component\"",
            EVENTS,
            vec![added(&bound()), with(pulling(), "/reportingComponent", json!(""))],
            until_network(2, "event"),
        ),
    ]
}

fn deadlines() -> Vec<Example> {
    let absent = || bound().started(1.0).yes(INITIALIZED, 1.0).no(CONTAINERS, 1.0).no(READY, 1.0);
    let started = heard(&bound(), "Started", "Started container main", 3.0);
    let events = || slos(EVENTS, [("network", 60.0), ("containers", 60.0)]);
    vec![
        example(
            "§9.2: \"With events on, no SLO excludes a pod as condition_absent for NetworkReady before the pod ends\"",
            events(),
            vec![added(&absent()), started.clone()],
            "slo network good 1",
        ),
        example(
            "§9.2: \"(then it does, before the outcome's reason, where the last status meets §6's condition)\"",
            events(),
            vec![added(&absent()), deleted(&absent())],
            "slo network excluded condition_absent 1
             slo containers excluded condition_absent 1",
        ),
        example(
            "§9.2: \"where the last status meets §6's condition\": a terminal phase does not",
            events(),
            vec![added(&absent()), modified(&absent().phase("Failed"))],
            "slo network excluded failed 1
             slo containers excluded failed 1",
        ),
        example(
            "§9.2: \"What an event latches is judged at once, as with a snapshot: intervals, deadlines\"",
            slos(EVENTS, [("containers", 1.0)]),
            vec![added(&bound()), added(&pod("clock").created(60.0)), started],
            "slo containers bad 1",
        ),
    ]
}

/// [§4.8](crate::specification#s4-8): when the scheduler bound a pod, by its own Event.
fn scheduler() -> Vec<Example> {
    let assigned = |at| assigned(&bound(), at);
    let seen = || at(1.5, added(&bound()));
    let ready = || bound().yes(NETWORK, 4.0).all([1.0, 4.0, 4.0, 4.0, 4.0]);
    vec![
        example(
            "§4.8: \"One that is delivered before Scheduled is latched is kept\"",
            FUSED_EVENTS,
            vec![at(0.5, added(&pod("a"))), assigned(1.25), at(1.5, modified(&bound()))],
            "inflight network 1 since 1.25
             scheduling 1 0.75",
        ),
        example(
            "§4.8: \"One that is delivered later moves the beginning of\" what begins with Scheduled",
            FUSED_EVENTS,
            vec![seen(), assigned(1.25), at(4.0, modified(&ready()))],
            "finished ready 1
             scheduling 1 1
             network 1 2.75
             containers 1 0
             scheduled_to_ready 1 2.75
             created_to_ready 1 3.5
             evidence condition 1",
        ),
        example(
            "§4.8: the first that does counts",
            FUSED_EVENTS,
            vec![seen(), assigned(2.0), assigned(1.25), assigned(1.75)],
            "inflight network 1 since 1.25
             scheduling 1 1",
        ),
        example(
            "§4.8: \"Where it lies in the same second\"",
            FUSED_EVENTS,
            vec![seen(), assigned(2.0), assigned(0.75)],
            "inflight network 1 since 1.5
             scheduling 1 1",
        ),
        example(
            "§4.8: \"a later one may still move\" what a kept one of another second did not",
            FUSED_EVENTS,
            vec![
                at(0.5, added(&pod("a"))),
                assigned(2.25),
                at(1.5, modified(&bound())),
                assigned(1.25),
            ],
            "inflight network 1 since 1.25
             scheduling 1 1",
        ),
        example(
            "§4.8: \"with the reason `Scheduled`\"",
            FUSED_EVENTS,
            vec![seen(), with(assigned(1.25), "/reason", "Preempted".into())],
            "inflight network 1 since 1.5
             scheduling 1 1",
        ),
        example(
            "§4.8: \"as long as none of these intervals has ended\"",
            FUSED_EVENTS,
            vec![at(1.5, added(&bound().started(1.0))), assigned(1.25)],
            "inflight network 1 since 1.5
             scheduling 1 1
             step acknowledge 1 0",
        ),
        example(
            "§4.8: \"In `fused` mode\"",
            EVENTS,
            vec![seen(), assigned(1.25)],
            "inflight network 1 since 1
             scheduling 1 1",
        ),
        example(
            "§4.8: \"Deadlines that count from Scheduled follow\"",
            slos(FUSED_EVENTS, [("network", 2.0)]),
            vec![
                seen(),
                assigned(1.75),
                at(3.625, added(&pod("clock").created(3.0))),
                at(3.75, modified(&bound().yes(NETWORK, 3.0))),
            ],
            "slo network good 1",
        ),
    ]
}
