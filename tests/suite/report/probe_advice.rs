//! What `podinit report` says of probes, on pods that are computed by hand.
//! `INSTA_UPDATE=always cargo test --test suite report::probe_advice::` renews the snapshots.

use crate::support::process::run_with;
use serde_json::{Value, json};

fn printed(args: &[&str], input: &[u8]) -> String {
    let output = run_with(args, input);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A pod whose one container started at 10:00:00 and was ready so many seconds later.
fn started_pod(name: &str, workload: &str, probes: &Value, seconds: u32) -> Value {
    let mut container = probes.clone();
    container["name"] = json!("app");
    let started = "2026-03-01T10:00:00Z";
    let ready = format!("2026-03-01T10:00:{seconds}Z");
    let condition =
        |kind: &str, at: &str| json!({"type": kind, "status": "True", "lastTransitionTime": at});
    json!({
        "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": name, "uid": name, "creationTimestamp": started,
            "labels": {"pod-template-hash": "5d"},
            "ownerReferences": [
                {"kind": "ReplicaSet", "name": format!("{workload}-5d"), "controller": true}
            ],
        },
        "spec": {"containers": [container]},
        "status": {
            "phase": "Running",
            "startTime": started,
            "containerStatuses": [{"name": "app", "state": {"running": {"startedAt": started}}}],
            "conditions": [
                condition("PodScheduled", started), condition("PodReadyToStartContainers", started),
                condition("Initialized", started), condition("ContainersReady", &ready),
                condition("Ready", &ready),
            ],
        },
    })
}

/// Five pods of a Deployment that wait for their probes, five of a Deployment that does not, four of one that
/// has too few, and one without probes.
fn pods_with_probes() -> Vec<u8> {
    let late = json!({"readinessProbe": {"initialDelaySeconds": 30}});
    let eager = json!({"readinessProbe": {"periodSeconds": 1}});
    let pods = |workload: &str, probes: &Value, all: &[u32]| -> Vec<Value> {
        let pods = all.iter().map(|seconds| {
            let name = format!("{workload}-{seconds}");
            started_pod(&name, workload, probes, *seconds)
        });
        pods.collect()
    };
    let items = [
        pods("web", &late, &[41, 33, 35, 36, 34]),
        pods("api", &eager, &[48, 49, 50, 51, 52]),
        pods("few", &late, &[33, 34, 35, 36]),
        pods("bare", &json!({}), &[49]),
    ]
    .concat();
    json!({"kind": "PodList", "items": items}).to_string().into_bytes()
}

/// Of 33, 34, 35, 36 and 41 s the median is 35 s, and the p99 41 s.
#[test]
fn a_report_says_which_probes_to_change() {
    let printed = |arguments: &[&str]| {
        let arguments = [&["report", "--backfill"], arguments, &["-"]].concat();
        printed(&arguments, &pods_with_probes())
    };
    let text = printed(&[]);
    let (_, advice) = text.split_once("Probes to change").unwrap();
    insta::assert_snapshot!("probes_to_change_text", advice);
    let markdown = printed(&["-o", "markdown"]);
    let (_, advice) = markdown.split_once("## Probes to change").unwrap();
    insta::assert_snapshot!("probes_to_change_markdown", advice);
    let report: Value = serde_json::from_str(&printed(&["-o", "json"])).unwrap();
    assert_eq!(report["probes"]["workloads"], 2);
    assert_eq!(report["probes"]["well"], 1);
    assert_eq!(report["probes"]["too_few"], 1);
    let [web] = report["probes"]["advice"].as_array().unwrap().as_slice() else {
        panic!("{report:#}")
    };
    assert_eq!(
        [&web["workload_type"], &web["workload"], &web["pods"], &web["p50"], &web["p99"]],
        [&json!("deployment"), &json!("web"), &json!(5), &json!(35.0), &json!(41.0)]
    );
    assert_eq!(
        web["containers"][0]["set"],
        json!({
            "readinessProbe.initialDelaySeconds": 0,
            "startupProbe.failureThreshold": 41,
            "startupProbe.periodSeconds": 2,
        })
    );
    let none = printed(&["--top", "0"]);
    assert!(none.contains("and 1 more"), "{none}");
}

/// Another image is another application: its startups say nothing of the first one's.
#[test]
fn startups_of_different_versions_are_not_added_up() {
    let late = json!({"readinessProbe": {"initialDelaySeconds": 30}});
    let pods = |same_image: bool| {
        let items: Vec<Value> = (33..38)
            .map(|seconds| {
                let mut pod = started_pod(&format!("web-{seconds}"), "web", &late, seconds);
                let tag = if same_image || seconds > 34 { 2 } else { 1 };
                pod["spec"]["containers"][0]["image"] = json!(format!("app:{tag}"));
                pod
            })
            .collect();
        json!({"kind": "PodList", "items": items}).to_string()
    };
    for (same_image, advised) in [(true, 1), (false, 0)] {
        let report = printed(&["report", "-o", "json", "-"], pods(same_image).as_bytes());
        let report: Value = serde_json::from_str(&report).unwrap();
        let advice = report["probes"]["advice"].as_array().unwrap();
        assert_eq!(advice.len(), advised, "{report:#}");
    }
}
