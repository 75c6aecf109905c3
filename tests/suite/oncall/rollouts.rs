//! `podinit rollouts`: what holds a rollout of a recording, and how those before ended.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use crate::support::process::run_with;

/// An instant so many seconds after 09:00.
fn at(second: i64) -> String {
    let second = 9 * 3_600 + second;
    format!("2026-03-01T{:02}:{:02}:{:02}Z", second / 3_600, second / 60 % 60, second % 60)
}

/// A pod of the Deployment `web` and the revision `hash`.
fn pod(hash: &str, number: u32, created: i64, status: &Value) -> Value {
    let name = format!("web-{hash}-{number}");
    json!({
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": at(created), "labels": {"pod-template-hash": hash},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                "name": format!("web-{hash}"), "uid": format!("uid-{hash}"), "controller": true}]},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "app", "image": format!("r.io/web:{hash}")}]},
        "status": status,
    })
}

fn condition(kind: &str, status: &str, second: i64) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": at(second)})
}

fn ready(hash: &str, number: u32, created: i64, ready: i64) -> Value {
    let kinds =
        ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
    let status = json!({"phase": "Running", "conditions": kinds.map(|kind| condition(kind, "True", ready)),
        "containerStatuses": [{"name": "app", "image": "r.io/web", "ready": true, "restartCount": 0,
            "state": {"running": {"startedAt": at(ready)}}}]});
    pod(hash, number, created, &status)
}

/// A pod whose image cannot be pulled.
fn without_image(hash: &str, number: u32, created: i64) -> Value {
    let holds = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];
    let mut conditions = holds.map(|kind| condition(kind, "True", created)).to_vec();
    conditions.extend(["ContainersReady", "Ready"].map(|kind| condition(kind, "False", created)));
    let waiting = json!({"reason": "ImagePullBackOff",
        "message": format!("Back-off pulling image \"r.io/web:{hash}\": ErrImagePull: r.io/web:{hash}: not found")});
    let status = json!({"phase": "Pending", "conditions": conditions,
        "containerStatuses": [{"name": "app", "image": "r.io/web", "ready": false, "restartCount": 0,
            "state": {"waiting": waiting}}]});
    pod(hash, number, created, &status)
}

/// A watch that begins with three ready pods of the revision `a1` at 09:00, with what happens at these seconds.
fn watch(events: &[(i64, &str, Value)]) -> String {
    let items: Vec<Value> = (1..4).map(|number| ready("a1", number, -3_600, -3_590)).collect();
    let list = json!({"kind": "PodList", "items": items, "observedAt": at(0)});
    let event = |(second, kind, pod): &(i64, &str, Value)| {
        json!({"type": kind, "object": pod, "observedAt": at(*second)}).to_string()
    };
    let events = events.iter().map(event);
    [list.to_string()].into_iter().chain(events).collect::<Vec<_>>().join("\n")
}

/// The revision `b2` takes the place of `a1`, a pod a minute.
fn rolled_out() -> Vec<(i64, &'static str, Value)> {
    let pods = (1..4_u32).flat_map(|number| {
        let begins = 60 * i64::from(number);
        [
            (begins, "ADDED", pod("b2", number, begins, &json!({"phase": "Pending"}))),
            (begins + 30, "MODIFIED", ready("b2", number, begins, begins + 30)),
            (begins + 40, "DELETED", ready("a1", number, -3_600, -3_590)),
        ]
    });
    pods.collect()
}

#[track_caller]
fn told(input: &str, format: &str) -> String {
    let output = run_with(&["rollouts", "--file", "-", "-o", format], input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_rollout_in_progress_is_told_with_the_problem_of_its_pods() {
    let mut events = rolled_out();
    events.push((1_200, "ADDED", without_image("c3", 1, 1_200)));
    events.push((2_100, "MODIFIED", without_image("c3", 1, 1_200)));
    let input = watch(&events);
    let table = told(&input, "table");
    let expected = "\
shop/web: 0 of 3 of the new revision are ready for 15m; 1 cannot pull image r.io/web:c3: not found.

NAMESPACE   WORKLOAD         HELD BY    READY   STARTING   DOWN   OTHERS   SINCE
shop        Deployment/web   starting   0/3     1          0      3        15m

Ended lately:
shop/web rolled out in 2m40s, until 09:03; held by starting pods for 90s, by the controller for 70s.

As of 2026-03-01T09:35:00Z
";
    assert_eq!(table, expected);
    let wide = told(&input, "wide");
    assert!(
        wide.contains("\n  says       ") && wide.contains("\n  next       kubectl -n shop "),
        "{wide}"
    );
    let document: Value = serde_json::from_str(&told(&input, "json")).unwrap();
    let rollouts = document["rollouts"].as_array().unwrap();
    assert_eq!(rollouts.len(), 2);
    let (now, before) = (&rollouts[0], &rollouts[1]);
    assert_eq!(now["workload"], json!({"kind": "Deployment", "name": "web"}));
    assert_eq!(now["in_progress"]["held_by"], "starting");
    assert_eq!(now["in_progress"]["cause"], "image");
    assert_eq!(now["in_progress"]["stuck"], true);
    assert_eq!(now["held_seconds"]["starting"], 900.0);
    assert_eq!(before["end"]["outcome"], "completed");
    assert_eq!(before["end"]["seconds"], 160.0);
    assert!(now.get("end").is_none() && before.get("in_progress").is_none());
}

#[test]
fn a_rollout_is_not_stuck_before_ten_minutes_and_not_while_its_pods_only_start() {
    let stuck = |events: &[(i64, &str, Value)]| {
        let document: Value = serde_json::from_str(&told(&watch(events), "json")).unwrap();
        document["rollouts"][0]["in_progress"]["stuck"].clone()
    };
    let image = |end| {
        [
            (600, "ADDED", without_image("b2", 1, 600)),
            (end, "MODIFIED", without_image("b2", 1, 600)),
        ]
    };
    assert_eq!(stuck(&image(1_199)), false);
    assert_eq!(stuck(&image(1_200)), true);
    let other = |second| (second, "MODIFIED", ready("a1", 1, -3_600, -3_590));
    let starting = pod("b2", 1, 600, &json!({"phase": "Pending"}));
    assert_eq!(stuck(&[(600, "ADDED", starting), other(650)]), false);
}

#[test]
fn without_a_rollout_it_says_so() {
    let nothing = told(&watch(&[]), "table");
    assert!(nothing.starts_with("No rollout is in progress.\n"), "{nothing}");
    let lone = json!({"kind": "PodList", "observedAt": at(0),
        "items": [ready("a1", 1, -3_600, -3_590), without_image("b2", 1, -600)]});
    let found = told(&lone.to_string(), "table");
    let begins =
        "shop/web: 0 of 2 of the new revision are ready for 0s; 1 cannot pull image r.io/web:b2: ";
    assert!(found.starts_with(begins), "{found}");
    assert!(found.contains("; found in progress; when it began is a guess."), "{found}");
}

#[test]
fn a_stranger_cannot_act_on_the_terminal() {
    let hostile = |text: &str| text.replace("\"shop\"", "\"sh\\u001b[31mop\"");
    let input = hostile(&watch(&[(600, "ADDED", without_image("b2", 1, 600))]));
    for format in ["table", "wide", "json"] {
        assert!(!told(&input, format).contains('\u{1b}'));
    }
}
