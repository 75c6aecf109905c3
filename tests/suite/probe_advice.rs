//! What `podinit report` says of probes, on pods that are computed by hand.
//! `INSTA_UPDATE=always cargo test --test suite probe_advice::` renews the snapshots.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn printed(args: &[&str], input: &[u8]) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(input).unwrap();
    let output = process.wait_with_output().unwrap();
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

/// Four pods of a Deployment that wait for their probes, one of a Deployment that does not, and one
/// without probes.
fn pods_with_probes() -> Vec<u8> {
    let late = json!({"readinessProbe": {"initialDelaySeconds": 30}});
    let eager = json!({"readinessProbe": {"periodSeconds": 1}});
    let web = [41, 33, 35, 36].map(|seconds| {
        let name = format!("web-{seconds}");
        started_pod(&name, "web", &late, seconds)
    });
    let others = [
        started_pod("api", "api", &eager, 48),
        started_pod("bare", "bare", &json!({}), 49),
    ];
    let items: Vec<Value> = web.into_iter().chain(others).collect();
    json!({"kind": "PodList", "items": items})
        .to_string()
        .into_bytes()
}

/// Of 33, 35, 36 and 41 s the median is 35 s, and the p99 41 s.
#[test]
fn a_report_says_which_probes_to_change() {
    let printed = |arguments: &[&str]| {
        let arguments = [&["report", "--backfill"], arguments, &["-"]].concat();
        printed(&arguments, &pods_with_probes())
    };
    let text = printed(&[]);
    let (_, advice) = text.split_once("Probes to change").unwrap();
    insta::assert_snapshot!("probes_to_change_text", advice);
    let markdown = printed(&["--format", "markdown"]);
    let (_, advice) = markdown.split_once("## Probes to change").unwrap();
    insta::assert_snapshot!("probes_to_change_markdown", advice);
    let report: Value = serde_json::from_str(&printed(&["--format", "json"])).unwrap();
    assert_eq!(report["probes"]["workloads"], 2);
    assert_eq!(report["probes"]["well"], 1);
    let [web] = report["probes"]["advice"].as_array().unwrap().as_slice() else {
        panic!("{report:#}")
    };
    assert_eq!(
        [
            &web["workload_kind"],
            &web["workload"],
            &web["pods"],
            &web["p50"],
            &web["p99"]
        ],
        [
            &json!("Deployment"),
            &json!("web"),
            &json!(4),
            &json!(35.0),
            &json!(41.0)
        ]
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
