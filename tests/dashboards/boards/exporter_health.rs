//! Can the other dashboards be trusted?

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{Histogram, RATE, max_by, rate_by, series};
use super::super::variable::HISTOGRAM;

const DELIVERY: Histogram<'static> =
    Histogram { family: "podinit_watch_delivery_seconds", matchers: "" };

pub(super) fn board() -> Board {
    Board {
        file: "exporter-health",
        uid: "podinit-health",
        title: "Exporter health",
        description: "Whether podinit is in sync, keeps up, and its counts add up",
        variables: vec![HISTOGRAM],
        rows: vec![
            row("Now", now()),
            row("Watch", watch()).collapsed(),
            row("Counts and clocks", numbers()).collapsed(),
            row("Checkpoint", checkpoint()).collapsed(),
            row("Access", access()).collapsed(),
            row("Traces", traces()).collapsed(),
            row("Scrapes and process", process()).collapsed(),
        ],
    }
}

/// A raw counter: the books have to balance at each scrape, not on average.
fn total(metric: &str) -> String {
    format!("sum by (instance) ({})", series(metric, ""))
}

fn conservation() -> String {
    format!(
        "{}\n- {}\n- {}",
        total("podinit_pods_discovered_total"),
        total("podinit_pods_finished_total"),
        total("podinit_inflight_pods"),
    )
}

fn stat(title: &str, unit: &'static str, description: &str, expr: String) -> Panel {
    Panel::new(Kind::Stat, title, unit, description, vec![Target::new(expr, "{{instance}}")])
}

fn now() -> Vec<Panel> {
    vec![
        stat(
            "Up",
            "none",
            "Whether Prometheus can scrape the exporter.",
            format!("min({})", series("up", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "down", "red"), ("1", "up", "green")]),
        stat(
            "In sync",
            "none",
            "Whether the watch is in sync with the API server. While it is not, no deadline passes.",
            format!("min({})", series("podinit_synced", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "not in sync", "red"), ("1", "in sync", "green")]),
        stat(
            "SLO file",
            "none",
            "Whether the last attempt to load the SLO file succeeded. After a failure the SLOs loaded before stay in force.",
            format!("min({})", series("podinit_config_last_reload_successful", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "invalid", "red"), ("1", "loaded", "green")]),
        stat(
            "Pods unaccounted for",
            "short",
            "Pods discovered minus pods finished and in flight. Anything but 0 is a bug in podinit.",
            format!("max(abs(\n{}\n))", conservation()),
        )
        .steps("green", &[(0.5, "red")]),
        stat(
            "Uptime",
            "s",
            "Time since the most recent start of an exporter.",
            format!("min(time() - {})", series("process_start_time_seconds", "")),
        ),
        stat(
            "SLO file loaded",
            "dateTimeFromNow",
            "When an SLO file was last loaded.",
            format!(
                "max({}) * 1000",
                series("podinit_config_last_reload_success_timestamp_seconds", "")
            ),
        ),
        Panel::new(
            Kind::Table(vec![column("Exporters", "short")]),
            "Builds",
            "short",
            "Versions in use, and how many exporters run each.",
            vec![Target::new(
                format!("count by (version, revision) ({})", series("podinit_build_info", "")),
                "{{version}}",
            )],
        )
        .sized(12, 4),
        stat(
            "Missing shards",
            "none",
            "How many of the shards Prometheus does not scrape.",
            format!(
                "sum(max by (cluster, job) ({}) - count without (shard) (count_values by (cluster, job) (\"shard\", {})))",
                series("podinit_total_shards", ""),
                series("podinit_shard_ordinal", ""),
            ),
        )
        .steps("green", &[(1.0, "red")]),
        stat(
            "Namespaces out of sync",
            "none",
            "How many of the chosen namespaces the watch of an exporter is not in sync with; /readyz names them. No data where podinit watches all namespaces.",
            format!(
                "max(sum by (instance) ({} == bool 0))",
                series("podinit_namespace_synced", "")
            ),
        )
        .steps("green", &[(1.0, "red")]),
        stat(
            "Deadlines last judged",
            "s",
            "How long ago the deadlines of all pods were last judged, by the exporter that is furthest behind. It grows while an exporter or one of its namespaces is out of sync. After 15 minutes PodinitDeadlinesNotJudged fires.",
            format!(
                "max(time() - {})",
                series("podinit_deadlines_judged_timestamp_seconds", "")
            ),
        )
        .steps("green", &[(900.0, "red")]),
    ]
}

fn lines(title: &str, unit: &'static str, description: &str, expr: String, legend: &str) -> Panel {
    Panel::new(Kind::Lines, title, unit, description, vec![Target::new(expr, legend)]).sized(8, 7)
}

fn watch() -> Vec<Panel> {
    let quantiles = [("0.5", "p50"), ("0.99", "p99")];
    let quantiles = quantiles
        .map(|(quantile, legend)| Target::new(DELIVERY.quantile(quantile, "", RATE), legend));
    vec![
        lines(
            "Watch events per second",
            "short",
            "Events that the watch delivered, by their type.",
            rate_by("event", "podinit_watch_events_total", ""),
            "{{event}}",
        ),
        lines(
            "Watch errors per second",
            "short",
            "Errors of lists and watches, by reason. A single one is normal; one a minute is not.",
            rate_by("reason", "podinit_watch_errors_total", ""),
            "{{reason}}",
        ),
        lines(
            "Relists per second",
            "short",
            "Lists requested to recover the watch, by reason. Each one costs the API server a full list.",
            rate_by("reason", "podinit_relists_total", ""),
            "{{reason}}",
        ),
        Panel::new(
            Kind::Heatmap,
            "Delivery delay",
            "s",
            "Time from the binding of a pod, as the API states it, to the watch event that shows it. API times are whole seconds, so up to one second is normal.",
            vec![Target::new(DELIVERY.distribution("", RATE), "{{le}}")],
        ),
        Panel::new(
            Kind::Lines,
            "Delivery delay, quantiles",
            "s",
            "Median and 99th percentile of the delay between the binding of a pod and the watch event that shows it. Above 5 s, podinit counts deliveries as late.",
            quantiles.into(),
        )
        .steps("green", &[(5.0, "red")]),
        lines(
            "Watch lag",
            "s",
            "How late the watch delivers, by the newest bindings of pods. Above 5 s, deadlines pass later and no node's clock is blamed. No data while too few pods are bound.",
            max_by("instance", "podinit_watch_lag_seconds", ""),
            "{{instance}}",
        )
        .sized(24, 7)
        .steps("green", &[(5.0, "red")]),
        lines(
            "Time since the last contact",
            "s",
            "Time since the API server last sent anything, for the watch that has waited longest. After 30 s the watch no longer counts as in sync; after 60 s it is reopened.",
            format!(
                "time() - min by (instance) ({})",
                series("podinit_watch_last_contact_timestamp_seconds", "")
            ),
            "{{instance}}",
        )
        .sized(12, 7)
        .steps("green", &[(30.0, "red")]),
        lines(
            "Time out of sync",
            "percentunit",
            "Share of time in which the watch, or that of any namespace, was not in sync with the API server. A watch that breaks again and again shows here though most scrapes find it in sync.",
            rate_by("instance", "podinit_out_of_sync_seconds_total", ""),
            "{{instance}}",
        )
        .sized(12, 7),
    ]
}

fn numbers() -> Vec<Panel> {
    vec![
        lines(
            "Clock anomalies per second",
            "short",
            "Unexpected times, by kind. rounded is normal, since API times are truncated to the second; skew, negative, too_long and missing mean clocks that disagree or pods without times.",
            rate_by("kind", "podinit_clock_anomalies_total", ""),
            "{{kind}}",
        ),
        lines(
            "Clock correction",
            "s",
            "What podinit adds to the clock of its node to match the API server's. Far from 0, the node's clock is wrong; the measured durations are still right.",
            max_by("instance", "podinit_clock_correction_seconds", ""),
            "{{instance}}",
        ),
        lines(
            "Clock steps per second",
            "short",
            "How often the offset between the node's clock and the API server's changed abruptly.",
            rate_by("instance", "podinit_clock_steps_total", ""),
            "{{instance}}",
        ),
        Panel::new(
            Kind::Lines,
            "Label values dropped and expired per second",
            "short",
            "Pods whose label value exceeded the cap and became _other, by label: raise --label-cap, or remove the label. Values without a pod for a day that gave their places to new ones.",
            vec![
                Target::new(
                    rate_by("label", "podinit_label_overflow_pods_total", ""),
                    "{{label}} dropped",
                ),
                Target::new(
                    rate_by("label", "podinit_label_values_expired_total", ""),
                    "{{label}} expired",
                ),
            ],
        )
        .sized(8, 7),
        lines(
            "Pods unaccounted for",
            "short",
            "Pods discovered minus pods finished and in flight, at each scrape. It must be 0.",
            conservation(),
            "{{instance}}",
        ),
        lines(
            "Pods remembered",
            "short",
            "Pods in flight, finished, or recently deleted. --max-pods bounds their number.",
            max_by("instance", "podinit_remembered_pods", ""),
            "{{instance}}",
        ),
        lines(
            "Pods evicted per second",
            "short",
            "Pods forgotten because --max-pods was reached, by what they were. Their re-entries are no longer counted. Raise --max-pods.",
            rate_by("state", "podinit_pods_evicted_total", ""),
            "{{state}}",
        ),
        lines(
            "Snapshots refused per second",
            "short",
            "Snapshots of unknown pods that were ignored, by reason. full: too many pods are in flight. maybe_known: the pod may have been evicted before, which is normal after evictions.",
            rate_by("reason", "podinit_snapshots_refused_total", ""),
            "{{reason}}",
        ),
    ]
}

/// Empty where podinit runs without a state directory, the first panel aside.
fn checkpoint() -> Vec<Panel> {
    vec![
        lines(
            "Observation gaps",
            "percentunit",
            "Share of time in which pods may have come and gone unseen. After a gap in the watch or a restart, the API server no longer had its events.",
            rate_by("instance", "podinit_observation_gap_seconds_total", ""),
            "{{instance}}",
        ),
        lines(
            "Checkpoint writes per second",
            "short",
            "Writes of the checkpoint, by result. Every scrape that shows something new causes a write.",
            rate_by("result", "podinit_checkpoint_writes_total", ""),
            "{{result}}",
        ),
        lines(
            "Checkpoint size",
            "bytes",
            "Size of the last checkpoint written. It grows with the number of pods and of label sets.",
            max_by("instance", "podinit_checkpoint_size_bytes", ""),
            "{{instance}}",
        ),
        stat(
            "Checkpoint state",
            "none",
            "Whether everything that scrapes have shown is on disk. While it is not, a restart may lower counters.",
            format!("min({})", series("podinit_checkpoint_durable", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "behind", "red"), ("1", "durable", "green")]),
        stat(
            "Starts by checkpoint result",
            "none",
            "Starts with a state directory, by what happened to the checkpoint in it. Unless it was restored, counters begin at zero.",
            format!("sum by (result) ({})", series("podinit_checkpoint_loads_total", "")),
        )
        .sized(12, 4),
    ]
}

fn access() -> Vec<Panel> {
    vec![
        stat(
            "Web configuration",
            "none",
            "Whether the last attempt to load the web configuration and its certificates succeeded. After a failure the one loaded before stays in force.",
            format!("min({})", series("podinit_web_config_last_reload_successful", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "invalid", "red"), ("1", "loaded", "green")]),
        stat(
            "Web configuration loaded",
            "dateTimeFromNow",
            "When a web configuration was last loaded.",
            format!(
                "max({}) * 1000",
                series("podinit_web_config_last_reload_success_timestamp_seconds", "")
            ),
        ),
        lines(
            "Requests refused per second",
            "short",
            "Requests that access control refused, by reason. unavailable means that the API server does not answer token reviews, or that passwords arrive faster than they can be checked.",
            rate_by("reason", "podinit_http_requests_refused_total", ""),
            "{{reason}}",
        ),
        lines(
            "TLS handshake failures per second",
            "short",
            "Handshakes that failed or timed out: the client does not trust the certificate, has none of its own, or does not speak TLS.",
            rate_by("instance", "podinit_tls_handshake_failures_total", ""),
            "{{instance}}",
        ),
        lines(
            "Web configuration reloads per second",
            "short",
            "Reloads after a change of the web configuration or a certificate, by result. After a failure the one loaded before stays in force.",
            rate_by("result", "podinit_web_config_reloads_total", ""),
            "{{result}}",
        ),
    ]
}

fn traces() -> Vec<Panel> {
    vec![
        lines(
            "Traces per second",
            "short",
            "Startups that the collector of traces accepted. No data means that there is no collector.",
            rate_by("instance", "podinit_traces_sent_total", ""),
            "{{instance}}",
        ),
        lines(
            "Traces that wait",
            "short",
            "Startups that wait to be sent. At 2,048 further ones are dropped.",
            max_by("instance", "podinit_traces_queued", ""),
            "{{instance}}",
        ),
        lines(
            "Traces dropped per second",
            "short",
            "Sampled startups that were not sent, by reason. queue_full means that the collector does not keep up or is away; nothing that is counted depends on it.",
            rate_by("reason", "podinit_traces_dropped_total", ""),
            "{{reason}}",
        ),
        lines(
            "Failed exports per second",
            "short",
            "Requests to the collector that failed, by reason.",
            rate_by("reason", "podinit_trace_export_failures_total", ""),
            "{{reason}}",
        ),
        lines(
            "Spans rejected per second",
            "short",
            "Spans that the collector refused out of requests that it took; its log says why.",
            rate_by("instance", "podinit_trace_spans_rejected_total", ""),
            "{{instance}}",
        ),
    ]
}

fn process() -> Vec<Panel> {
    let by = |metric| max_by("instance", metric, "");
    vec![
        lines(
            "Scrape duration",
            "s",
            "How long scrapes took, as Prometheus measures it.",
            by("scrape_duration_seconds"),
            "{{instance}}",
        ),
        lines(
            "Samples per scrape",
            "short",
            "Samples per scrape, without native histograms. It grows with the number of label sets.",
            by("scrape_samples_scraped"),
            "{{instance}}",
        ),
        lines(
            "CPU",
            "none",
            "CPU cores used by the process.",
            rate_by("instance", "process_cpu_seconds_total", ""),
            "{{instance}}",
        ),
        lines(
            "Resident memory",
            "bytes",
            "Resident memory of the process. It grows with the number of pods and of label sets.",
            by("process_resident_memory_bytes"),
            "{{instance}}",
        ),
        lines(
            "Virtual memory",
            "bytes",
            "Virtual memory of the process.",
            by("process_virtual_memory_bytes"),
            "{{instance}}",
        ),
        Panel::new(
            Kind::Lines,
            "File descriptors",
            "percentunit",
            "Open file descriptors as a share of the limit.",
            vec![Target::new(
                format!("{}\n/\n{}", by("process_open_fds"), by("process_max_fds")),
                "{{instance}}",
            )],
        )
        .sized(8, 7)
        .steps("green", &[(0.8, "red")]),
    ]
}
