//! `podinit report --baseline` as a process: formats, statuses and reasons.

use std::process::{Command, Output};

use serde_json::{Value, json};

/// A list of so many pods of nodes `a` and `b`, a burst of so many each minute. `network` is how many seconds the
/// network of a pod takes.
pub fn pods(name: &str, count: i64, burst: i64, network: impl Fn(i64) -> i64) -> Value {
    let at = |second: i64| {
        jiff::Timestamp::from_second(1_772_359_200 + second)
            .unwrap()
            .to_string()
    };
    let pods: Vec<_> = (0..count)
        .map(|number| {
            let created = 60 * (number / burst) + number % 7;
            let network = network(number);
            let ready = created + network + 4;
            let condition = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("web-{number}"), "namespace": "shop", "uid": format!("{name}-{number}"),
                             "resourceVersion": "1", "creationTimestamp": at(created)},
                "spec": {"nodeName": if number % 2 == 0 { "b" } else { "a" }, "containers": [{"name": "c", "image": format!("web:{name}")}]},
                "status": {"startTime": at(created), "conditions": [
                    condition("PodScheduled", created),
                    condition("PodReadyToStartContainers", created + network),
                    condition("Initialized", created),
                    condition("ContainersReady", ready),
                    condition("Ready", ready)]},
            })
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": pods})
}

/// 120 pods, whose network takes so many seconds on node `b`.
pub fn on_node_b(name: &str, network: i64) -> Value {
    pods(
        name,
        120,
        3,
        |number| if number % 2 == 0 { network } else { 3 },
    )
}

fn recording(name: &str, network: i64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), on_node_b(name, network).to_string()).unwrap();
    file
}

fn report(before: i64, after: i64, flags: &[&str]) -> Output {
    let (before, after) = (recording("before", before), recording("after", after));
    let command = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(["report", "--baseline"])
        .arg(before.path())
        .arg(after.path())
        .args(flags)
        .output();
    command.unwrap()
}

#[test]
fn the_first_line_names_stage_size_and_node() {
    for format in ["text", "markdown", "html", "json"] {
        let output = report(3, 9, &["--format", format]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("It is the stage network: +6 s"), "{text}");
        assert!(text.contains("on node b only"), "{text}");
    }
    let output = report(3, 3, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("Startups take as long as before: "),
        "{text}"
    );
}

#[test]
fn a_broken_rule_is_the_status_and_a_line() {
    let rules = [
        "--fail-on",
        "network:p90>+20%",
        "--fail-on",
        "containers:p50>+1s",
    ];
    let output = report(3, 9, &rules);
    assert_eq!(output.status.code(), Some(3));
    let reasons = String::from_utf8(output.stderr).unwrap();
    assert_eq!(reasons.lines().count(), 1, "{reasons}");
    assert!(
        reasons.contains("network:p90>+20%: 3 s before, 9 s after (+6 s)"),
        "{reasons}"
    );
    assert_eq!(report(3, 3, &rules).status.code(), Some(0));
    let unknown = ["--fail-on", "init:p50>+1s"];
    assert_eq!(report(3, 3, &unknown).status.code(), Some(0));
    assert_eq!(
        report(3, 3, &[unknown[0], unknown[1], "--strict"])
            .status
            .code(),
        Some(4)
    );
}

#[test]
fn csv_and_trace_show_no_comparison() {
    for format in ["csv", "trace"] {
        assert_eq!(report(3, 3, &["--format", format]).status.code(), Some(2));
    }
}
