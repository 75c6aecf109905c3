//! [§16](crate::specification#s16): gates and milestones by name.

use serde_json::{Value, json};

use super::{API, Example, FUSED, Options, example, ready, selecting, slos};
use crate::oracle::build::*;
use crate::oracle::reading::{Namespaces, Own};

pub(super) fn examples() -> Vec<Example> {
    [names(), scheduling(), readiness(), holding(), own(), own_after_ready(), own_slos()]
        .into_iter()
        .flatten()
        .collect()
}

const LOADED: &str = "example.com/Loaded";
const MILESTONES: &[Own] = &[Own { name: "loaded", kind: LOADED }];

/// With one milestone.
fn own_of(options: Options) -> Options {
    Options { milestones: MILESTONES, ..options }
}

/// With these scheduling gates.
fn gated(names: &[&str]) -> Pod {
    let gates: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    pod("a").put("spec", "schedulingGates", gates.into())
}

/// With these readiness gates.
fn until(types: &[&str]) -> Pod {
    let gates: Vec<Value> = types.iter().map(|kind| json!({"conditionType": kind})).collect();
    pod("a").put("spec", "readinessGates", gates.into())
}

/// With its only container started.
fn running(pod: Pod, seconds: f64) -> Pod {
    let state = json!({"running": {"startedAt": time(seconds)}});
    pod.put("status", "containerStatuses", json!([{"name": "main", "state": state}]))
}

fn names() -> Vec<Example> {
    vec![
        example(
            "§16.1: \"the first 8 names […]. Empty names and repetitions are left out\"",
            API,
            vec![
                added(&gated(&["a", "", "b", "a", "c", "d", "e", "f", "g", "h", "i"])),
                modified(&gated(&["i"])),
            ],
            "inflight gated 1 since 0
             gated scheduling a 0
             gated scheduling i 0",
        ),
        example(
            "§16.1: the eighth name is followed, and the ninth is not",
            API,
            vec![added(
                &until(&["1", "2", "3", "4", "5", "6", "7", "8", "9"])
                    .all([1.0, 2.0, 3.0, 4.0, 9.0])
                    .no(READY, 4.0)
                    .yes("8", 5.0)
                    .yes("9", 5.0),
            )],
            "inflight readiness 1 since 4
             scheduling 1 1
             network 1 1
             containers 1 2
             gated readiness 1 1
             gated readiness 2 1
             gated readiness 3 1
             gated readiness 4 1
             gated readiness 5 1
             gated readiness 6 1
             gated readiness 7 1
             gate readiness 8 1 1",
        ),
        example(
            "§16.1: \"The gates of a pod are those of the snapshot with which it is discovered\"",
            API,
            vec![at(0.2, added(&gated(&["a"]))), at(3.2, modified(&gated(&["b"])))],
            "inflight gated 1 since 0
             gate scheduling a 1 3",
        ),
    ]
}

fn scheduling() -> Vec<Example> {
    vec![
        example(
            "§16.2: \"passed with the first snapshot of the pod that has it no longer\", each at its own time",
            FUSED,
            vec![
                at(0.5, added(&gated(&["a", "b"]))),
                at(3.5, modified(&gated(&["b"]))),
                at(7.75, modified(&gated(&[]))),
            ],
            "inflight scheduling 1 since 7.75
             gated 1 7.25
             gate scheduling a 1 3
             gate scheduling b 1 7.25",
        ),
        example(
            "§16.2, §16.3: a list shows no time, and \"those with an unusable time\" are not observed",
            API,
            vec![at(0.5, added(&gated(&["a"]))), at(4.0, list(&[gated(&[])]))],
            "inflight scheduling 1 since 0
             unobserved gated time 1
             anomaly missing 1
             gate scheduling a 0 0",
        ),
        example(
            "§16.2 by §4.4: the earlier of o and Scheduled, where the snapshot shows both",
            API,
            vec![
                at(0.0, added(&gated(&["a", "b"]))),
                at(4.5, modified(&gated(&["b"]))),
                at(9.0, modified(&gated(&[]).yes(SCHEDULED, 7.0))),
            ],
            "inflight network 1 since 7
             gated 1 7
             scheduling 1 0
             gate scheduling a 1 4
             gate scheduling b 1 7",
        ),
        example(
            "§16.3: \"judged once per UID\"; §16.4: one that came back would hold again",
            API,
            vec![
                at(0.0, added(&gated(&["a", "b"]))),
                at(2.0, modified(&gated(&["b"]))),
                at(3.0, modified(&gated(&["a", "b"]))),
                at(5.0, modified(&gated(&["b"]))),
                at(6.0, modified(&gated(&["a", "b"]))),
            ],
            "inflight gated 1 since 0
             gate scheduling a 1 2
             gated scheduling a 1
             gated scheduling b 1",
        ),
        example(
            "§16.3: \"with the snapshot that ends its startup\", here the object of a DELETED event",
            API,
            vec![at(0.0, added(&gated(&["a"]))), at(4.0, deleted(&gated(&[])))],
            "finished deleted 1
             gated 1 4
             gate scheduling a 1 4",
        ),
    ]
}

fn readiness() -> Vec<Example> {
    let ready = |pod: Pod| pod.all([1.0, 2.0, 3.0, 4.0, 9.0]);
    const STAGES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 9.0];
    vec![
        example(
            "§16.3: \"ContainersReady → passed\", and \"0 where the gate was passed before ContainersReady\"",
            API,
            vec![added(&ready(until(&["a", "b"])).yes("a", 2.0).yes("b", 8.0))],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 2
             readiness 1 5
             scheduled_to_ready 1 8
             created_to_ready 1 9
             gate readiness a 1 0
             gate readiness b 1 4",
        ),
        example(
            "§16.3: \"latched\": what falls and rises again is judged once",
            API,
            vec![
                added(&until(&["a"]).all(STAGES).no(READY, 4.0).yes("a", 6.0)),
                modified(&until(&["a"]).all(STAGES).no(READY, 4.0).no("a", 7.0)),
                modified(&until(&["a"]).all([1.0, 2.0, 3.0, 4.0, 20.0]).yes("a", 19.0)),
            ],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 2
             readiness 1 16
             scheduled_to_ready 1 19
             created_to_ready 1 20
             gate readiness a 1 2",
        ),
        example(
            "§16.3: \"Those that had ended when a pod was adopted are not observed\"",
            API,
            vec![
                list(&[until(&["a", "b"]).all(STAGES).no(READY, 4.0).yes("a", 6.0)]),
                modified(&until(&["a", "b"]).all(STAGES).yes("a", 6.0).yes("b", 9.0)),
            ],
            "finished ready 1
             unobserved scheduling preexisting 1
             unobserved network preexisting 1
             unobserved containers preexisting 1
             readiness 1 5
             scheduled_to_ready 1 8
             created_to_ready 1 9
             gate readiness b 1 5",
        ),
        example(
            "§16.3: a gate that was passed before adoption has not ended while ContainersReady is to come",
            API,
            vec![
                list(&[until(&["a"]).yes(SCHEDULED, 1.0).yes("a", 1.0)]),
                modified(&ready(until(&["a"])).yes("a", 1.0)),
            ],
            "finished ready 1
             unobserved scheduling preexisting 1
             network 1 1
             containers 1 2
             readiness 1 5
             scheduled_to_ready 1 8
             created_to_ready 1 9
             gate readiness a 1 0",
        ),
        example(
            "§16.3, §16.8: an unusable time is not observed, and no anomaly",
            API,
            vec![added(&ready(until(&["a"])).condition("a", "True", Value::Null))],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 2
             readiness 1 5
             scheduled_to_ready 1 8
             created_to_ready 1 9
             gate readiness a 0 0",
        ),
    ]
}

fn holding() -> Vec<Example> {
    let waits = |pod: Pod| pod.all([1.0, 2.0, 3.0, 4.0, 9.0]).no(READY, 4.0);
    vec![
        example(
            "§16.4: \"has reached ContainersReady while the condition is not True\", there or not",
            API,
            vec![added(&waits(until(&["a", "b", "c"])).no("a", 4.0).yes("c", 4.0))],
            "inflight readiness 1 since 4
             scheduling 1 1
             network 1 1
             containers 1 2
             gate readiness c 1 0
             gated readiness a 1
             gated readiness b 1",
        ),
        example(
            "§16.4: no readiness gate holds a pod before ContainersReady",
            API,
            vec![added(&until(&["a"]).no("a", 0.0))],
            "inflight scheduling 1 since 0
             gated readiness a 0",
        ),
        example(
            "§16.4: \"also where it was True before\"",
            API,
            vec![
                added(&waits(until(&["a"])).yes("a", 6.0)),
                modified(&waits(until(&["a"])).no("a", 8.0)),
            ],
            "inflight readiness 1 since 4
             scheduling 1 1
             network 1 1
             containers 1 2
             gate readiness a 1 2
             gated readiness a 1",
        ),
        example(
            "§16.4: \"the pods in flight\": one that has failed is held by nothing",
            API,
            vec![added(&waits(until(&["a"]))), modified(&waits(until(&["a"])).phase("Failed"))],
            "finished failed 1
             scheduling 1 1
             network 1 1
             containers 1 2
             gated readiness a 0",
        ),
    ]
}

fn own() -> Vec<Example> {
    vec![
        example(
            "§16.6: Created → NAME and ContainersStarted → NAME",
            own_of(API),
            vec![added(&running(pod("a").yes(SCHEDULED, 1.0).yes(LOADED, 7.0), 3.0))],
            "inflight network 1 since 1
             scheduling 1 1
             own loaded created 1 7
             own loaded containers_started 1 4",
        ),
        example(
            "§16.6: \"nor has one before\": NAME before the start of the containers has no second duration, then or later",
            own_of(API),
            vec![
                added(&pod("a").yes(LOADED, 2.0)),
                modified(&running(pod("a").yes(LOADED, 2.0), 3.0)),
            ],
            "inflight scheduling 1 since 0
             own loaded created 1 2",
        ),
        example(
            "§16.6: \"the earlier by more than 1 s\"; by one second it is rounding (§4.5), and no anomaly (§16.8)",
            own_of(API),
            vec![
                added(&running(pod("a").yes(LOADED, 2.0), 4.0)),
                added(&running(pod("b").yes(LOADED, 2.0), 3.0)),
            ],
            "inflight scheduling 2 since 0
             own loaded created 2 4
             own loaded containers_started 1 0",
        ),
        example(
            "§16.5: without a usable time it \"takes `o` […] where an earlier snapshot of the pod was not True\"",
            own_of(FUSED),
            vec![
                at(0.25, added(&pod("a"))),
                at(7.5, modified(&pod("a").condition(LOADED, "True", Value::Null))),
            ],
            "inflight scheduling 1 since 0.25
             own loaded created 1 7.25",
        ),
        example(
            "§16.5 by §4.3: fused estimates",
            own_of(FUSED),
            vec![
                at(0.25, added(&pod("a"))),
                at(7.75, modified(&running(pod("a").yes(LOADED, 7.0), 3.0))),
            ],
            "inflight scheduling 1 since 0.25
             own loaded created 1 7.5
             own loaded containers_started 1 4.25",
        ),
        example(
            "§16.6 by §5.8: preexisting",
            own_of(API),
            vec![list(&[running(pod("a").yes(LOADED, 2.0), 1.0)])],
            "inflight scheduling 1 since 0
             own loaded unobserved preexisting 1",
        ),
        example(
            "§16.6 by §5.8: time, of which only created_to_NAME tells",
            own_of(API),
            vec![added(&running(pod("a").condition(LOADED, "True", "soon".into()), 1.0))],
            "inflight scheduling 1 since 0
             own loaded unobserved time 1",
        ),
        example(
            "§16.6: \"condition_absent says that the pod's status never had the TYPE\", else not_seen",
            own_of(API),
            vec![
                added(&pod("b").no(LOADED, 1.0)),
                modified(&pod("b").phase("Succeeded")),
                added(&pod("d")),
                modified(&pod("d").phase("Succeeded")),
                added(&pod("c")),
                modified(&pod("c").phase("Failed")),
            ],
            "finished completed 2
             finished failed 1
             unobserved scheduling condition_absent 2
             unobserved network condition_absent 2
             unobserved containers condition_absent 2
             own loaded unobserved condition_absent 1
             own loaded unobserved not_seen 1",
        ),
    ]
}

/// Pods that are ready before their milestone.
fn own_after_ready() -> Vec<Example> {
    // An SLO that is about no pod: then nothing has to be told but what is the point.
    let own = |options| {
        let mut options = slos(own_of(options), [("readiness", 60.0)]);
        options.slos[0].namespaces = Namespaces::Include(vec!["other"]);
        options
    };
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let whole = |name: &str| ready(name).no(LOADED, 1.0);
    let ready_ones =
        |pods: usize| names.into_iter().take(pods).map(move |name| added(&whole(name)));
    vec![
        example(
            "§16.5: \"followed for NAME until 10 minutes after Ready\" (10 s): \"strictly after its instant\"",
            own(API),
            ready_ones(2)
                .chain([
                    modified(&pod("z").created(610.0)),
                    modified(&ready("a").yes(LOADED, 610.0)),
                    added(&pod("y").created(611.0)),
                    modified(&ready("b").yes(LOADED, 611.0)),
                ])
                .collect(),
            "own loaded created 1 610
             own loaded unobserved not_seen 1",
        ),
        example(
            "§16.5: \"nothing but NAME is latched\": containers that are seen to have started later begin nothing",
            own(API),
            vec![
                added(&whole("a")),
                modified(&running(whole("a"), 8.0)),
                modified(&running(ready("a").yes(LOADED, 20.0), 8.0)),
                added(&running(whole("b"), 8.0)),
                modified(&running(ready("b").yes(LOADED, 21.0), 8.0)),
            ],
            "own loaded created 2 41
             own loaded containers_started 1 13",
        ),
        example(
            "§16.5, §16.6: what is over or gone is followed no longer, and counts only where it has succeeded",
            own(API),
            ready_ones(6)
                .chain([
                    modified(&whole("a").phase("Succeeded")),
                    modified(&ready("b").phase("Succeeded").yes(LOADED, 20.0)),
                    modified(&whole("c").phase("Failed")),
                    modified(&ready("c").phase("Failed").yes(LOADED, 21.0)),
                    deleted(&whole("d")),
                    deleted(&ready("e").yes(LOADED, 30.0)),
                    list(&[]),
                    added(&pod("z").created(700.0)),
                ])
                .collect(),
            "own loaded created 2 50
             own loaded unobserved not_seen 1",
        ),
        example(
            "§16.5, §6.7: out of sync no time passes, and what the next list shows counts",
            own(API),
            vec![
                added(&whole("a")),
                at(20.0, expired()),
                at(800.0, list(&[ready("a").yes(LOADED, 640.0)])),
            ],
            "own loaded created 1 640",
        ),
    ]
}

fn own_slos() -> Vec<Example> {
    let whole = |pod: Pod| pod.all([1.0, 2.0, 3.0, 4.0, 9.0]);
    let both = |created, started| {
        slos(
            own_of(API),
            [("created_to_loaded", created), ("containers_started_to_loaded", started)],
        )
    };
    vec![
        example(
            "§16.7: \"section 6 holds for them\": good and bad",
            both(7.0, 3.0),
            vec![added(&running(pod("a").yes(LOADED, 7.0), 3.0))],
            "slo created_to_loaded good 1
             slo containers_started_to_loaded bad 1",
        ),
        example(
            "§16.7: a deadline passes without the milestone",
            both(5.0, 60.0),
            vec![added(&running(pod("a"), 3.0)), added(&pod("b").created(11.0))],
            "slo created_to_loaded bad 1",
        ),
        example(
            "§16.7: \"can come no more […] is not_entered\"",
            both(60.0, 60.0),
            vec![added(&pod("a").yes(LOADED, 2.0))],
            "slo created_to_loaded good 1
             slo containers_started_to_loaded excluded not_entered 1",
        ),
        example(
            "§16.7: \"an interval that has not begun\" is excluded when the time passes, \"as condition_absent if its status never had the TYPE, else as not_seen\"",
            both(60.0, 60.0),
            vec![
                added(&whole(pod("a"))),
                added(&whole(pod("b")).no(LOADED, 1.0)),
                modified(&pod("z").created(609.0)),
                added(&pod("y").created(610.0)),
            ],
            "slo created_to_loaded bad 2
             blamed created_to_loaded none none 2
             slo containers_started_to_loaded excluded condition_absent 1
             slo containers_started_to_loaded excluded not_seen 1",
        ),
        example(
            "§16.7: \"A deadline passes as for any pod\", and what latches before is good",
            both(700.0, 700.0),
            vec![
                added(&running(whole(pod("a")), 3.0)),
                added(&running(whole(pod("b")), 3.0)),
                modified(&running(whole(pod("a")).yes(LOADED, 702.0), 3.0)),
                added(&pod("z").created(705.0)),
            ],
            "slo created_to_loaded bad 1
             slo containers_started_to_loaded good 1",
        ),
        example(
            "§16.5: \"or until the last deadline of an undecided SLO that names it\"",
            both(700.0, 20.0),
            vec![
                added(&running(whole(pod("a")), 3.0)),
                modified(&pod("z").created(705.0)),
                modified(&running(whole(pod("a")).yes(LOADED, 650.0), 3.0)),
            ],
            "slo created_to_loaded good 1
             slo containers_started_to_loaded bad 1
             own loaded created 1 650
             own loaded containers_started 1 647",
        ),
        example(
            "§16.7: \"over or gone before is excluded as such\"",
            both(700.0, 700.0),
            vec![
                added(&whole(pod("a"))),
                modified(&whole(pod("a")).phase("Succeeded")),
                added(&whole(pod("b"))),
                modified(&whole(pod("b")).phase("Failed")),
                added(&whole(pod("c"))),
                deleted(&whole(pod("c"))),
                added(&whole(pod("d"))),
                modified(&whole(pod("d")).yes("DisruptionTarget", 20.0)),
                list(&[]),
                added(&whole(pod("e"))),
                list(&[]),
            ],
            "slo created_to_loaded excluded completed 1
             slo created_to_loaded excluded failed 1
             slo created_to_loaded excluded deleted 1
             slo created_to_loaded excluded disrupted 1
             slo created_to_loaded excluded vanished 1
             slo containers_started_to_loaded excluded completed 1
             slo containers_started_to_loaded excluded failed 1
             slo containers_started_to_loaded excluded deleted 1
             slo containers_started_to_loaded excluded disrupted 1
             slo containers_started_to_loaded excluded vanished 1",
        ),
        example(
            "§16.7: that \"comes before `capacity` and `images`\"",
            selecting([true, false], Options { nodes: true, ..both(700.0, 700.0) }),
            vec![added(&whole(pod("a")).phase("Failed")), added(&whole(pod("b")))],
            "slo created_to_loaded excluded failed 1
             slo created_to_loaded excluded capacity 1
             slo containers_started_to_loaded excluded failed 1
             slo containers_started_to_loaded excluded capacity 1",
        ),
        example(
            "§16.7, §6.4: nothing is absent before the end, and a pod that ends otherwise is excluded with its outcome",
            both(60.0, 60.0),
            vec![
                added(&pod("a").started(1.0).no(NETWORK, 1.0)),
                added(&pod("b")),
                modified(&pod("b").phase("Succeeded")),
            ],
            "slo created_to_loaded excluded completed 1
             slo containers_started_to_loaded excluded completed 1",
        ),
        example(
            "§6.4: \"it was adopted, and the interval or its deadline lay before it was first seen\"",
            both(60.0, 60.0),
            vec![list(&[running(pod("a").yes(LOADED, 5.0), 3.0)])],
            "slo created_to_loaded excluded preexisting 1
             slo containers_started_to_loaded excluded preexisting 1",
        ),
    ]
}
