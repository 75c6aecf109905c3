//! `podinit problems` of a watched recording: what is told of its end knows what happened before.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::support::process::run_with;

/// An instant so many seconds after 09:00.
fn at(second: i64) -> String {
    let second = 9 * 3_600 + second;
    format!("2026-03-01T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

fn condition(kind: &str, status: &str, reason: &str, message: &str, second: i64) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": at(second)})
}

fn pod(name: &str, created: i64, gate: Option<&str>, status: &Value) -> Value {
    json!({
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": at(created)},
        "spec": {"schedulingGates": gate.map(|gate| [json!({"name": gate})]),
            "containers": [{"name": "app", "image": "r.io/app:1"}]},
        "status": status,
    })
}

/// A pod that fits on no node since its creation.
fn pending(name: &str, created: i64) -> Value {
    let message = "0/10 nodes are available: 10 Insufficient memory.";
    let scheduled = condition("PodScheduled", "False", "Unschedulable", message, created);
    pod(name, created, None, &json!({"phase": "Pending", "conditions": [scheduled]}))
}

/// A pod that a gate holds since its creation.
fn gated(name: &str, created: i64) -> Value {
    let scheduled = condition("PodScheduled", "False", "SchedulingGated", "", created);
    let status = json!({"phase": "Pending", "conditions": [scheduled]});
    pod(name, created, Some("example.com/queue"), &status)
}

/// A pod that became ready.
fn ready(name: &str, created: i64, ready: i64) -> Value {
    let holds = |kind| condition(kind, "True", "", "", ready);
    let kinds = ["PodScheduled", "Initialized", "ContainersReady", "Ready"];
    let status = json!({"phase": "Running", "conditions": kinds.map(holds)});
    pod(name, created, None, &status)
}

/// A watch that begins with an empty list at 09:00, with what happens at these seconds.
fn watch(mut events: Vec<(i64, &str, Value)>) -> String {
    events.sort_by_key(|(second, ..)| *second);
    let list = json!({"kind": "PodList", "items": [], "observedAt": at(0)});
    let event = |(second, kind, pod): &(i64, &str, Value)| {
        json!({"type": kind, "object": pod, "observedAt": at(*second)}).to_string()
    };
    let events = events.iter().map(event);
    [list.to_string()].into_iter().chain(events).collect::<Vec<_>>().join("\n")
}

fn problems(input: &str) -> Value {
    let output = run_with(&["problems", "--file", "-", "-o", "json"], input);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A spawner deletes each of its pods after 150 seconds and makes another, from one second to another.
fn spawner(from: i64, to: i64) -> Vec<(i64, &'static str, Value)> {
    let created = (from..to).step_by(6);
    let life = |second: i64| {
        let pod = pending(&format!("user-{second}"), second);
        let goes = second + 150;
        [(second, "ADDED", pod.clone()), (goes, "DELETED", pod)]
    };
    created.flat_map(life).filter(|(second, ..)| *second < 540).collect()
}

#[test]
fn an_outage_whose_pods_come_and_go_keeps_its_onset() {
    let found = problems(&watch(spawner(30, 540)));
    let problem = &found["problems"][0];
    assert_eq!(problem["cause"], "resources");
    assert_eq!(problem["since"], at(30), "no pod is that old: {problem}");
    assert_eq!(found["ended"], json!([]));
    // One list of its end has only what is there.
    let all = spawner(30, 540);
    let is_gone = |pod: &Value| {
        all.iter().any(|(_, kind, other)| {
            *kind == "DELETED" && other["metadata"]["uid"] == pod["metadata"]["uid"]
        })
    };
    let left: Vec<&Value> = (all.iter())
        .filter(|(_, kind, pod)| *kind == "ADDED" && !is_gone(pod))
        .map(|(.., pod)| pod)
        .collect();
    let list = json!({"kind": "PodList", "items": left, "observedAt": at(540)}).to_string();
    assert_eq!(problems(&list)["problems"][0]["since"], at(390));
}

#[test]
fn only_problems_of_the_end_are_told() {
    // The last of these goes at 06:24, and from then on only one pod comes that starts well.
    let mut events = spawner(30, 240);
    events.push((500, "ADDED", ready("well", 480, 490)));
    let found = problems(&watch(events));
    assert_eq!((&found["problems"], &found["ended"]), (&json!([]), &json!([])));
    // What comes back is a new one.
    let mut again = spawner(30, 100);
    again.extend(spawner(370, 540));
    assert_eq!(problems(&watch(again))["problems"][0]["since"], at(370));
}

#[test]
fn how_long_a_gate_took_is_known_after_its_pods_are_no_longer_compared() {
    let name = |number: i64| format!("batch-{number}");
    let gate = |second: i64, number: i64| {
        let of_queue = gated(&name(number), second);
        let mut passed = ready(&name(number), second, second + 9);
        passed["status"]["conditions"][0]["lastTransitionTime"] = json!(at(second + 4));
        [(second, "ADDED", of_queue), (second + 10, "MODIFIED", passed)]
    };
    let mut events: Vec<_> = (0..5).flat_map(|number| gate(number, number)).collect();
    // A thousand others start up after that.
    events.extend((0..1_000).map(|number| {
        let second = 120 + number / 10;
        (second + 5, "ADDED", ready(&format!("web-{number}"), second, second + 5))
    }));
    events.extend((0..4).map(|number| (300, "ADDED", gated(&name(10 + number), 300))));
    events.push((345, "ADDED", ready("last", 340, 345)));
    let found = problems(&watch(events));
    let problem = &found["problems"][0];
    assert_eq!((&problem["cause"], &problem["pods"]), (&json!("gate"), &json!(4)), "{found}");
    assert_eq!(problem["value"], "example.com/queue");
}
