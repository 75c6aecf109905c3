//! `podinit problems` of pods whose startup is over: those that were rejected or have failed, and those that crash right
//! after they were ready; in a watch, and in one list.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::explain::recordings::explained;
use crate::support::process::run_with;

/// An instant so many seconds after 10:00.
fn at(second: u32) -> String {
    format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod of `KIND/NAME` that was created at a second, with a status.
fn pod(name: &str, owner: &str, created: u32, node: Option<&str>, status: Value) -> Value {
    let (kind, owner) = owner.split_once('/').unwrap();
    json!({
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"), "creationTimestamp": at(created),
            "ownerReferences": [{"kind": kind, "name": owner, "controller": true, "uid": format!("uid-{owner}")}],
        },
        "spec": {
            "nodeName": node,
            "initContainers": [{"name": "first", "image": "r.io/first:1"}],
            "containers": [{"name": "app", "image": "r.io/app:1"}],
        },
        "status": status,
    })
}

fn condition(kind: &str, status: &str, second: u32) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": at(second)})
}

/// A pod that the kubelet of node-1 refused a second after its creation.
fn rejected(name: &str, created: u32, reason: &str, message: &str) -> Value {
    let status = json!({
        "phase": "Failed", "reason": reason, "message": message, "startTime": at(created + 1),
        "conditions": [condition("PodScheduled", "True", created)],
    });
    pod(name, "ReplicaSet/gpu", created, Some("node-1"), status)
}

fn refused(name: &str, created: u32) -> Value {
    rejected(name, created, "UnexpectedAdmissionError", "Pod was rejected: no devices left")
}

/// A pod of a Job whose init container failed three seconds after its creation.
fn failed(name: &str, job: &str, created: u32) -> Value {
    let ended = json!({"exitCode": 3, "reason": "Error", "startedAt": at(created + 2), "finishedAt": at(created + 3),
        "message": "no such bucket\n"});
    let status = json!({
        "phase": "Failed", "startTime": at(created + 1),
        "conditions": [condition("PodScheduled", "True", created)],
        "initContainerStatuses": [{"name": "first", "state": {"terminated": ended}}],
        "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "PodInitializing"}}}],
    });
    pod(name, &format!("Job/{job}"), created, Some("node-1"), status)
}

/// A pod that became ready two seconds after its creation, and crashes since a second where one is given.
fn ready(name: &str, created: u32, crashes: Option<u32>) -> Value {
    let (status, since, ready, state) = match crashes {
        None => ("True", created + 2, true, json!({"running": {"startedAt": at(created + 2)}})),
        Some(second) => (
            "False",
            second,
            false,
            json!({"waiting": {"reason": "CrashLoopBackOff",
            "message": "back-off 20s restarting failed container=app"}}),
        ),
    };
    let last = json!({"terminated": {"exitCode": 1, "startedAt": at(created + 2), "finishedAt": at(created + 3)}});
    let status = json!({
        "phase": "Running", "startTime": at(created),
        "conditions": [
            condition("PodScheduled", "True", created), condition("Initialized", "True", created + 1),
            condition("ContainersReady", status, since), condition("Ready", status, since),
        ],
        "initContainerStatuses": [{"name": "first", "state": {"terminated": {"exitCode": 0}}}],
        "containerStatuses": [{"name": "app", "ready": ready, "restartCount": 2, "state": state, "lastState": last}],
    });
    pod(name, "StatefulSet/db", created, Some("node-1"), status)
}

/// A pod that is starting up, so that the time of a list is its creation.
fn starting(second: u32) -> Value {
    let status = json!({"phase": "Pending", "conditions": []});
    pod("late", "StatefulSet/late", second, None, status)
}

fn list(pods: &[Value]) -> String {
    json!({"kind": "PodList", "items": pods}).to_string()
}

/// A watch that begins at 10:00, with each pod as it is at a second.
fn watch(events: &[(u32, Value)]) -> String {
    let mut text = list(&[]) + "\n";
    for (second, pod) in events {
        let event = json!({"type": "MODIFIED", "object": pod, "observedAt": at(*second)});
        text += &format!("{event}\n");
    }
    text
}

/// What `podinit problems` says, and its exit status.
fn problems(input: &str) -> (Value, i32) {
    let output = run_with(&["problems", "--file", "-", "-o", "json"], input);
    let found = serde_json::from_slice(&output.stdout).unwrap();
    (found, output.status.code().unwrap())
}

/// The sentences without what they say of the time and how many nodes there are.
fn sentences(input: &str) -> Vec<String> {
    let (found, status) = problems(input);
    let all = found["problems"].as_array().unwrap().iter();
    let all: Vec<String> = all
        .map(|one| one["sentence"].as_str().unwrap().split(". Since").next().unwrap().to_owned())
        .collect();
    assert_eq!(status, if all.is_empty() { 0 } else { 3 });
    all
}

#[test]
fn pods_that_the_kubelet_rejects_are_a_problem_in_a_list() {
    let mut pods: Vec<_> = (0..5).map(|n| refused(&format!("gpu-{n}"), 10 * n)).collect();
    pods.push(starting(120));
    assert_eq!(
        sentences(&list(&pods)),
        ["5 pods of shop/ReplicaSet/gpu were rejected by the kubelet in the last 10 minutes: \
          UnexpectedAdmissionError: no devices left"]
    );
    let (found, _) = problems(&list(&pods));
    let problem = &found["problems"][0];
    assert_eq!((&problem["failed"], &problem["stuck"]), (&json!(5), &json!(0)));
    assert_eq!(problem["since"], at(1), "the latest time that the first states");
    // What `explain` says of one of them.
    let text = explained(&["gpu-3", "-n", "shop"], &list(&pods));
    let verdict = "Rejected by the kubelet after 1s, at 2026-03-01 10:00:31.000 UTC: \
                   UnexpectedAdmissionError (Pod was rejected: no devices left).";
    assert!(text.contains(verdict), "{text}");
}

#[test]
fn two_rejections_or_old_ones_are_no_problem() {
    let two = [refused("a", 0), refused("b", 1), starting(20)];
    assert_eq!(sentences(&list(&two)), [""; 0]);
    let old = |second| {
        let pods = [refused("a", 0), refused("b", 0), refused("c", 0), starting(second)];
        sentences(&list(&pods)).len()
    };
    assert_eq!([599, 600].map(old), [1, 0]);
}

#[test]
fn failed_pods_are_a_problem_with_what_their_container_said() {
    let pods: Vec<_> = (0..3).map(|n| failed(&format!("etl-{n}"), "etl", 10 * n)).collect();
    let expected =
        "3 pods of shop/Job/etl failed in the last 10 minutes: exit code 3: no such bucket";
    assert_eq!(sentences(&list(&pods)), [expected]);
    let (found, _) = problems(&list(&pods));
    // `finishedAt` is later than any time of the pod.
    assert_eq!(found["problems"][0]["since"], at(3));
    let next = found["problems"][0]["next_command"].as_str().unwrap();
    assert_eq!(next, "kubectl -n shop logs etl-0 --all-containers --ignore-errors --tail=50");
    // One Job that fails now and then is none.
    let now_and_then = |n: u32| failed(&format!("cron-{n}"), &format!("cron-{n}"), 10 * n);
    let pods: Vec<_> = (0..3).map(now_and_then).collect();
    assert_eq!(sentences(&list(&pods)), [""; 0]);
    let mut evicted = failed("etl-3", "etl", 30);
    evicted["status"]["conditions"] = json!([{"type": "DisruptionTarget", "status": "True",
        "reason": "EvictionByEvictionAPI"}]);
    let pods = [failed("etl-0", "etl", 0), failed("etl-1", "etl", 1), evicted];
    assert_eq!(sentences(&list(&pods)), [""; 0], "a disruption is no failure");
}

#[test]
fn a_watch_says_the_same_of_what_it_has_seen_and_of_no_pod_that_was_there_before() {
    let fails = |n: u32| (10 * n + 4, failed(&format!("etl-{n}"), "etl", 10 * n));
    let events: Vec<_> = (0..3).map(fails).collect();
    let expected =
        "3 pods of shop/Job/etl failed in the last 10 minutes: exit code 3: no such bucket";
    assert_eq!(sentences(&watch(&events)), [expected]);
    let (found, _) = problems(&watch(&events));
    assert_eq!(found["problems"][0]["since"], at(4), "when it arrived");
    let before: Vec<_> = (0..3).map(|n| failed(&format!("etl-{n}"), "etl", n)).collect();
    let event = json!({"type": "ADDED", "object": starting(20)});
    assert_eq!(sentences(&format!("{}\n{event}", list(&before))), [""; 0]);
}

#[test]
fn a_pod_that_crashes_right_after_it_was_ready_is_a_problem() {
    let events = [(3, ready("db-0", 0, None)), (8, ready("db-0", 0, Some(7)))];
    let said =
        "1 pod has a container that crashes (app), after it was ready: exit code 1, 2 restarts";
    let (found, _) = problems(&watch(&events));
    let problem = &found["problems"][0];
    assert!(problem["sentence"].as_str().unwrap().starts_with(&said[..5]), "{found}");
    assert_eq!((&problem["cause"], &problem["relapsed"]), (&json!("crash"), &json!(1)));
    assert_eq!(problem["since"], at(8), "when it arrived");
    assert!(problem["sentence"].as_str().unwrap().contains(&said[6..]), "{found}");
    // It runs again, or is gone.
    let runs = [&events[..], &[(30, ready("db-0", 0, None))]].concat();
    assert_eq!(sentences(&watch(&runs)), [""; 0]);
    let late = [&events[..], &[(602, starting(602))]].concat();
    assert_eq!(sentences(&watch(&late)), [""; 0]);
    let text = explained(&["db-0", "-n", "shop"], &watch(&events));
    let again = "It crashes again since 2026-03-01 10:00:08.000 UTC: exit code 1, 2 restarts.";
    assert!(text.contains(again), "{text}");
}

#[test]
fn a_list_names_young_pods_that_crash_and_counts_the_others() {
    let young = [ready("db-0", 0, Some(20)), ready("db-1", 0, Some(30)), starting(100)];
    let (found, status) = problems(&list(&young));
    let problem = &found["problems"][0];
    assert_eq!((status, &problem["pods"], &problem["relapsed"]), (3, &json!(2), &json!(2)));
    assert_eq!(problem["since"], at(20), "since Ready=False");
    assert_eq!(found.get("crashing"), None);
    let old = [ready("db-0", 0, Some(20)), ready("db-1", 0, Some(30)), starting(700)];
    let output = run_with(&["problems", "--file", "-"], list(&old));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("\n2 pods that had started are crashing now.\n"), "{text}");
}
