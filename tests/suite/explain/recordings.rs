//! `podinit explain` on recordings that are computed by hand.
//! `INSTA_UPDATE=always cargo test --test suite explain::` renews the snapshots.

use std::process::Output;

use crate::support::process::run_with;
use podinit_core::lifecycle::{Backfill, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_oncall::explain::{ExplainTarget, TargetName};
use podinit_oncall::pods::{PodQuestion, SourcePods};
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use podinit_text::document::TerminalStyle;
use serde_json::{Value, json};

pub fn podinit(args: &[&str], input: &str) -> Output {
    run_with(&[&["explain", "--file", "-"], args].concat(), input)
}

pub fn explained(args: &[&str], input: &str) -> String {
    let output = podinit(args, input);
    assert!(output.status.success(), "{args:?}: {output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    let is_told = |line: &str| line.contains("If this list is of now");
    assert!(error.lines().all(is_told), "{args:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn at(second: u32) -> String {
    format!("2026-03-01T10:00:{second:02}Z")
}

/// A pod of `Deployment/web` on node-a0 that was created and bound at second 0, with conditions that are
/// True since the given seconds.
pub fn pod(name: &str, conditions: &[(&str, u32)], status: Value) -> Value {
    let conditions = conditions.iter().map(
        |(kind, second)| json!({"type": kind, "status": "True", "lastTransitionTime": at(*second)}),
    );
    json!({
        "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": name, "uid": name, "creationTimestamp": at(0),
            "labels": {"pod-template-hash": "5d"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d", "controller": true}],
        },
        "spec": {
            "nodeName": "node-a0",
            "containers": [{"name": "app", "readinessProbe": {"periodSeconds": 20}}],
        },
        "status": {
            "phase": "Pending", "startTime": at(0),
            "conditions": conditions.collect::<Vec<_>>(),
            "containerStatuses": [{"name": "app", "state": status}],
        },
    })
}

/// The network is ready after 2 s, the image is pulled from second 2 to 22, and the application is ready
/// at second 42: of 42 s, 20 are image and 20 application.
pub fn half_and_half() -> Vec<Value> {
    let bound = [("PodScheduled", 0), ("PodReadyToStartContainers", 2)];
    let ready =
        [&bound[..], &[("Initialized", 2), ("ContainersReady", 42), ("Ready", 42)]].concat();
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    let running = json!({"running": {"startedAt": at(22)}});
    vec![
        json!({"kind": "PodList", "items": []}),
        json!({"type": "ADDED", "object": pod("web-1", &bound, waiting)}),
        json!({
            "kind": "Event", "metadata": {"name": "web-1.1", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "uid": "web-1", "fieldPath": "spec.containers{app}"},
            "reportingComponent": "kubelet", "reason": "Pulled", "firstTimestamp": at(22),
            "message": "Successfully pulled image \"example.com/app:1\" in 18s (20s including waiting). \
                        Image size: 1000 bytes.",
        }),
        json!({"type": "MODIFIED", "object": pod("web-1", &ready, running)}),
    ]
}

/// Three pods that cannot pull their image, two of them on the same node, since second 2.
pub fn stuck() -> Vec<Value> {
    let conditions = [("PodScheduled", 0), ("PodReadyToStartContainers", 2)];
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff"}});
    let stuck = ["web-2", "web-3", "web-4"].map(|name| {
        let mut pod = pod(name, &conditions, waiting.clone());
        if name == "web-4" {
            pod["spec"]["nodeName"] = json!("node-b1");
        }
        json!({"type": "ADDED", "object": pod})
    });
    let mut later = pod("other", &[("PodScheduled", 50)], json!({}));
    later["metadata"]["ownerReferences"] = json!([]);
    let later = json!({"type": "ADDED", "object": later});
    half_and_half().into_iter().chain(stuck).chain([later]).collect()
}

pub fn recording(documents: &[Value]) -> String {
    let lines = documents.iter().map(|document| format!("{document}\n"));
    lines.collect()
}

#[test]
fn a_ready_pod_as_text() {
    insta::assert_snapshot!(explained(&["web-1"], &recording(&half_and_half())));
}

#[test]
fn a_pod_in_flight_as_text() {
    insta::assert_snapshot!(explained(&["-n", "shop", "pod/web-2"], &recording(&stuck())));
}

#[test]
fn a_ready_pod_for_programs() {
    let text = explained(&["-o", "json", "web-1"], &recording(&half_and_half()));
    let explanation: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(explanation["verdict"], "Ready after 42s: half image, half application.");
    let parts = &explanation["parts"];
    let parts: Vec<_> = (parts.as_array().unwrap().iter())
        .map(|part| (part["part"].as_str().unwrap(), part["seconds"].as_f64().unwrap()))
        .collect();
    let expected = [("image", 20.0), ("application", 20.0), ("network", 2.0)];
    assert_eq!(parts, expected);
    insta::assert_snapshot!(text);
}

#[test]
fn a_page_by_itself() {
    let html = explained(&["-o", "html", "web-1"], &recording(&half_and_half()));
    assert!(html.starts_with("<!DOCTYPE html>") && html.trim_end().ends_with("</html>"));
    assert!(html.contains("half image, half application") && html.contains("<style>"), "{html}");
    assert!(!html.contains("<script") && !html.contains("<link"), "{html}");
}

#[test]
fn a_trace_has_a_slice_for_each_stage_step_and_pull() {
    let text = explained(&["-o", "trace", "web-1"], &recording(&half_and_half()));
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let slices = events.iter().filter(|event| event["ph"] == "X");
    let began = 1_772_359_200_000_000_i64;
    let slices: Vec<_> = slices
        .map(|slice| {
            let second = |value: i64| value / 1_000_000;
            let (ts, dur) = (slice["ts"].as_i64().unwrap(), slice["dur"].as_i64().unwrap());
            (slice["name"].as_str().unwrap(), second(ts - began), second(dur))
        })
        .collect();
    let expected = [
        ("scheduling", 0, 0),
        ("network", 0, 2),
        ("acknowledge", 0, 0),
        ("sandbox", 0, 2),
        ("containers", 2, 40),
        ("start", 2, 20),
        ("pull app", 2, 20),
        ("probe", 22, 20),
    ];
    assert_eq!(slices, expected);
}

/// Without Events nothing is known of images, so that their pulls are part of making the containers.
#[test]
fn without_events_the_image_is_not_told_apart() {
    let args = ["-o", "json", "--evidence", "none", "web-1"];
    let text = explained(&args, &recording(&half_and_half()));
    let explanation: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        explanation["verdict"],
        "Ready after 42s: half creating containers, half application."
    );
}

#[test]
fn of_a_workload_the_pod_that_has_waited_longest_is_explained() {
    let text = explained(&["-o", "json", "deploy/web"], &recording(&stuck()));
    let explanation: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(explanation["state"], "in_flight");
    assert_eq!(explanation["workload_pods"], json!({"in_flight": 3, "ready": 1, "other": 0}));
    let peers = &explanation["peers"];
    assert_eq!((&peers["cause"], &peers["pods"]), (&json!("image"), &json!(2)));

    let text = explained(&["-o", "json", "deployment/web"], &recording(&half_and_half()));
    let explanation: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&explanation["name"], &explanation["state"]), (&json!("web-1"), &json!("ready")));
    // One startup is too few to say what to change.
    assert_eq!(explanation["probes"], json!([]));
}

/// A list shows the newest starts only.
#[test]
fn a_pod_whose_first_start_may_be_forgotten_is_explained_with_a_doubt() {
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let mut crashing = pod("web-9", &[("PodScheduled", 0)], waiting);
    crashing["status"]["containerStatuses"][0]["restartCount"] = json!(3);
    let list = json!({"kind": "PodList", "items": [crashing]}).to_string();
    let text = explained(&["-o", "json", "web-9"], &list);
    let explanation: Value = serde_json::from_str(&text).unwrap();
    assert!(explanation["doubts"][0].as_str().unwrap().contains("restarted"), "{text}");
    assert_eq!(explanation["state"], "in_flight");
}

#[test]
fn what_is_not_there_is_one_line() {
    for args in [&["web-77"][..], &["-n", "other", "web-1"], &["sts/web"]] {
        let output = podinit(args, &recording(&half_and_half()));
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(output.stdout.is_empty());
    }
    let usage = podinit(&["a/b/c"], "");
    assert_eq!(usage.status.code(), Some(2));
}

/// A test has no terminal, so what goes to one is asked of the library.
#[test]
fn the_terminal_decides_width_and_colour_and_no_name_controls_it() {
    let text = recording(&half_and_half()).replace("node-a0", "\\u001b[2Jnode");
    let target = ExplainTarget { namespace: None, name: TargetName::Pod("web-1".to_owned()) };
    let rendered = |colour, width| {
        let options = DecodeOptions { node: true, ..DecodeOptions::default() };
        let documents = Recording::from_reader("test", std::io::Cursor::new(text.clone()), options);
        let tracker =
            TrackerConfig { backfill: Backfill::All, events: true, ..TrackerConfig::default() };
        let config = ReplayConfig { tracker, ..ReplayConfig::default() };
        let question = PodQuestion::Startup(target.clone());
        let mut pods = SourcePods::of_recording(documents, config, &question).unwrap();
        pods.explanation(&target).unwrap().to_text(TerminalStyle { colour, width })
    };
    let plain = rendered(false, 80);
    assert!(!plain.contains('\u{1b}') && plain.contains("\u{fffd}[2Jnode"), "{plain}");
    assert!(rendered(true, 80).contains("\u{1b}[36m"));
    let widest = |width| {
        let text = rendered(false, width);
        let bars = text.lines().map(|line| line.matches(['█', '▄']).count());
        bars.max().unwrap()
    };
    assert!(widest(60) < widest(80) && widest(80) < widest(120));
    assert_eq!(widest(300), widest(400));
    assert!(plain.lines().all(|line| line.chars().count() <= 100), "{plain}");
}
