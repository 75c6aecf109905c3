//! Can the other dashboards be trusted?

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target, column};
use super::super::promql::{Histogram, RATE, max_by, rate_by, series};
use super::super::variable::HISTOGRAM;

const DELIVERY: Histogram<'static> = Histogram {
    family: "podinit_watch_delivery_seconds",
    matchers: "",
};

pub(super) fn board() -> Board {
    Board {
        file: "exporter-health",
        uid: "podinit-health",
        title: "Exporter health",
        description: "Whether podinit sees the cluster, keeps up, and counts right",
        variables: vec![HISTOGRAM],
        rows: vec![
            row("Now", now()),
            row("Watch", watch()),
            row("Numbers", numbers()),
            row("Checkpoint", checkpoint()),
            row("Access", access()),
            row("Scrapes and process", process()),
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
    Panel::new(
        Kind::Stat,
        title,
        unit,
        description,
        vec![Target::new(expr, "{{instance}}")],
    )
}

fn now() -> Vec<Panel> {
    vec![
        stat(
            "Up",
            "none",
            "Whether Prometheus reaches the exporter.",
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
        .words(&[("0", "blind", "red"), ("1", "in sync", "green")]),
        stat(
            "SLO file",
            "none",
            "Whether the SLO file was readable when it was last looked at. A broken one leaves the SLOs before it in force.",
            format!("min({})", series("podinit_config_last_reload_successful", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "broken", "red"), ("1", "read", "green")]),
        stat(
            "Pods unaccounted for",
            "short",
            "Pods discovered, less those finished and in flight. Anything but 0 is a fault of podinit.",
            format!("max(abs(\n{}\n))", conservation()),
        )
        .steps("green", &[(0.5, "red")]),
        stat(
            "Uptime",
            "s",
            "Time since the start of the process that started last.",
            format!("min(time() - {})", series("process_start_time_seconds", "")),
        ),
        stat(
            "SLO file read",
            "dateTimeFromNow",
            "When the SLO file was last put in force.",
            format!(
                "max({}) * 1000",
                series("podinit_config_last_reload_success_timestamp_seconds", "")
            ),
        ),
        Panel::new(
            Kind::Table(vec![column("Exporters", "short")]),
            "Builds",
            "short",
            "Versions that run, and how many exporters run each.",
            vec![Target::new(
                format!("count by (version, revision) ({})", series("podinit_build_info", "")),
                "{{version}}",
            )],
        )
        .sized(24, 4),
    ]
}

fn lines(title: &str, unit: &'static str, description: &str, expr: String, legend: &str) -> Panel {
    Panel::new(
        Kind::Lines,
        title,
        unit,
        description,
        vec![Target::new(expr, legend)],
    )
    .sized(8, 7)
}

fn watch() -> Vec<Panel> {
    let quantiles = [("0.5", "p50"), ("0.99", "p99")];
    let quantiles = quantiles
        .map(|(quantile, legend)| Target::new(DELIVERY.quantile(quantile, "", RATE), legend));
    vec![
        lines(
            "Watch events per second",
            "short",
            "Events that the watch delivered, by type.",
            rate_by("type", "podinit_watch_events_total", ""),
            "{{type}}",
        ),
        lines(
            "Watch errors per second",
            "short",
            "Faults of the list-watch, by reason. Now and then one is normal; one a minute is not.",
            rate_by("reason", "podinit_watch_errors_total", ""),
            "{{reason}}",
        ),
        lines(
            "Relists per second",
            "short",
            "Lists made to mend the watch, by reason. Each costs the API server a full list.",
            rate_by("reason", "podinit_relists_total", ""),
            "{{reason}}",
        ),
        Panel::new(
            Kind::Heatmap,
            "Delivery delay",
            "s",
            "From the time that the API states for a milestone until the watch event that shows it. API times are whole seconds, so that up to one second is normal.",
            vec![Target::new(DELIVERY.distribution("", RATE), "{{le}}")],
        ),
        Panel::new(
            Kind::Lines,
            "Delivery delay, quantiles",
            "s",
            "Median and 99th percentile of the delay between a milestone and the watch event that shows it. Where it nears the grace of the deadlines (5 s), pods are judged late unjustly.",
            quantiles.into(),
        )
        .steps("green", &[(5.0, "red")]),
        lines(
            "Time since the last contact",
            "s",
            "How long ago the API server was last heard, by the list-watch that has waited longest. After 30 s the watch no longer counts as in sync; after 60 s it is opened anew.",
            max_by("instance", "podinit_watch_last_contact_age_seconds", ""),
            "{{instance}}",
        )
        .sized(24, 6)
        .steps("green", &[(30.0, "red")]),
    ]
}

fn numbers() -> Vec<Panel> {
    vec![
        lines(
            "Clock anomalies per second",
            "short",
            "Odd times, by kind. rounded is expected of times cut to the second; skew, negative, too_long and missing are clocks that disagree or pods without times.",
            rate_by("kind", "podinit_clock_anomalies_total", ""),
            "{{kind}}",
        ),
        lines(
            "Clock correction",
            "s",
            "What podinit adds to the clock of its machine, which it holds against the API server's. Far from 0 the machine's clock is wrong; what is measured is right all the same.",
            max_by("instance", "podinit_clock_correction_seconds", ""),
            "{{instance}}",
        ),
        lines(
            "Clock steps per second",
            "short",
            "Times that the machine's clock and the API server's came apart, or together again.",
            rate_by("instance", "podinit_clock_steps_total", ""),
            "{{instance}}",
        ),
        lines(
            "Label values dropped per second",
            "short",
            "Pods whose label value lay past the cap and became _other, by label. Raise --label-cap, or take the label off.",
            rate_by("label", "podinit_label_values_dropped_total", ""),
            "{{label}}",
        ),
        lines(
            "Pods unaccounted for",
            "short",
            "Pods discovered, less those finished and in flight, at each scrape. It has to be 0.",
            conservation(),
            "{{instance}}",
        ),
        lines(
            "Pods remembered",
            "short",
            "Pods in flight, finished, or deleted a moment ago. Their number is bounded by --max-pods.",
            max_by("instance", "podinit_remembered_pods", ""),
            "{{instance}}",
        ),
        lines(
            "Pods evicted per second",
            "short",
            "Pods forgotten because as many were remembered as may be, by what they were. Their re-entries are no longer counted. Raise --max-pods.",
            rate_by("state", "podinit_pods_evicted_total", ""),
            "{{state}}",
        ),
        lines(
            "Snapshots refused per second",
            "short",
            "Snapshots of pods that were not let in: full, since too many others are in flight; maybe_known, since they may have been evicted before. The latter is normal after evictions.",
            rate_by("reason", "podinit_snapshots_refused_total", ""),
            "{{reason}}",
        ),
    ]
}

/// Empty where podinit runs without a state directory, the first panel aside.
fn checkpoint() -> Vec<Panel> {
    vec![
        lines(
            "Unobserved time per second",
            "percentunit",
            "Share of time in which pods may have been born and gone unseen, because the API server no longer had what happened in a gap of the watch or during a restart.",
            rate_by("instance", "podinit_observation_gap_seconds_total", ""),
            "{{instance}}",
        ),
        lines(
            "Checkpoint writes per second",
            "short",
            "Times that the checkpoint was written, by result. Every scrape that shows something new brings a write.",
            rate_by("result", "podinit_checkpoint_writes_total", ""),
            "{{result}}",
        ),
        lines(
            "Checkpoint size",
            "bytes",
            "Size of the checkpoint as it was last written. It grows with the pods of the cluster and with the label set.",
            max_by("instance", "podinit_checkpoint_size_bytes", ""),
            "{{instance}}",
        ),
        stat(
            "Checkpoint",
            "none",
            "Whether everything that scrapes were shown is on disk. While it is not, a restart may lower counters.",
            format!("min({})", series("podinit_checkpoint_durable", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "behind", "red"), ("1", "durable", "green")]),
        stat(
            "Starts",
            "none",
            "Starts with a state directory by what became of the checkpoint in it. Anything but restored begins at zero.",
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
            "Whether the web configuration and its certificates could be put in force when they were last looked at. A broken one leaves the one before it in force.",
            format!("min({})", series("podinit_web_config_last_reload_successful", "")),
        )
        .steps("red", &[(1.0, "green")])
        .words(&[("0", "broken", "red"), ("1", "in force", "green")]),
        stat(
            "Web configuration read",
            "dateTimeFromNow",
            "When a web configuration was last put in force.",
            format!(
                "max({}) * 1000",
                series("podinit_web_config_last_reload_success_timestamp_seconds", "")
            ),
        ),
        lines(
            "Requests refused per second",
            "short",
            "Requests that access control refused, by reason. unavailable means that the API server gives no review of tokens, or that passwords come faster than they can be checked.",
            rate_by("reason", "podinit_http_requests_refused_total", ""),
            "{{reason}}",
        ),
        lines(
            "TLS handshake failures per second",
            "short",
            "Handshakes that failed or did not complete in time: a client that does not trust the certificate, has none of its own, or does not speak TLS.",
            rate_by("instance", "podinit_tls_handshake_failures_total", ""),
            "{{instance}}",
        ),
        lines(
            "Web configuration reloads per second",
            "short",
            "Times that the web configuration or a certificate was found changed, by result. After a failure the one before remains in force.",
            rate_by("result", "podinit_web_config_reloads_total", ""),
            "{{result}}",
        ),
    ]
}

fn process() -> Vec<Panel> {
    let by = |metric| max_by("instance", metric, "");
    vec![
        lines(
            "Scrape duration",
            "s",
            "How long Prometheus took for a scrape.",
            by("scrape_duration_seconds"),
            "{{instance}}",
        ),
        lines(
            "Samples per scrape",
            "short",
            "Samples that a scrape brought, native histograms aside. It grows with the label set.",
            by("scrape_samples_scraped"),
            "{{instance}}",
        ),
        lines(
            "CPU",
            "none",
            "Cores that the process uses.",
            rate_by("instance", "process_cpu_seconds_total", ""),
            "{{instance}}",
        ),
        lines(
            "Resident memory",
            "bytes",
            "Memory that the process holds. It grows with the pods of the cluster and with the label set.",
            by("process_resident_memory_bytes"),
            "{{instance}}",
        ),
        lines(
            "Virtual memory",
            "bytes",
            "Address space of the process.",
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
