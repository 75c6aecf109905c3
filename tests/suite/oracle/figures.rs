//! The figures of an exposition: every series with its labels, and its value.

use std::collections::BTreeMap;

use super::instant::{Nanos, SECOND};

/// Series with its labels (`name{label="value"}`, labels in alphabetical order) to value.
pub(crate) type Exposition = BTreeMap<String, f64>;

/// The kubelet's classic buckets of startups ([§7.7](crate::specification#s7-7)), in seconds.
const STARTUP_BUCKETS: [f64; 25] = [
    0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 30.0, 45.0, 60.0, 120.0, 180.0, 240.0,
    300.0, 360.0, 480.0, 600.0, 900.0, 1200.0, 1800.0, 2700.0, 3600.0,
];

/// Those of pulls.
const PULL_BUCKETS: [f64; 18] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 360.0, 480.0, 600.0, 900.0,
    1200.0, 1800.0, 2700.0, 3600.0,
];

/// Those of rollouts ([§17.5](crate::specification#s17-5)).
const ROLLOUT_BUCKETS: [f64; 18] = [
    10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0, 450.0, 600.0, 900.0, 1200.0, 1800.0, 2700.0,
    3600.0, 7200.0, 14400.0, 28800.0, 86400.0,
];

/// Those of the delay of the watch.
const DELIVERY_BUCKETS: [f64; 13] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// The bounds of the classic buckets of a histogram, in seconds, `+Inf` aside.
pub(crate) fn buckets(name: &str) -> &'static [f64] {
    match name {
        "podinit_image_pull_duration_seconds" | "podinit_image_pull_wait_seconds" => &PULL_BUCKETS,
        DELIVERY => &DELIVERY_BUCKETS,
        "podinit_rollout_duration_seconds" => &ROLLOUT_BUCKETS,
        _ => &STARTUP_BUCKETS,
    }
}

/// The families that the oracle knows everything about.
pub(crate) const FAMILIES: [&str; 48] = [
    "podinit_startups_relapsed_total",
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_unobserved_total",
    "podinit_reentries_total",
    "podinit_clock_anomalies_total",
    "podinit_inflight_pods",
    "podinit_oldest_inflight_pod_timestamp_seconds",
    "podinit_watch_events_total",
    "podinit_stage_duration_seconds",
    "podinit_scheduled_to_ready_duration_seconds",
    "podinit_created_to_ready_duration_seconds",
    "podinit_slo_events_total",
    "podinit_slo_excluded_total",
    "podinit_slo_objective_ratio",
    "podinit_slo_threshold_seconds",
    "podinit_step_duration_seconds",
    "podinit_network_evidence_total",
    "podinit_waiting_pods",
    "podinit_unschedulable_pods",
    "podinit_slo_bad_causes_total",
    "podinit_startups_disrupted_total",
    "podinit_resize_duration_seconds",
    "podinit_resizes_total",
    "podinit_resizing_pods",
    "podinit_inplace_update_duration_seconds",
    "podinit_kube_events_ignored_total",
    "podinit_images_total",
    "podinit_image_pull_failures_total",
    "podinit_image_pull_duration_seconds",
    "podinit_image_pull_wait_seconds",
    "podinit_image_pull_bytes_total",
    "podinit_pod_start_sli_duration_seconds",
    "podinit_pod_start_sli_excluded_total",
    "podinit_cold_start_duration_seconds",
    "podinit_node_startup_duration_seconds",
    "podinit_nodes_discovered_total",
    "podinit_nodes_finished_total",
    "podinit_starting_nodes",
    "podinit_late_nodes",
    "podinit_gate_duration_seconds",
    "podinit_gated_pods",
    "podinit_milestone_duration_seconds",
    "podinit_milestone_unobserved_total",
    "podinit_rollout_duration_seconds",
    "podinit_rollouts_total",
    "podinit_rollouts_in_progress",
    "podinit_rollout_held_seconds_total",
];

/// The one family that is a histogram without labels.
pub(crate) const DELIVERY: &str = "podinit_watch_delivery_seconds";

/// Whether the oracle has a say on the series.
pub(crate) fn is_known(series: &str) -> bool {
    let name = series.split('{').next().unwrap_or(series);
    let family = ["_bucket", "_count", "_sum"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    FAMILIES.contains(&family) || family == DELIVERY
}

/// Spells a series; the labels may come in any order.
pub(crate) fn series(name: &str, labels: &[(&str, &str)]) -> String {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let mut spelled = name.to_owned();
    let mut before = "{";
    for (label, value) in labels {
        for part in [before, label, "=\"", value, "\""] {
            spelled.push_str(part);
        }
        before = ",";
    }
    if before == "," {
        spelled.push('}');
    }
    spelled
}

/// Label and value, in alphabetical order.
type Labels = Vec<(String, String)>;

/// What has been counted, and every duration that has been observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    values: BTreeMap<String, f64>,
    durations: BTreeMap<(String, Labels), Vec<Nanos>>,
}

impl Figures {
    /// Adds to a counter, or to a gauge that is a number of things; 0 makes it known.
    pub(crate) fn add(&mut self, name: &str, labels: &[(&str, &str)], amount: usize) {
        *self.values.entry(series(name, labels)).or_insert(0.0) += amount as f64;
    }

    /// Adds time to a counter of seconds; 0 makes it known.
    pub(crate) fn add_time(&mut self, name: &str, labels: &[(&str, &str)], time: Nanos) {
        *self.values.entry(series(name, labels)).or_insert(0.0) += seconds(time);
    }

    /// Lowers a gauge to `value`, or sets it.
    pub(crate) fn lower(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let held = self.values.entry(series(name, labels)).or_insert(value);
        *held = held.min(value);
    }

    /// Makes a histogram known.
    pub(crate) fn histogram(&mut self, name: &str, labels: &[(&str, &str)]) -> &mut Vec<Nanos> {
        let mut labels: Labels = labels
            .iter()
            .map(|(label, value)| ((*label).to_owned(), (*value).to_owned()))
            .collect();
        labels.sort();
        self.durations.entry((name.to_owned(), labels)).or_default()
    }

    /// Every series: the counters and gauges, and for every histogram count, sum and buckets.
    pub(crate) fn exposition(&self) -> Exposition {
        let mut all = self.values.clone();
        for ((name, labels), durations) in &self.durations {
            let labels: Vec<(&str, &str)> =
                labels.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
            let sum: Nanos = durations.iter().sum();
            all.insert(series(&format!("{name}_count"), &labels), durations.len() as f64);
            all.insert(series(&format!("{name}_sum"), &labels), seconds(sum));
            let mut labels = labels.clone();
            labels.push(("le", "BOUND"));
            let template = series(&format!("{name}_bucket"), &labels);
            for bound in buckets(name).iter().copied().chain([f64::INFINITY]) {
                let within =
                    durations.iter().filter(|duration| seconds(**duration) <= bound).count();
                all.insert(template.replace("BOUND", &bucket_label(bound)), within as f64);
            }
        }
        all
    }
}

/// How a bucket's bound is spelled here, whatever the exposition's own way is.
pub(crate) fn bucket_label(bound: f64) -> String {
    match bound.is_infinite() {
        true => "+Inf".to_owned(),
        false => format!("{bound}"),
    }
}

/// Seconds, as Prometheus states durations and times.
pub(crate) fn seconds(nanos: Nanos) -> f64 {
    nanos.div_euclid(SECOND) as f64 + nanos.rem_euclid(SECOND) as f64 / SECOND as f64
}
