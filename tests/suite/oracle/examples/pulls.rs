//! [§9.3](crate::specification#s9-3) and [§9.4](crate::specification#s9-4): pulls, and the official
//! SLI.

use super::{API, EVENTS, Example, FUSED_EVENTS, example};
use crate::oracle::build::*;
use crate::oracle::build_evidence::{about, heard, ran, running, watched};
use serde_json::{Value, json};

pub(super) fn examples() -> Vec<Example> {
    [pulls(), once(), official(), without(), excluded()].into_iter().flatten().collect()
}

const PRESENT: &str = "Container image \"nginx\" already present on machine";

/// A `Pulled` Event of 3 s in all, 2 s of them the pull.
fn pulled(second: f64) -> Value {
    let message = "Successfully pulled image \"ghcr.io/a/b:1\" in 2s (3s including waiting). Image size: 1000 bytes.";
    heard(&pod("a"), "Pulled", message, second)
}

fn says(reason: &str, message: &str) -> Vec<Value> {
    vec![added(&pod("a")), heard(&pod("a"), reason, message, 5.0)]
}

fn pulls() -> Vec<Example> {
    let none = "inflight scheduling 1
                pulls pulled docker.io 0";
    vec![
        example(
            "§9.3: pulled, with duration, wait and size",
            EVENTS,
            vec![added(&pod("a")), pulled(5.0)],
            "inflight scheduling 1
             pulls pulled ghcr.io 1
             pull_duration ghcr.io 1 2
             pull_wait ghcr.io 1 1
             pull_bytes ghcr.io 1000",
        ),
        example(
            "§9.3: \"from older kubelets, only … in D (then W = D, and no wait is observed)\"",
            EVENTS,
            says("Pulled", "Successfully pulled image \"nginx\" in 1m2.5s"),
            "inflight scheduling 1
             pulls pulled docker.io 1
             pull_duration docker.io 1 62.5",
        ),
        example(
            "§9.3: \"already present on machine (more may follow)\"",
            EVENTS,
            says("Pulled", &format!("{PRESENT} and can be accessed by the pod")),
            "inflight scheduling 1
             pulls present docker.io 1",
        ),
        example(
            "§9.3: failed, and \"docker.io where none stands, and for index.docker.io\"",
            EVENTS,
            says("Failed", "Failed to pull image \"index.docker.io/library/nginx\": no such host"),
            "inflight scheduling 1
             pulls failed docker.io 1",
        ),
        example(
            "§9.3: \"what cannot be read so is no pull\"",
            EVENTS,
            says("Pulled", "Successfully pulled image \"nginx\" in a while"),
            none,
        ),
        example("§9.3: another reason is no pull", EVENTS, says("Pulling", PRESENT), none),
    ]
}

fn once() -> Vec<Example> {
    let failed = |second| heard(&pod("a"), "Failed", "Failed to pull image \"nginx\": 404", second);
    vec![
        example(
            "§9.3: \"at most once for each container\", \"failed, at most once for each container besides\"",
            EVENTS,
            vec![
                added(&pod("a")),
                failed(3.0),
                failed(4.0),
                heard(&pod("a"), "Pulled", PRESENT, 5.0),
                watched("MODIFIED", pulled(6.0)),
            ],
            "inflight scheduling 1
             pulls failed docker.io 1
             pulls present docker.io 1",
        ),
        example(
            "§9.3: what cannot be read does not count as the container's pull",
            EVENTS,
            vec![
                added(&pod("a")),
                heard(&pod("a"), "Pulled", "It came", 5.0),
                heard(&pod("a"), "Pulled", PRESENT, 6.0),
            ],
            "inflight scheduling 1
             pulls present docker.io 1",
        ),
        example(
            "§9.3: \"containers in their spec (init containers too)\"",
            EVENTS,
            vec![
                added(&pod("a").init_containers()),
                heard(&pod("a"), "Pulled", PRESENT, 5.0),
                about(heard(&pod("a"), "Pulled", PRESENT, 5.0), "spec.initContainers{setup}"),
                about(heard(&pod("a"), "Pulled", PRESENT, 5.0), "spec.containers{debugger}"),
            ],
            "inflight scheduling 1
             pulls present docker.io 2",
        ),
        example(
            "§9.3: \"For pods in flight\"",
            EVENTS,
            vec![
                added(&pod("a").all([1.0, 2.0, 2.0, 3.0, 3.0])),
                heard(&pod("a"), "Pulled", PRESENT, 5.0),
            ],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 1
             scheduled_to_ready 1 2
             created_to_ready 1 3
             pulls present docker.io 0
             dropped finished 1",
        ),
    ]
}

/// Bound at 1 s, its network at 2 s, its container at 9 s.
fn started() -> Pod {
    pod("a").yes(SCHEDULED, 1.0).yes(NETWORK, 2.0).container("main", running(9.0))
}

const STARTED: &str = "inflight containers 1
    scheduling 1 1
    network 1 1
    ";

/// The same with an init container that ran again, from 4 s to 5 s and from 5 s to 7 s, and a sidecar that did.
fn initialized() -> Pod {
    let last =
        json!({"terminated": {"startedAt": time(4.0), "finishedAt": time(5.0), "exitCode": 1}});
    let sidecar = json!({"name": "proxy", "restartPolicy": "Always"});
    let mut pod = started()
        .put("spec", "initContainers", json!([{"name": "setup"}, sidecar]))
        .init_container("setup", ran(5.0, 7.0))
        .init_container("proxy", ran(3.0, 4.0))
        .yes(INITIALIZED, 7.0);
    pod.0["status"]["initContainerStatuses"][0]["lastState"] = last;
    pod
}

/// The same when its sandbox was made anew, and the init container has run from 20 s to 28 s.
fn initialized_again() -> Pod {
    let mut pod = initialized();
    pod.0["status"]["initContainerStatuses"][0]["state"] = ran(20.0, 28.0);
    pod
}

/// The same when the first of both runs states that it ended 3 s before it began.
fn initialized_backwards() -> Pod {
    let mut pod = initialized();
    pod.0["status"]["initContainerStatuses"][0]["lastState"] = ran(5.0, 2.0);
    pod
}

/// What is heard of the images of [`initialized`].
fn images() -> Vec<Value> {
    vec![
        about(pulled(4.0), "spec.initContainers{setup}"),
        about(heard(&pod("a"), "Pulled", PRESENT, 5.0), "spec.initContainers{proxy}"),
        pulled(8.0),
    ]
}

const INITIALIZED_AND_JUDGED: &str = "inflight containers 1
    scheduling 1 1
    network 1 1
    init 1 5
    sli 1 1";

fn with(lines: &str) -> &'static str {
    format!("{STARTED}{lines}").leak()
}

fn official() -> Vec<Example> {
    vec![
        example(
            "§9.4: ContainersStarted − Created − \"the length of the union of the intervals [end − W, end]\"",
            EVENTS,
            vec![added(&started()), pulled(7.0)],
            with("sli 1 6"),
        ),
        example(
            "§9.4: \"as far as they lie between NetworkReady and ContainersStarted\"",
            EVENTS,
            vec![added(&started()), pulled(4.0), pulled(8.0)],
            with("sli 1 7"),
        ),
        example(
            "§9.4: a pull that ends after ContainersStarted",
            EVENTS,
            vec![added(&started()), pulled(11.0)],
            with("sli 1 8"),
        ),
        example(
            "§9.4: \"pulled or present\"",
            EVENTS,
            vec![added(&started()), heard(&pod("a"), "Pulled", PRESENT, 7.0)],
            with("sli 1 9"),
        ),
        example(
            "§9.4: \"a `Pulled` Event, pulled or present, of every container\" … \"was delivered\"",
            EVENTS,
            vec![
                added(&started()),
                heard(&pod("a"), "Pulled", "It came", 5.0),
                heard(&pod("a"), "Failed", "Failed to pull image \"a\": 404", 5.0),
            ],
            with("sli 0 0\nsli excluded no_evidence 0"),
        ),
        example(
            "§9.4: the union of two pulls",
            EVENTS,
            vec![
                added(
                    &started()
                        .put("spec", "containers", json!([{"name": "main"}, {"name": "proxy"}]))
                        .container("proxy", running(8.0)),
                ),
                pulled(7.0),
                about(pulled(8.0), "spec.containers{proxy}"),
            ],
            with("sli 1 5"),
        ),
        example(
            "§9.4: \"less the runs of init containers\", \"not restartable\", and their pulls",
            EVENTS,
            [vec![added(&initialized())], images()].concat(),
            INITIALIZED_AND_JUDGED,
        ),
        example(
            "§9.4: \"what a later snapshot states changes nothing\"",
            EVENTS,
            [vec![added(&initialized()), modified(&initialized_again())], images()].concat(),
            INITIALIZED_AND_JUDGED,
        ),
        example(
            "§9.4: a run is \"0 where that is negative\"",
            EVENTS,
            [vec![added(&initialized_backwards())], images()].concat(),
            "inflight containers 1
             scheduling 1 1
             network 1 1
             init 1 5
             sli 1 2",
        ),
        example(
            "§9.4: a `Pulled` Event of every container, \"init containers too\"",
            EVENTS,
            vec![
                added(&initialized()),
                about(pulled(4.0), "spec.initContainers{setup}"),
                pulled(8.0),
            ],
            "inflight containers 1
             scheduling 1 1
             network 1 1
             init 1 5
             sli 0 0",
        ),
        example(
            "§9.4, fused: the times of §4 and §9.2",
            FUSED_EVENTS,
            vec![at(0.25, added(&pod("a"))), at(9.75, modified(&started())), pulled(7.0)],
            "inflight containers 1
             scheduling 1 1.25
             network 1 1
             sli 1 6.5",
        ),
    ]
}

fn without() -> Vec<Example> {
    vec![example(
        "§9: \"families that need a source that is off are absent\"",
        API,
        vec![added(&started()), pulled(7.0)],
        with("sli 0 0\npulls pulled ghcr.io 0\ndropped unknown 0"),
    )]
}

fn excluded() -> Vec<Example> {
    let present = || heard(&pod("a"), "Pulled", PRESENT, 5.0);
    let stateful = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "x"}}]);
    let stateless = json!([{"name": "data", "emptyDir": {}}, {"name": "token", "projected": {}}]);
    let ready = started().yes(CONTAINERS, 9.0).yes(READY, 9.0);
    vec![
        example(
            "§9.4: \"static, preexisting (adopted ones too; both at first sight)\"",
            EVENTS,
            vec![list(&[pod("a").mirror(), pod("b").all([1.0, 2.0, 2.0, 3.0, 3.0]), pod("c")])],
            "finished static 1
             finished preexisting 1
             inflight scheduling 1
             sli excluded static 1
             sli excluded preexisting 2",
        ),
        example(
            "§9.4: unschedulable, when judged",
            EVENTS,
            vec![added(&pod("a").unschedulable(0.0)), modified(&started()), present()],
            "inflight containers 1
             unschedulable 1 1
             network 1 1
             sli excluded unschedulable 1",
        ),
        example(
            "§9.4: \"stateful (a volume other than secret, configMap, downwardAPI, emptyDir, projected)\"",
            EVENTS,
            vec![added(&started().put("spec", "volumes", stateful)), present()],
            with("sli excluded stateful 1"),
        ),
        example(
            "§9.4: a stateless pod's volumes",
            EVENTS,
            vec![added(&started().put("spec", "volumes", stateless)), present()],
            with("sli 1 9"),
        ),
        example(
            "§9.4: no_evidence, when the pod ends as ready",
            EVENTS,
            vec![added(&ready), present()],
            "finished ready 1
             scheduling 1 1
             network 1 1
             containers 1 7
             scheduled_to_ready 1 8
             created_to_ready 1 9
             sli excluded no_evidence 1",
        ),
        example(
            "§9.4: \"a snapshot is judged before it ends the pod\"",
            EVENTS,
            vec![added(&pod("a")), present(), modified(&ready.clone().yes(NETWORK, 4.0))],
            "finished ready 1
             scheduling 1 1
             network 1 4
             containers 1 4
             scheduled_to_ready 1 8
             created_to_ready 1 9
             sli 1 9",
        ),
        example(
            "§9.4: \"an outcome other than ready and completed (the outcome)\"",
            EVENTS,
            vec![added(&started()), deleted(&started())],
            "finished deleted 1
             scheduling 1 1
             network 1 1
             sli excluded deleted 1",
        ),
        example(
            "§9.4: \"above 30 days is time\"",
            EVENTS,
            vec![added(&started().container("main", running(2_592_001.0))), present()],
            with("sli excluded time 1"),
        ),
    ]
}
