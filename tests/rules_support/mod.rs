//! What the tests of the rules know of the exporter.

/// The metrics that podinit exposes, and `up`, which Prometheus makes of every target.
pub(crate) const METRICS: [&str; 24] = [
    "up",
    "podinit_stage_duration_seconds",
    "podinit_scheduled_to_ready_duration_seconds",
    "podinit_created_to_ready_duration_seconds",
    "podinit_inflight_pods",
    "podinit_oldest_inflight_pod_timestamp_seconds",
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_unobserved_total",
    "podinit_reentries_total",
    "podinit_clock_anomalies_total",
    "podinit_slo_events_total",
    "podinit_slo_excluded_total",
    "podinit_slo_objective_ratio",
    "podinit_slo_threshold_seconds",
    "podinit_watch_events_total",
    "podinit_watch_errors_total",
    "podinit_relists_total",
    "podinit_synced",
    "podinit_watch_delivery_seconds",
    "podinit_label_values_dropped_total",
    "podinit_build_info",
    "podinit_config_last_reload_successful",
    "podinit_config_last_reload_success_timestamp_seconds",
];

/// The words of `text` that begin like a metric of podinit.
pub(crate) fn metrics_in(text: &str) -> impl Iterator<Item = &str> {
    let is_word =
        |character: char| character.is_ascii_alphanumeric() || character == '_' || character == ':';
    text.split(move |character| !is_word(character))
        .filter(|word| word.starts_with("podinit_"))
}
