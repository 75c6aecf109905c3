//! A thousand old failures beside a new problem, from a recording: the new one is the first that is named
//! ([§13.5](crate::specification#s13-5), [§13.6](crate::specification#s13-6)).
#![allow(clippy::unwrap_used)]

use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;
use serde_json::{Value, json};

use crate::support::process::run_with;

/// A CronJob has lacked its image for so many minutes, and had a pod in each.
const MINUTES: i64 = 1_100;
/// When something new breaks.
const BREAKS: i64 = 60 * MINUTES;

fn time(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_793_000_000 + second)
}

fn at(second: i64) -> String {
    rfc3339::format(time(second))
}

/// A pod that was created at a second, and whose container waits.
fn pod(name: &str, owner: (&str, &str), image: &str, created: i64, state: &Value) -> Value {
    let (kind, owner) = owner;
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastTransitionTime": at(created)});
    let hash = owner.rsplit('-').next();
    json!({
        "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"), "creationTimestamp": at(created),
            "labels": {"pod-template-hash": hash},
            "ownerReferences": [{"kind": kind, "name": owner, "controller": true, "uid": format!("uid-{owner}")}],
        },
        "spec": {"nodeName": format!("node-{}", created % 40), "containers": [{"name": "app", "image": image}]},
        "status": {
            "phase": "Pending", "startTime": at(created),
            "conditions": [
                condition("PodScheduled", "True"), condition("PodReadyToStartContainers", "True"),
                condition("Initialized", "True"), condition("ContainersReady", "False"), condition("Ready", "False"),
            ],
            "containerStatuses": [{"name": "app", "image": image, "ready": false, "restartCount": 1, "state": state}],
        },
    })
}

fn waits(reason: &str, message: &str) -> Value {
    json!({"waiting": {"reason": reason, "message": message}})
}

fn shown(second: i64, pod: &Value) -> String {
    json!({"type": "MODIFIED", "object": pod, "observedAt": at(second)}).to_string() + "\n"
}

/// The problems half a minute after `new` pods began to fail, each with its image, owner, reason and words.
fn problems(new: &[(String, String, String)], reason: &str, said: &str) -> Vec<Value> {
    let mut recording = json!({"kind": "PodList", "items": []}).to_string() + "\n";
    // The minutes since 1970 in the name of a Job.
    let minute = time(0).as_nanos() / 60_000_000_000;
    for number in 0..MINUTES {
        let second = 60 * number;
        let owner = format!("backup-{}", minute + number);
        let state = waits("ImagePullBackOff", "manifest unknown");
        let name = format!("{owner}-x2x4z");
        let image = "registry.example.com/backup:3";
        let pod = pod(&name, ("Job", &owner), image, second, &state);
        recording += &shown(second, &pod);
    }
    for (number, (name, owner, image)) in (0..).zip(new) {
        let second = BREAKS + number / 8;
        let pod = pod(name, ("ReplicaSet", owner), image, second, &waits(reason, said));
        recording += &shown(second, &pod);
    }
    let last = pod("last", ("ReplicaSet", "last-6f6f6f"), "last", BREAKS + 30, &json!({}));
    recording += &shown(BREAKS + 30, &last);
    let output = run_with(&["problems", "--file", "-", "-o", "json"], &recording);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    found["problems"].as_array().unwrap().clone()
}

/// The cause, what is shared, the pods, the workloads, the message and the onset of a problem.
fn of(problem: &Value) -> Value {
    let fields = ["cause", "value", "pods", "workloads", "message", "since"];
    fields.iter().map(|field| problem[field].clone()).collect()
}

fn cron_job() -> Value {
    let image = "registry.example.com/backup:3";
    json!(["image", image, MINUTES, 1, "manifest unknown", at(0)])
}

#[test]
fn a_release_that_crashes_comes_first() {
    let image = "registry.example.com/checkout:2.7.2".to_owned();
    let new = (0..20).map(|number| {
        let name = format!("checkout-5d4f8c7b9d-{number}");
        (name, "checkout-5d4f8c7b9d".to_owned(), image.clone())
    });
    let new: Vec<_> = new.collect();
    let found = problems(&new, "CrashLoopBackOff", "exit code 1");
    let release = json!(["crash", "shop/Deployment/checkout", 20, 1, "exit code 1", at(BREAKS)]);
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), [release, cron_job()]);
}

#[test]
fn a_registry_that_has_gone_comes_first_with_its_own_reason_and_onset() {
    let new = (0..80).map(|number| {
        let owner = format!("web{}-5d4f8c7b9d", number % 8);
        let image = format!("registry.example.com/web{}:1", number % 8);
        (format!("{owner}-{number}"), owner, image)
    });
    let new: Vec<_> = new.collect();
    let found = problems(&new, "ErrImagePull", "connection refused");
    let outage = json!(["image", "registry.example.com", 80, 8, "connection refused", at(BREAKS)]);
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), [outage, cron_job()]);
}
