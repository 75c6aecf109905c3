//! Alerts on the exporter itself. While one of them fires, its other metrics may be wrong or absent.

use super::annotations::present_shards;
use super::options::RenderOptions;
use super::promql::{
    NAMESPACE_LABELS, TARGET_LABELS, over_targets, over_targets_and, series, shards,
};
use super::rule_file::{AlertDashboard, AlertRule, AlertSeverity, Group};
use podinit_text::duration::PrometheusDuration;

/// The alerts, in the order in which they are written.
pub(super) fn group(options: &RenderOptions) -> Group {
    let alerts = alerts(&options.job).into_iter();
    Group {
        name: "podinit-exporter".to_owned(),
        interval: None,
        rules: alerts.map(|alert| alert.rule(options)).collect(),
    }
}

pub(super) fn alerts(job: &str) -> [AlertRule; 12] {
    [
        down(job),
        shard_missing(job),
        not_synced(job),
        deadlines_not_judged(job),
        deliveries_late(job),
        watch_errors(job),
        evidence_down(job),
        label_values_dropped(job),
        clock_anomalies(job),
        conservation_broken(job),
        reload_failed(job),
        web_reload_failed(job),
    ]
}

fn alert(name: &'static str, expr: String, minutes: u64, texts: [&str; 2]) -> AlertRule {
    AlertRule {
        name,
        expr,
        hold: (minutes > 0).then(|| PrometheusDuration::from_minutes(minutes)),
        keep: None,
        severity: AlertSeverity::Warning,
        labels: vec![],
        summary: texts[0].to_owned(),
        description: texts[1].to_owned(),
        command: None,
        dashboard: AlertDashboard::Health,
    }
}

fn down(job: &str) -> AlertRule {
    let up = series("up", job, "");
    let expr = format!("{} == 0\nor\nabsent({up})", over_targets("max", &up));
    let texts = [
        "No podinit exporter is up.",
        "Prometheus has reached no target of the job {{ $labels.job }} for 10 minutes. No startup \
         is measured, and no other alert of podinit can fire.",
    ];
    AlertRule { severity: AlertSeverity::Critical, ..alert("PodinitDown", expr, 10, texts) }
}

/// Each shard states how many there are. Two that state the same ordinal count as one.
fn shard_missing(job: &str) -> AlertRule {
    let all = over_targets("max", &series("podinit_total_shards", job, ""));
    let present = shards(TARGET_LABELS, &series("podinit_shard_ordinal", job, ""));
    let expr = format!("{all}\n-\n{present}\n> 0");
    let description = format!(
        "For 10 minutes Prometheus has reached no exporter of {{{{ $value | printf \"%.0f\" }}}} of the shards \
         of the job {{{{ $labels.job }}}}. No startup of their pods is measured, and no SLO judges them.{}",
        present_shards(job)
    );
    let texts = ["A shard of podinit is missing.", &description];
    AlertRule { severity: AlertSeverity::Critical, ..alert("PodinitShardMissing", expr, 10, texts) }
}

/// 15 minutes, because a list of a large cluster takes minutes, and retries back off to half a
/// minute. One exporter out of several suffices: each may be a shard with pods of its own. One that is in sync with
/// some of its namespaces is not meant: what it says of those is current.
fn not_synced(job: &str) -> AlertRule {
    let synced = series("podinit_synced", job, "");
    let blind =
        format!("{synced} == 0\nunless ignoring ({NAMESPACE_LABELS})\n{}", some_in_sync(job));
    let expr = over_targets("min", &blind);
    let texts = [
        "A podinit exporter is not in sync with the API server.",
        "An exporter of the job {{ $labels.job }} has not been in sync with the API server for 15 \
         minutes. Until it is, no deadline of its pods passes, and no SLO judges them.",
    ];
    AlertRule { severity: AlertSeverity::Critical, ..alert("PodinitNotSynced", expr, 15, texts) }
}

/// The exporters that are in sync with one of their namespaces at least, without a label for it.
pub(super) fn some_in_sync(job: &str) -> String {
    let synced = series("podinit_namespace_synced", job, "");
    format!("max without ({NAMESPACE_LABELS}) ({synced}) == 1")
}

/// The time itself says so, not how often the watch is in sync: one that breaks again before it has caught up is in
/// sync at many scrapes.
fn deadlines_not_judged(job: &str) -> AlertRule {
    let judged = series("podinit_deadlines_judged_timestamp_seconds", job, "");
    let expr = format!("time() - {} > 900", over_targets("min", &judged));
    let texts = [
        "podinit does not judge the deadlines of pods.",
        "For {{ $value | humanizeDuration }} an exporter of the job {{ $labels.job }} could not judge whether pods \
         of all its namespaces are late. Its watch breaks too often, or it may not read a namespace. SLOs count no \
         missed deadline of these pods.",
    ];
    alert("PodinitDeadlinesNotJudged", expr, 2, texts)
}

/// Above 5 s podinit itself calls deliveries late, and passes deadlines later ([§4.10](crate::specification#s4-10)).
fn deliveries_late(job: &str) -> AlertRule {
    let lag = series("podinit_watch_lag_seconds", job, "");
    let texts = [
        "The API server's events reach podinit late.",
        "For 5 minutes an exporter of the job {{ $labels.job }} has seen pods more than 5 s late: now          {{ $value | humanizeDuration }}. What it says of pods is as old, and missed deadlines count later, at most 10          minutes. Without Date headers the clock of its machine may be ahead instead.",
    ];
    alert("PodinitDeliveriesLate", format!("{} > 5", over_targets("max", &lag)), 5, texts)
}

/// A watch that ends with an error now and then recovers within seconds. One error a minute for a
/// quarter of an hour is a fault that lasts.
fn watch_errors(job: &str) -> AlertRule {
    let errors = series("podinit_watch_errors_total", job, "");
    let sum = over_targets("sum", &format!("increase({errors}[15m])"));
    let texts = [
        "The podinit exporter's watch keeps failing.",
        "The list or watch of the job {{ $labels.job }} failed {{ $value | printf \"%.0f\" }} times \
         in 15 minutes with the reason {{ $labels.reason }}.",
    ];
    alert("PodinitWatchErrors", format!("{sum} > 15"), 15, texts)
}

/// Only an exporter with `--evidence` has the series.
fn evidence_down(job: &str) -> AlertRule {
    let up = series("podinit_evidence_up", job, "");
    let expr = format!("{} == 0", over_targets("min", &up));
    let texts = [
        "podinit cannot read the evidence that it was told to use.",
        "For 15 minutes an exporter of the job {{ $labels.job }} could not read {{ $labels.source }}. Image \
         pulls and the startup SLI of its pods are not counted. Network times rest on the pod alone, and \
         causes that only {{ $labels.source }} show are unknown.",
    ];
    alert("PodinitEvidenceDown", expr, 15, texts)
}

fn label_values_dropped(job: &str) -> AlertRule {
    let dropped = series("podinit_label_overflow_pods_total", job, "");
    let sum = over_targets("sum", &format!("increase({dropped}[1h])"));
    let texts = [
        "podinit reports pods under the label value _other.",
        "In the last hour {{ $value | printf \"%.0f\" }} pods had a value of the label \
         {{ $labels.label }} beyond the cap on its values.",
    ];
    alert("PodinitLabelValuesDropped", format!("{sum} > 0"), 0, texts)
}

/// `rounded` is expected, because API times are truncated to the second. A healthy cluster has a few
/// of the other kinds in thousands of pods; one in ten pods means that a clock is wrong. At least
/// ten of them keep a single odd pod of a quiet hour from firing the alert.
fn clock_anomalies(job: &str) -> AlertRule {
    let odd = series("podinit_clock_anomalies_total", job, "kind!=\"rounded\"");
    let pods = series("podinit_pods_discovered_total", job, "");
    let odd = over_targets_and("sum", "kind", &format!("increase({odd}[1h])"));
    let pods = over_targets("sum", &format!("increase({pods}[1h])"));
    let expr = format!("{odd}\n/\n({pods} > 0)\n> 0.1\nand\n{odd} >= 10");
    let texts = [
        "Clocks in the cluster disagree.",
        "In the last hour there were {{ $value | printf \"%.2f\" }} clock anomalies per pod: milestones \
         in the wrong order, in the future, or without a time. Latencies are estimates at best.",
    ];
    alert("PodinitClockAnomalies", expr, 15, texts)
}

/// All three families come from one scrape, and the exporter states them for one moment. The five
/// minutes allow for scrapes that fail halfway.
fn conservation_broken(job: &str) -> AlertRule {
    let discovered = series("podinit_pods_discovered_total", job, "");
    let finished = series("podinit_pods_finished_total", job, "");
    let inflight = series("podinit_inflight_pods", job, "");
    let expr = format!(
        "max without ({TARGET_LABELS}) (\n  abs(\n    {discovered}\n    - sum without (outcome) \
         ({finished})\n    - sum without (stage) ({inflight})\n  )\n) > 0"
    );
    let texts = [
        "podinit's counts of pods do not add up.",
        "Pods discovered differ from pods finished plus pods in flight by \
         {{ $value | printf \"%.0f\" }}. This is a bug in podinit.",
    ];
    alert("PodinitConservationBroken", expr, 5, texts)
}

fn reload_failed(job: &str) -> AlertRule {
    let successful = series("podinit_config_last_reload_successful", job, "");
    let expr = format!("{} == 0", over_targets("min", &successful));
    let texts = [
        "podinit cannot load its SLO file.",
        "The SLO file of the job {{ $labels.job }} has been invalid or unreadable for 5 minutes. \
         The SLOs loaded before stay in force.",
    ];
    alert("PodinitConfigReloadFailed", expr, 5, texts)
}

/// Fires when a renewed certificate cannot be used, before the one in use expires.
fn web_reload_failed(job: &str) -> AlertRule {
    let successful = series("podinit_web_config_last_reload_successful", job, "");
    let expr = format!("{} == 0", over_targets("min", &successful));
    let texts = [
        "podinit cannot load its web configuration.",
        "The web configuration file of the job {{ $labels.job }}, or a certificate that it names, \
         has been invalid or unreadable for 5 minutes. The one loaded before stays in force.",
    ];
    alert("PodinitWebConfigReloadFailed", expr, 5, texts)
}
