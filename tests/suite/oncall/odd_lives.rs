//! What `explain` and `problems` say of lives that are no plain startup: builds whose steps end one by one, init
//! containers that run again, pods that no kubelet has taken, sidecars that do not start.

use serde_json::{Value, json};

use crate::explain::recordings::explained;
use crate::support::process::run_with;

fn at(minute: u32) -> String {
    format!("2026-03-01T10:{minute:02}:00Z")
}

/// A pod in flight on node-a0 since 10:00, with conditions that are True since then.
fn pod(conditions: &[&str], spec: &Value, status: &Value) -> Value {
    let conditions = conditions
        .iter()
        .map(|kind| json!({"type": kind, "status": "True", "lastTransitionTime": at(0)}));
    let mut pod = json!({
        "kind": "Pod",
        "metadata": {"namespace": "ci", "name": "one", "uid": "one", "creationTimestamp": at(0)},
        "spec": {"nodeName": "node-a0"},
        "status": {"phase": "Pending", "conditions": conditions.collect::<Vec<_>>()},
    });
    for (section, fields) in [("spec", spec), ("status", status)] {
        for (field, value) in fields.as_object().into_iter().flatten() {
            pod[section][field] = value.clone();
        }
    }
    pod
}

const UP_TO_INITIALIZED: [&str; 3] = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];

/// The pod as a watch delivers it in the first minute, and nothing else until half an hour later.
fn watched(pod: &Value) -> String {
    let other = json!({"kind": "Pod", "metadata": {
        "namespace": "ci", "name": "other", "uid": "other", "creationTimestamp": at(30)}});
    let events = [
        json!({"kind": "PodList", "items": [], "observedAt": at(0)}),
        json!({"type": "ADDED", "object": pod, "observedAt": at(1)}),
        json!({"type": "ADDED", "object": other, "observedAt": at(30)}),
    ];
    events.map(|event| event.to_string()).join("\n")
}

/// What `explain` says of the pod in its first lines, and what `problems` says.
fn said(pod: &Value) -> (String, String) {
    let input = watched(pod);
    let explained = explained(&["one"], &input);
    let verdict = explained.lines().nth(1).unwrap_or_default().to_owned();
    let output = run_with(&["problems", "--file", "-"], &input);
    let problems = String::from_utf8(output.stdout).unwrap();
    (verdict, problems)
}

fn running() -> Value {
    json!({"running": {"startedAt": at(0)}})
}

fn waiting(reason: &str) -> Value {
    json!({"waiting": {"reason": reason}})
}

#[test]
fn a_build_whose_steps_end_one_by_one_is_no_problem() {
    let exited = json!({"terminated": {"exitCode": 0, "startedAt": at(0), "finishedAt": at(1)}});
    let spec = |policy: &str| json!({"restartPolicy": policy, "containers": [{"name": "step"}, {"name": "next"}]});
    let status = json!({"phase": "Running", "startTime": at(0), "containerStatuses": [
        {"name": "step", "state": exited}, {"name": "next", "state": running()}]});
    let (verdict, problems) = said(&pod(&UP_TO_INITIALIZED, &spec("Never"), &status));
    assert!(verdict.contains("cause exited. It can never be Ready"), "{verdict}");
    assert!(problems.starts_with("No problem"), "{problems}");
    // One that runs again is late.
    let (verdict, problems) = said(&pod(&UP_TO_INITIALIZED, &spec("Always"), &status));
    assert!(verdict.ends_with("cause exited."), "{verdict}");
    assert!(problems.contains("exited with code 0"), "{problems}");
    // One that crashes is a problem, though it can never be Ready.
    let mut crashes = status;
    crashes["containerStatuses"][1]["state"] = waiting("CrashLoopBackOff");
    let (verdict, problems) = said(&pod(&UP_TO_INITIALIZED, &spec("OnFailure"), &crashes));
    assert!(verdict.contains("cause crash. It can never be Ready"), "{verdict}");
    assert!(problems.contains("a container that crashes"), "{problems}");
}

#[test]
fn an_init_container_that_crashes_in_a_new_sandbox_is_named_by_its_cause() {
    let spec = json!({"initContainers": [{"name": "wait-disk"}], "containers": [{"name": "db"}]});
    let status = json!({"startTime": at(0),
        "initContainerStatuses": [{"name": "wait-disk", "restartCount": 2, "state": waiting("CrashLoopBackOff"),
            "lastState": {"terminated": {"exitCode": 1, "message": "/dev/sdb: no such device"}}}],
        "containerStatuses": [{"name": "db", "state": waiting("PodInitializing"),
            "lastState": {"terminated": {"exitCode": 255, "startedAt": at(0)}}}]});
    let (verdict, problems) = said(&pod(&UP_TO_INITIALIZED, &spec, &status));
    assert!(verdict.contains("in containers for"), "{verdict}");
    assert!(
        verdict.contains("cause crash: exit code 1, 2 restarts: /dev/sdb: no such device"),
        "{verdict}"
    );
    assert!(problems.contains("/dev/sdb: no such device"), "{problems}");
}

#[test]
fn a_bound_pod_that_no_kubelet_takes_is_the_node_s() {
    let spec = json!({"containers": [{"name": "web"}]});
    let (verdict, problems) = said(&pod(&[], &spec, &json!({})));
    let bound =
        "cause acknowledge: it is bound to node node-a0, and the kubelet there has not taken it.";
    assert!(verdict.ends_with(bound), "{verdict}");
    assert!(problems.contains("until the kubelet accepts it"), "{problems}");
    let next = explained(&["one"], &watched(&pod(&[], &spec, &json!({}))));
    assert!(next.ends_with("kubectl describe node node-a0\n"), "{next}");
}

#[test]
fn the_init_container_that_runs_too_long_is_named() {
    let conditions = ["PodScheduled", "PodReadyToStartContainers"];
    let of = |policy: Value| {
        let spec = json!({
            "initContainers": [{"name": "istio-proxy", "restartPolicy": policy}], "containers": [{"name": "web"}]});
        let status = json!({"startTime": at(0), "initContainerStatuses": [
            {"name": "istio-proxy", "started": false, "state": running()}]});
        said(&pod(&conditions, &spec, &status)).0
    };
    let sidecar = of("Always".into());
    assert!(
        sidecar.ends_with("cause run: the sidecar istio-proxy has not passed its startup probe."),
        "{sidecar}"
    );
    let init = of(Value::Null);
    assert!(init.ends_with("cause run: the init container istio-proxy has not ended."), "{init}");
}
