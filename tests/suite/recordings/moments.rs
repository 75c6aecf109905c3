//! Recordings of several lists: files of one moment, one for each namespace, and states of one cluster.

use std::process::Output;

use crate::support::process::run_with;
use serde_json::{Value, json};

/// A pod that was created at 10:00:00 and ready so many seconds later.
fn ready(namespace: &str, name: &str, seconds: u32) -> Value {
    let created = "2026-03-01T10:00:00Z";
    let at = |second: u32| format!("2026-03-01T10:00:{second:02}Z");
    let condition = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    json!({
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "uid": name, "creationTimestamp": created},
        "spec": {"containers": [{"name": "app"}]},
        "status": {
            "phase": "Running", "startTime": created,
            "containerStatuses": [{"name": "app", "state": {"running": {"startedAt": at(2)}}}],
            "conditions": [
                condition("PodScheduled", 0), condition("PodReadyToStartContainers", 1),
                condition("ContainersReady", seconds), condition("Ready", seconds),
            ],
        },
    })
}

/// A pod that pulls its image.
fn pulling(namespace: &str, name: &str) -> Value {
    let mut pod = ready(namespace, name, 1);
    pod["status"]["phase"] = json!("Pending");
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    pod["status"]["containerStatuses"][0]["state"] = waiting;
    let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
    conditions.truncate(2);
    pod
}

fn list(pods: &[Value]) -> Value {
    json!({"kind": "PodList", "items": pods})
}

fn pulls(name: &str) -> Value {
    json!({"kind": "EventList", "items": [{
        "kind": "Event", "metadata": {"name": "one.1", "namespace": "b"},
        "involvedObject": {"kind": "Pod", "uid": name, "fieldPath": "spec.containers{app}"},
        "reportingComponent": "kubelet", "reason": "Pulling", "message": "Pulling image \"app\"",
        "firstTimestamp": "2026-03-01T10:00:02Z",
    }]})
}

/// As must-gather writes them: Events before pods, and a namespace without pods.
fn one_a_namespace() -> Vec<Value> {
    vec![
        pulls("b-1"),
        list(&[ready("a", "a-1", 10), ready("a", "a-2", 20)]),
        list(&[]),
        list(&[ready("b", "b-0", 30), pulling("b", "b-1")]),
    ]
}

fn podinit(args: &[&str], documents: &[Value]) -> Output {
    let lines: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let output = run_with(args, lines);
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

/// The report as JSON, and what was complained about.
fn reported(args: &[&str], documents: &[Value]) -> (Value, String) {
    let args = [&["report", "-o", "json"], args, &["-"]].concat();
    let output = podinit(&args, documents);
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (report, String::from_utf8(output.stderr).unwrap())
}

fn observed(report: &Value, interval: &str) -> u64 {
    let all = report["intervals"].as_array().unwrap();
    let found = all.iter().find(|one| one["interval"] == interval);
    found.unwrap()["count"].as_u64().unwrap()
}

#[test]
fn lists_of_different_namespaces_are_one_moment() {
    let documents = one_a_namespace();
    let (report, complaint) = reported(&[], &documents);
    assert_eq!(complaint, "");
    assert_eq!(report["finished"]["ready"], 3, "{report:#}");
    assert_eq!(report["finished"]["preexisting"], 0);
    assert_eq!(report["finished"]["vanished"], 0);
    assert_eq!(observed(&report, "created_to_ready"), 3);
    assert_eq!(report["in_flight"]["containers"]["pods"], 1);
    // In whatever order, and as one list.
    let backwards: Vec<Value> = documents.iter().rev().cloned().collect();
    let pods = |document: &Value| document["items"].as_array().unwrap().clone();
    let one: Vec<Value> = documents[1..].iter().flat_map(pods).collect();
    for same in [backwards, vec![list(&one), documents[0].clone()]] {
        assert_eq!(reported(&[], &same).0, report);
    }
    // An Event counts that was read before its pod.
    let text = podinit(&["report", "-o", "csv", "-"], &documents).stdout;
    let text = String::from_utf8(text).unwrap();
    let row = text.lines().find(|line| line.starts_with("b,b-1,")).unwrap();
    assert!(row.contains(",pull,"), "{row}");
}

#[test]
fn lists_that_share_a_namespace_are_later_ones_and_a_warning_says_so() {
    let twice = [list(&[ready("a", "a-1", 10)]), list(&[ready("a", "a-2", 20)])];
    let (report, complaint) = reported(&[], &twice);
    assert_eq!(report["finished"]["preexisting"], 1, "{report:#}");
    assert_eq!(report["finished"]["ready"], 1);
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    assert!(complaint.contains("the 2 lists are taken for states"), "{complaint}");
    assert!(complaint.contains("--same-moment"), "{complaint}");

    let (report, complaint) = reported(&["--same-moment"], &twice);
    assert_eq!(complaint, "");
    assert_eq!(report["finished"]["ready"], 2, "{report:#}");
    assert_eq!(observed(&report, "created_to_ready"), 2);
}

/// Lists that state when they were observed are of different times.
#[test]
fn lists_that_state_their_times_are_later_ones() {
    let mut stated = [list(&[ready("a", "a-1", 10)]), list(&[ready("b", "b-1", 20)])];
    stated[1]["observedAt"] = json!("2026-03-01T10:05:00Z");
    let (report, complaint) = reported(&[], &stated);
    assert_eq!(report["finished"]["preexisting"], 1, "{report:#}");
    assert!(complaint.contains("--same-moment"), "{complaint}");
}

/// With a watch event, a recording tells of more than one moment; no warning is due.
#[test]
fn a_watch_after_the_lists_is_as_before() {
    let watched = [
        list(&[ready("a", "a-1", 10)]),
        list(&[ready("b", "b-1", 20)]),
        json!({"type": "ADDED", "object": ready("b", "b-2", 30)}),
    ];
    let (report, complaint) = reported(&[], &watched);
    assert_eq!(complaint, "");
    assert_eq!(report["finished"]["preexisting"], 1, "{report:#}");
    // The flag makes the lists one, which is the first list.
    let (report, _) = reported(&["--same-moment"], &watched);
    assert_eq!(report["finished"]["preexisting"], 2, "{report:#}");
    assert_eq!(report["finished"]["ready"], 1);
}

#[test]
fn replay_and_explain_join_lists_where_they_are_told_to() {
    let documents = one_a_namespace();
    let replayed = |args: &[&str]| {
        let output = podinit(&[&["replay", "--backfill"], args, &["-"]].concat(), &documents);
        String::from_utf8(output.stdout).unwrap()
    };
    let finished = |text: &str, outcome: &str| {
        let sample = format!("podinit_pods_finished_total{{outcome=\"{outcome}\"}} ");
        let found = text.lines().find_map(|line| line.strip_prefix(&sample));
        found.unwrap().parse::<u64>().unwrap()
    };
    let (apart, joined) = (replayed(&[]), replayed(&["--same-moment"]));
    assert!(apart.contains("podinit_relists_total{reason=\"recorded\"} 2"), "{apart}");
    assert!(joined.contains("podinit_relists_total{reason=\"recorded\"} 0"), "{joined}");
    assert_eq!(finished(&joined, "ready"), 3);
    assert_eq!(finished(&joined, "vanished"), 0);

    let explained = |args: &[&str]| -> Value {
        let args = [&["explain", "-o", "json", "--file", "-"], args, &["b-0"]].concat();
        serde_json::from_slice(&podinit(&args, &documents).stdout).unwrap()
    };
    assert_eq!(explained(&["--same-moment"])["fleet"], 2);
}
