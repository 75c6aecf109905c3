//! Watch streams recorded beside a real control plane and real kubelets (tests/e2e), replayed.
//!
//! What each has to give was worked out by the suite's own reading of the specification
//! (tests/e2e/truth.py), which shares no code with podinit. `tests/e2e/fixtures.py` makes the files.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::files::recordings;
use podinit_core::lifecycle::TimestampMode;
use podinit_decode::DecodeOptions;
use podinit_expo::metrics::ExpositionFormat;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ExpositionConfig, expose};

/// Samples by name and labels, those that are 0 left out.
type Samples = BTreeMap<String, f64>;

/// Families whose samples the expectations state in full.
const STATED: [&str; 18] = [
    "podinit_stage_duration_seconds_",
    "podinit_step_duration_seconds_",
    "podinit_gate_duration_seconds_",
    "podinit_scheduled_to_ready_duration_seconds_",
    "podinit_created_to_ready_duration_seconds_",
    "podinit_pods_discovered_total{",
    "podinit_pods_finished_total{",
    "podinit_unobserved_total{",
    "podinit_reentries_total{",
    "podinit_clock_anomalies_total{",
    "podinit_network_evidence_total{",
    "podinit_images_total{",
    "podinit_image_pull_failures_total{",
    "podinit_image_pull_duration_seconds_",
    "podinit_image_pull_wait_seconds_",
    "podinit_image_pull_bytes_total{",
    "podinit_pod_start_sli_duration_seconds_",
    "podinit_pod_start_sli_excluded_total{",
];

#[test]
fn recordings_of_a_real_cluster_count_as_the_specification_says() {
    let mut replayed = 0;
    let mut faults = Vec::new();
    for path in recordings() {
        for (name, expected) in expected(&path) {
            let counted = counted(&path, &name);
            for key in expected.keys().chain(counted.keys()) {
                let expected = expected.get(key).copied().unwrap_or_default();
                let counted = counted.get(key).copied().unwrap_or_default();
                if (expected - counted).abs() > 1e-5 {
                    faults.push(format!(
                        "{}, {name}: {key} is {expected}, counted {counted}",
                        path.display()
                    ));
                }
            }
            replayed += 1;
        }
    }
    faults.dedup();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    assert!(replayed >= 68, "only {replayed} replays");
}

/// What a recording has to give, by clock and evidence (`fused, events`).
fn expected(recording: &Path) -> BTreeMap<String, Samples> {
    let path = recording.to_str().unwrap().replace(".watch.json.gz", ".expected.json");
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What a replay gives on the clock and with the evidence that `name` says.
fn counted(recording: &Path, name: &str) -> Samples {
    let (clock, evidence) = name.split_once(", ").unwrap();
    let documents = Recording::open(recording, DecodeOptions::default()).unwrap();
    let mut config = ExpositionConfig::default();
    config.replay.tracker.timestamps = match clock {
        "api" => TimestampMode::Api,
        _ => TimestampMode::Fused,
    };
    config.replay.tracker.events = evidence == "events";
    let exposition = expose(documents, config).unwrap();
    let text = String::from_utf8(exposition.encode(ExpositionFormat::Text).unwrap()).unwrap();
    let mut samples = Samples::new();
    let mut in_flight = 0.0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let value: f64 = value.parse().unwrap();
        if series.starts_with("podinit_inflight_pods") {
            in_flight += value;
        }
        let key = normal(series);
        if value != 0.0 && !key.contains("le=\"+Inf\"") && STATED.iter().any(|s| key.starts_with(s))
        {
            samples.insert(key, value);
        }
    }
    samples.insert("in flight".to_owned(), in_flight);
    samples
}

/// `name{a="1",b="2"}` with the labels in order and bounds without a trailing `.0`.
fn normal(series: &str) -> String {
    let (name, labels) = series
        .split_once('{')
        .map_or((series, ""), |(name, rest)| (name, rest.trim_end_matches('}')));
    let mut labels: Vec<_> = labels
        .split(',')
        .filter(|label| !label.is_empty())
        .map(|label| match label.strip_prefix("le=") {
            Some(bound) => format!("le={}", bound.replace(".0\"", "\"")),
            None => label.to_owned(),
        })
        .collect();
    labels.sort();
    format!("{name}{{{}}}", labels.join(","))
}
