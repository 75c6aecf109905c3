//! What a report with every pod holds in memory, counted allocation by allocation.

use std::io::{self, Cursor};

use super::counting::{bytes_of, forget_peak, held, peak};
use podinit_decode::DecodeOptions;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use podinit_reports::report::{DetailedReport, detail};
use serde_json::{Value, json};

/// A pod that became ready, with two containers.
fn pod(number: usize) -> Value {
    let at = |second: usize| format!("2026-03-01T10:00:{second:02}Z");
    let condition = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    let containers = ["app", "proxy"];
    json!({
        "kind": "Pod",
        "metadata": {"namespace": "shop", "name": format!("web-{number}"), "creationTimestamp": at(0),
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}")},
        "spec": {"nodeName": format!("node-{}", number % 10), "containers": containers.map(|name| json!({"name": name}))},
        "status": {
            "phase": "Running", "startTime": at(1),
            "containerStatuses": containers.map(|name| json!({"name": name, "state": {"running": {"startedAt": at(5)}}})),
            "conditions": [
                condition("PodScheduled", 1), condition("PodReadyToStartContainers", 3),
                condition("Initialized", 4), condition("ContainersReady", 9), condition("Ready", 9),
            ],
        },
    })
}

fn report(pods: usize) -> DetailedReport {
    let pods: Vec<Value> = (0..pods).map(pod).collect();
    let list = json!({"kind": "PodList", "items": pods}).to_string();
    let options = DecodeOptions { node: true, workload: true, ..DecodeOptions::default() };
    let documents = Recording::from_reader("test", Cursor::new(list.into_bytes()), options);
    detail(documents, ReplayConfig::default(), 10).unwrap()
}

#[test]
fn a_trace_is_written_event_by_event() {
    const PODS: usize = 2_000;
    let (report, of_pods) = bytes_of(|| report(PODS));
    let before = held();
    forget_peak();
    report.write_trace(io::sink()).unwrap();
    let more = usize::try_from(peak() - before).unwrap();
    println!("{of_pods} bytes for {PODS} pods, {more} more for the trace");
    // A pointer or two for each pod, in their order by node, and one event.
    assert!(more < 64 * PODS, "{more}");
    // Which is what docs/reports.md says.
    assert!(of_pods < 4 * 1024 * PODS, "{of_pods}");
}
