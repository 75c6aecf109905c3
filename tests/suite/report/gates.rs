//! Gates and milestones of your own in reports and comparisons, on recordings small enough to check by hand.
//! `INSTA_UPDATE=always cargo test --test suite report::gates::` renews the snapshots.

use std::process::Output;

use crate::support::process::run;
use podinit_core::lifecycle::{CustomMilestone, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_recordings::ExporterRecords;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use podinit_reports::report::{self, DetailedReport};
use serde_json::{Value, json};

const MODEL: &str = "model=condition:example.com/Model";
const QUOTA: &str = "example.com/quota";
const BALANCER: &str = "example.com/balancer";

fn at(second: i64) -> String {
    jiff::Timestamp::from_second(1_772_359_200 + second).unwrap().to_string()
}

fn event(kind: &str, pod: Value, second: i64) -> Value {
    json!({"type": kind, "object": pod, "observedAt": at(second)})
}

/// A pod that was created then, in one of its states: with these scheduling gates and conditions that turned True so long
/// after that.
fn pod(number: i64, gates: &[&str], conditions: &[(&str, i64)]) -> Value {
    let created = 60 * number;
    let conditions: Vec<_> = (conditions.iter())
        .map(|(kind, second)| json!({"type": kind, "status": "True", "lastTransitionTime": at(created + second)}))
        .collect();
    let gates: Vec<_> = gates.iter().map(|name| json!({"name": name})).collect();
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("web-{number}"), "namespace": "shop", "uid": format!("web-{number}"),
                     "resourceVersion": "1", "creationTimestamp": at(created)},
        "spec": {"containers": [{"name": "c", "image": "web:1"}], "schedulingGates": gates,
                 "readinessGates": [{"conditionType": BALANCER}]},
        "status": {"phase": "Pending", "conditions": conditions},
    });
    if !conditions.is_empty() {
        pod["spec"]["nodeName"] = "a".into();
    }
    pod
}

/// So many pods behind the gates `quota` (2 to 7 s) and `balancer` (3 s), whose model is loaded so long after their
/// creation, and 1 s less after their containers have started. One more is held by `quota`, and one is ready without a
/// model, and succeeds at once.
fn recording(quota: &str, pods: i64, model: i64) -> String {
    let mut events = vec![json!({"apiVersion": "v1", "kind": "PodList", "items": []})];
    for number in 0..pods + 2 {
        let created = 60 * number;
        events.push(event("ADDED", pod(number, &[quota], &[]), created));
        if number == pods + 1 {
            continue;
        }
        let passed = 2 + number % 6;
        let scheduled = [("PodScheduled", passed)];
        events.push(event("MODIFIED", pod(number, &[], &scheduled), created + passed));
        let ready = model + 2;
        let mut conditions = vec![
            ("PodScheduled", passed),
            ("PodReadyToStartContainers", 8),
            ("Initialized", 8),
            ("ContainersReady", ready),
            (BALANCER, ready + 3),
            ("Ready", ready + 3),
        ];
        if number < pods {
            conditions.push(("example.com/Model", model));
        }
        let mut last = pod(number, &[], &conditions);
        last["status"]["startTime"] = at(created + passed).into();
        last["status"]["containerStatuses"] = json!([{"name": "c", "ready": true, "started": true, "restartCount": 0,
                    "state": {"running": {"startedAt": at(created + 9)}}}]);
        events.push(event("MODIFIED", last.clone(), created + ready + 3));
        if number == pods {
            last["status"]["phase"] = "Succeeded".into();
            events.push(event("MODIFIED", last, created + ready + 4));
        }
    }
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn podinit(args: &[&str]) -> Output {
    run(&[&["report"], args].concat())
}

fn printed(recording: &str, args: &[&str]) -> String {
    let file = file(recording);
    let output = podinit(&[args, &[file.path().to_str().unwrap()]].concat());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_report_shows_gates_and_milestones() {
    insta::assert_snapshot!(printed(&recording(QUOTA, 6, 10), &["--milestone", MODEL]));
}

#[test]
fn the_figures_are_those_of_the_recording() {
    let args = ["--milestone", MODEL, "-o", "json"];
    let found: Value = serde_json::from_str(&printed(&recording(QUOTA, 6, 10), &args)).unwrap();
    let rows = found["intervals"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["interval"] == name).unwrap();
    for (name, seconds) in [("created_to_model", 10.0), ("containers_started_to_model", 1.0)] {
        let row = row(name);
        assert_eq!(
            (&row["count"], &row["p50"], &row["max"]),
            (&json!(6), &json!(seconds), &json!(seconds))
        );
    }
    let unobserved = found["unobserved"].as_array().unwrap();
    assert!(
        unobserved.contains(&json!(["created_to_model", "condition_absent", 1])),
        "{unobserved:?}"
    );
    assert_eq!(
        found["gates"],
        json!([
            {"kind": "scheduling", "gate": QUOTA, "pods": 8, "holding": 1, "count": 7,
             "p50": 4.0, "p90": 7.0, "p99": null, "max": 7.0},
            {"kind": "readiness", "gate": BALANCER, "pods": 8, "holding": 0, "count": 7,
             "p50": 3.0, "p90": 3.0, "p99": null, "max": 3.0},
        ])
    );
}

#[test]
fn names_of_gates_are_strangers() {
    let hostile = "<b>|`x\u{1b}[31m";
    let recording = recording(hostile, 6, 10);
    let markdown = printed(&recording, &["-o", "markdown"]);
    let html = printed(&recording, &["-o", "html"]);
    let text = printed(&recording, &[]);
    assert!(
        html.contains("scheduling gate &#60;b&#62;") || html.contains("scheduling gate &lt;b&gt;")
    );
    for report in [&markdown, &html, &text] {
        assert!(report.contains("scheduling gate "), "{report}");
        assert!(!report.contains('\u{1b}'), "{report}");
    }
    assert!(!html.contains("<b>"));
    let lines = markdown.lines().filter(|line| line.contains("scheduling gate"));
    for line in lines {
        assert!(!line.contains("gate <b>|"), "{line}");
    }
    let sides = [file(&recording), file(&recording)];
    let [before, after] = sides.each_ref().map(|file| file.path().to_str().unwrap());
    let output = podinit(&["-o", "markdown", "--baseline", before, after]);
    let compared = String::from_utf8(output.stdout).unwrap();
    assert!(compared.contains("scheduling gate "), "{compared}");
    assert!(!compared.contains('\u{1b}') && !compared.contains("gate <b>|"), "{compared}");
}

fn detailed(recording: &str) -> DetailedReport {
    let milestones = std::sync::Arc::new(vec![CustomMilestone::parse(MODEL).unwrap()]);
    let options = DecodeOptions::default().with_milestones(&milestones);
    let tracker = TrackerConfig { milestones, ..TrackerConfig::default() };
    let config = ReplayConfig { tracker, ..ReplayConfig::default() };
    let file = file(recording);
    report::detail(Recording::open(file.path(), options).unwrap(), config, 10).unwrap()
}

/// The records alone give the same figures; also of pods that were adopted with a gate that they had passed.
#[test]
fn records_give_the_same_figures() {
    let mut adopted = recording(QUOTA, 6, 10);
    let ready = [("PodScheduled", 2), ("Initialized", 8), ("ContainersReady", 20), (BALANCER, 22)];
    let list = json!({"apiVersion": "v1", "kind": "PodList", "items": [pod(0, &[], &ready)],
                      "observedAt": at(40)});
    let end = pod(0, &[], &[&ready[..], &[("Ready", 45)]].concat());
    let first_line = adopted.find('\n').unwrap();
    let rest = adopted.split_off(first_line);
    let rest: Vec<_> = rest.lines().filter(|line| !line.contains("web-0")).collect();
    let adopted = format!("{list}\n{}\n{}", event("MODIFIED", end, 45), rest.join("\n"));
    for (recording, passed) in [(recording(QUOTA, 6, 10), 7), (adopted, 6)] {
        let found = detailed(&recording);
        let records = found.pods.iter().filter_map(|pod| pod.record);
        let (ended, in_flight) = records.partition(|record| record.outcome().is_some());
        let kept = ExporterRecords { ended, in_flight, ..ExporterRecords::default() };
        let again = report::of_records(kept, 10).summary;
        assert_eq!(again.gates, found.summary.gates);
        let balancer = again.gates.iter().find(|gate| gate.gate.as_deref() == Some(BALANCER));
        assert_eq!(balancer.unwrap().count, passed);
        let named = |rows: &[report::IntervalSummary]| -> Vec<report::IntervalSummary> {
            rows.iter().filter(|row| row.interval.ends_with("_to_model")).cloned().collect()
        };
        assert_eq!(named(&again.intervals), named(&found.summary.intervals));
        assert_eq!(named(&again.intervals).len(), 2);
    }
}

/// The recording, with models that are loaded so long after the creation of their pods, which were ready before.
fn loaded_late(recording: &str, model: i64) -> String {
    let mut events: Vec<Value> =
        recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let list = events.remove(0);
    let mut late = Vec::new();
    for event in &mut events {
        let number = event["object"]["metadata"]["name"].as_str().unwrap()[4..].parse::<i64>();
        let at = at(60 * number.unwrap() + model);
        let whole = event.clone();
        let conditions = event["object"]["status"]["conditions"].as_array_mut().unwrap();
        conditions.retain(|condition| condition["type"] != "example.com/Model");
        if *event != whole {
            let mut loaded = event.clone();
            let conditions = loaded["object"]["status"]["conditions"].as_array_mut().unwrap();
            conditions.push(
                json!({"type": "example.com/Model", "status": "True", "lastTransitionTime": at}),
            );
            loaded["observedAt"] = at.into();
            late.push(loaded);
        }
    }
    events.extend(late);
    events.sort_by_key(|event| event["observedAt"].as_str().map(str::to_owned));
    [list].iter().chain(&events).map(|event| format!("{event}\n")).collect()
}

/// [§16.5](crate::specification#s16-5)
#[test]
fn what_comes_after_ready_is_in_rows_records_and_comparisons() {
    let late = loaded_late(&recording(QUOTA, 6, 10), 300);
    let found = detailed(&late);
    let row = |rows: &[report::IntervalSummary]| {
        let row = rows.iter().find(|row| row.interval == "created_to_model").unwrap();
        (row.count, row.p50, row.max)
    };
    assert_eq!(row(&found.summary.intervals), (6, Some(300.0), Some(300.0)));
    let ended: Vec<_> = found.pods.iter().filter_map(|pod| pod.record).collect();
    let kept = ExporterRecords { ended, ..ExporterRecords::default() };
    assert_eq!(row(&report::of_records(kept, 10).summary.intervals).0, 6);
    let sides = [300, 330].map(|model| file(&loaded_late(&recording(QUOTA, 30, 10), model)));
    let [before, after] = sides.each_ref().map(|file| file.path().to_str().unwrap());
    let args = ["--milestone", MODEL, "-o", "json", "--baseline", before, after];
    let compared: Value = serde_json::from_slice(&podinit(&args).stdout).unwrap();
    let rows = compared["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["interval"] == "created_to_model").unwrap();
    assert_eq!((&row["verdict"], &row["p50"]["difference"]), (&json!("slower"), &json!(30.0)));
}

fn compared(args: &[&str]) -> Output {
    let sides = [10, 30].map(|model| file(&recording(QUOTA, 30, model)));
    let [before, after] = sides.each_ref().map(|file| file.path().to_str().unwrap());
    podinit(&[args, &["--baseline", before, after]].concat())
}

#[test]
fn a_comparison_has_rows_for_them() {
    let output = compared(&["--milestone", MODEL, "-o", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    for table in ["rows", "matched_rows"] {
        let rows = found[table].as_array().unwrap();
        let verdicts = |name: &str| {
            let row = rows.iter().find(|row| row["interval"] == name).unwrap();
            (row["verdict"].clone(), row["p50"]["difference"].clone())
        };
        for name in ["created_to_model", "containers_started_to_model", "created_to_ready"] {
            assert_eq!(verdicts(name), (json!("slower"), json!(20.0)), "{table} {name}");
        }
        for name in ["scheduling gate example.com/quota", "readiness gate example.com/balancer"] {
            assert_eq!(verdicts(name), (json!("same"), json!(0.0)), "{table} {name}");
        }
        let names: Vec<_> = rows.iter().map(|row| row["interval"].as_str().unwrap()).collect();
        let ends = names.iter().position(|name| *name == "created_to_ready").unwrap();
        assert_eq!(names[ends + 1], "created_to_model");
        assert_eq!(names.last(), Some(&"readiness gate example.com/balancer"));
    }
    let page = compared(&["--milestone", MODEL, "-o", "html"]);
    assert!(
        String::from_utf8(page.stdout)
            .unwrap()
            .contains(r#"<span class="name">created_to_model</span>"#)
    );
}

#[test]
fn a_rule_may_name_a_milestone() {
    let rule = ["--fail-on", "created_to_model:p50>+20%"];
    let with = |args: &[&str]| compared(&[args, &["--milestone", MODEL]].concat());
    let output = with(&rule);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let reasons = String::from_utf8(output.stderr).unwrap();
    assert!(
        reasons.contains("created_to_model:p50>+20%: 10s before, 30s after (+20s)"),
        "{reasons}"
    );
    assert_eq!(with(&["--fail-on", "created_to_model:p50>+1m"]).status.code(), Some(0));
    let unknown = compared(&rule);
    assert_eq!(unknown.status.code(), Some(2));
    let reasons = String::from_utf8(unknown.stderr).unwrap();
    assert!(reasons.contains("no milestone is named 'model'"), "{reasons}");
}
