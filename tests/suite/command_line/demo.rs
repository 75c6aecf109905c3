//! `podinit demo` as a person runs it: the binary, found by what it prints, scraped over HTTP,
//! ended by SIGTERM.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use podinit::args;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::cluster::pipeline::Pipeline;
use crate::support::demo::Demo;
use crate::support::process::{podinit, run};
use crate::support::scrape::Scrape;
use podinit_core::lifecycle::{Milestone, Outcome, Stage, UnobservedReason};
use podinit_core::timestamp::Timestamp;
use podinit_slo::SloFile;

/// Between two questions to a process that can only be asked.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks until nothing is missing.
fn until_nothing_is(missing: impl Fn() -> Vec<String>) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let missing = missing();
        if missing.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still missing: {missing:?}");
        std::thread::sleep(PAUSE);
    }
}

/// What only Events can tell, and what tells of them.
const OF_EVENTS: [(&str, &str, &str); 15] = [
    ("podinit_evidence_up", "source", "events"),
    ("podinit_network_evidence_total", "source", "condition"),
    ("podinit_network_evidence_total", "source", "event"),
    ("podinit_images_total", "source", "pulled"),
    ("podinit_images_total", "source", "present"),
    ("podinit_image_pull_duration_seconds_count", "registry", "docker.io"),
    ("podinit_image_pull_wait_seconds_count", "registry", "docker.io"),
    ("podinit_image_pull_bytes_total", "registry", "docker.io"),
    ("podinit_pod_start_sli_duration_seconds_count", "", ""),
    ("podinit_pod_start_sli_excluded_total", "reason", "static"),
    ("podinit_pod_start_sli_excluded_total", "reason", "preexisting"),
    ("podinit_pod_start_sli_excluded_total", "reason", "gated"),
    ("podinit_pod_start_sli_excluded_total", "reason", "unschedulable"),
    ("podinit_pod_start_sli_excluded_total", "reason", "stateful"),
    ("podinit_kube_events_ignored_total", "reason", "finished"),
];

/// What has no data yet.
fn missing(scrape: &Scrape) -> Vec<String> {
    let mut wanted = vec![
        ("podinit_scheduled_to_ready_duration_seconds_count", "", ""),
        ("podinit_created_to_ready_duration_seconds_count", "", ""),
        ("podinit_pods_discovered_total", "", ""),
        ("podinit_inflight_pods", "", ""),
        ("podinit_oldest_inflight_pod_timestamp_seconds", "", ""),
        ("podinit_watch_delivery_seconds_count", "", ""),
        ("podinit_label_overflow_pods_total", "label", "node"),
        ("podinit_watch_errors_total", "reason", "gone"),
        ("podinit_relists_total", "reason", "gone"),
        ("podinit_slo_events_total", "result", "good"),
        ("podinit_slo_excluded_total", "", ""),
        ("podinit_slo_objective_ratio", "", ""),
        ("podinit_slo_threshold_seconds", "", ""),
        ("podinit_slo_window_seconds", "", ""),
        ("podinit_synced", "", ""),
        ("podinit_build_info", "", ""),
        ("process_cpu_seconds_total", "", ""),
    ];
    wanted.extend(OF_EVENTS);
    let stages = Stage::ALL.map(|stage| stage.as_str());
    wanted.extend(stages.map(|stage| ("podinit_stage_duration_seconds_count", "stage", stage)));
    // No pod moves to another shard where the number of shards stays.
    let away = [Outcome::Moved, Outcome::Rejected];
    let outcomes = (Outcome::ALL.into_iter()).filter(|outcome| !away.contains(outcome));
    let outcomes = outcomes.map(|outcome| outcome.as_str());
    wanted.extend(outcomes.map(|outcome| ("podinit_pods_finished_total", "outcome", outcome)));
    let reasons = UnobservedReason::ALL.map(|reason| reason.as_str());
    wanted.extend(reasons.map(|reason| ("podinit_unobserved_total", "reason", reason)));
    for milestone in Milestone::REENTERABLE {
        wanted.push(("podinit_reentries_total", "milestone", milestone.as_str()));
    }
    // No clock of the fleet is wrong by thirty days. A clock that is ahead has a test of its own.
    for kind in ["rounded", "negative", "missing"] {
        wanted.push(("podinit_clock_anomalies_total", "kind", kind));
    }
    for kind in ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"] {
        wanted.push(("podinit_watch_events_total", "event", kind));
    }
    wanted.retain(|(name, label, value)| match *label {
        "" => scrape.sum(name) == 0.0,
        label => scrape.sum_where(name, label, value) == 0.0,
    });
    let text = |(name, label, value)| format!("{name} {label}={value}");
    wanted.into_iter().map(text).collect()
}

#[test]
fn every_kind_of_series_has_data_and_sigterm_ends_it_in_good_order() {
    let labels = ["--labels", "namespace,node", "--label-cap", "node=3"];
    let pace = ["--speed", "10", "--rate", "4", "--evidence", "events"];
    let demo = Demo::start(&[&pace, labels.as_slice()].concat());
    until_nothing_is(|| match demo.is_ready() {
        true => Vec::new(),
        false => vec!["readiness".to_owned()],
    });
    until_nothing_is(|| {
        let scrape = demo.scrape();
        scrape.assert_conserved();
        missing(&scrape)
    });
    for (accept, content_type) in [
        ("text/plain;version=0.0.4", "text/plain; version=0.0.4"),
        ("application/openmetrics-text;version=1.0.0", "application/openmetrics-text"),
        (
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
            "application/vnd.google.protobuf",
        ),
    ] {
        let (head, body) = demo.get("/metrics", accept);
        assert!(head.contains(content_type), "{head}");
        let name = b"podinit_stage_duration_seconds";
        assert!(body.windows(name.len()).any(|part| part == name), "{accept}");
    }
    let (head, body) = demo.get("/", "text/html");
    assert!(head.contains("text/html") && !body.is_empty());
    assert!(demo.terminate(), "SIGTERM is no failure");
}

/// A clock that is ahead shows where an event arrives before the second that it states: in time that a test
/// steps, that is so on any machine.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_ahead_is_in_the_simulated_cluster() {
    let config = ClusterConfig {
        start: Some(Timestamp::from_seconds(1_790_000_000)),
        stepped: true,
        ..ClusterConfig::default()
    };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    // It takes no silence for a fault: a list after one would tell of no arrivals.
    let no_slos = SloFile { slos: Vec::new() };
    let mut pipeline = Pipeline::judging(&cluster, &no_slos).await;
    for _ in 0..40 {
        cluster.step(Duration::from_millis(250));
        let marker = json!({"metadata": {"namespace": "demo", "name": "marker", "uid": "marker"}});
        let version = cluster.put_json(marker).unwrap();
        pipeline.catch_up("demo", "marker", version).await;
    }
    let scrape = pipeline.scrape();
    let anomalies = "podinit_clock_anomalies_total";
    let skewed = scrape.sum_where(anomalies, "kind", "skew");
    let seen: Vec<_> = scrape.of_name(anomalies).collect();
    assert!(skewed > 0.0, "{seen:?}");
}

#[test]
fn it_ends_by_itself_after_the_chosen_duration() {
    let demo = Demo::start(&["--duration", "300ms"]);
    assert!(demo.ends_well());
}

#[test]
fn in_an_outage_only_the_deadlines_tell_of_the_pods() {
    // Events tell of sandboxes that were made before.
    let demo = Demo::start(&["--outage-after", "0s", "--speed", "20", "--evidence", "none"]);
    let events = |scrape: &Scrape, result| {
        let series =
            format!("podinit_slo_events_total{{slo=\"network-ready\",result=\"{result}\"}}");
        scrape.value(&series).unwrap_or(0.0)
    };
    until_nothing_is(|| match events(&demo.scrape(), "bad") {
        0.0 => vec!["a deadline that passed".to_owned()],
        _ => Vec::new(),
    });
    let scrape = demo.scrape();
    assert_eq!(events(&scrape, "good"), 0.0);
    let name = "podinit_stage_duration_seconds_count";
    assert_eq!(scrape.sum_where(name, "stage", "network"), 0.0);
    assert!(demo.terminate());
}

/// As in an image that holds nothing but podinit.
#[test]
fn it_needs_no_certificates_of_the_system() {
    let output = podinit(["demo", "--listen", "127.0.0.1:0", "--duration", "1s"])
        .env("SSL_CERT_FILE", "/nonexistent")
        .env("SSL_CERT_DIR", "/nonexistent")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// Standard error on a full disk, and a pipe without a reader.
#[test]
fn a_log_that_cannot_be_written_does_not_end_the_process() {
    let full_disk = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let start = |stderr| {
        let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["demo", "--listen", "127.0.0.1:0", "--duration", "2s"])
            .args(["--log-level", "debug"])
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .unwrap();
        drop(process.stderr.take());
        process
    };
    for mut process in [Stdio::from(full_disk.unwrap()), Stdio::piped()].map(start) {
        let status = process.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// The page at `/` leads to pages of pods, loads nothing from elsewhere, and stops loading again when asked.
#[test]
fn the_page_leads_to_pages_of_pods() {
    let demo = Demo::start(&["--rate", "20", "--speed", "20"]);
    let began = Instant::now();
    let pod = loop {
        assert!(began.elapsed() < PATIENCE, "no pod on the page has a page");
        let (_, page) = demo.get("/", "text/html");
        let page = String::from_utf8(page).unwrap();
        let links = page.split("href=\"").skip(1);
        let paths = links.filter_map(|link| link.split('"').next());
        let mut pods = paths.filter(|path| path.starts_with("pods/"));
        let mut answers = pods.by_ref().map(|path| demo.get(&format!("/{path}"), "text/html"));
        if let Some((_, pod)) = answers.find(|(head, _)| head.starts_with("HTTP/1.1 200 ")) {
            break String::from_utf8(pod).unwrap();
        }
        std::thread::sleep(PAUSE);
    };
    assert!(pod.contains("<h2 id=\"timeline\">Timeline</h2>"), "{pod}");

    let (head, _) = demo.get("/", "text/html");
    assert!(head.contains("default-src 'none'; style-src 'self'; script-src 'self';"), "{head}");
    let page = |path| String::from_utf8(demo.get(path, "text/html").1).unwrap();
    assert!(page("/").contains("<body data-refresh=\"10\">"));
    let still = page("/?refresh=off");
    assert!(still.contains("<body>") && still.contains("does not load again by itself"));
    let none = page("/?namespace=no-such");
    assert!(none.contains("namespace <strong>no-such</strong></span>: 0 in flight"), "{none}");
    let (head, fault) = demo.get("/?cause=no-such", "text/html");
    assert!(head.starts_with("HTTP/1.1 400 ") && fault.starts_with(b"there is no cause no-such"));
    for (path, kind) in [("/page.js", "text/javascript"), ("/favicon.svg", "image/svg+xml")] {
        let (head, _) = demo.get(path, kind);
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
    }
    let (head, style) = demo.get("/style.css", "text/css");
    assert!(head.contains("content-type: text/css"), "{head}");
    assert_eq!(String::from_utf8(style).unwrap(), podinit_oncall::page::style());
    let (head, _) = demo.get("/pods/no-such/pod", "text/html");
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    assert!(demo.terminate());
}

/// Its commands reach it, whatever the environment says, as long as it runs.
#[test]
fn its_kubeconfig_is_named_wherever_a_command_is_and_gone_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = directory.path().join("kubeconfig");
    let path = kubeconfig.to_str().unwrap();
    let demo = Demo::start(&["--write-kubeconfig", path, "--rate", "20", "--speed", "20"]);
    let ask = |args: &[&str]| String::from_utf8_lossy(&run(args).stdout).into_owned();
    let url = format!("http://{}", demo.address);
    let worst = ["explain", "-o", "json"];
    for source in [["--url", &url], ["--kubeconfig", path]] {
        until_nothing_is(|| {
            let text = ask(&[&worst[..], &source[..]].concat());
            let answer: Value = serde_json::from_str(&text).unwrap_or_default();
            let next = answer["worst"][0]["next"].as_str().unwrap_or_default();
            match next.starts_with(&format!("kubectl --kubeconfig {path} ")) {
                true => Vec::new(),
                false => vec![format!("{source:?}: {text}")],
            }
        });
    }
    let (_, problems) = demo.get("/api/v1/problems", "application/json");
    let problems: Value = serde_json::from_slice(&problems).unwrap();
    assert_eq!(problems["freshness"]["kubeconfig"], path);
    assert!(demo.terminate());
    assert!(!kubeconfig.exists());
}

/// The path that others name `--web.telemetry-path`: the page leads there, and what else it leads to cannot be that path.
#[test]
fn metrics_are_where_the_page_says_and_take_no_other_place() {
    let demo = Demo::start(&["--web.telemetry-path", "/podinit/metrics"]);
    let status = |path: &str| demo.get(path, "*/*").0.split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status("/podinit/metrics"), "200");
    assert_eq!(status("/metrics"), "404");
    let (_, page) = demo.get("/", "*/*");
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("<a href=\"podinit/metrics\">/podinit/metrics</a>"), "{page}");
    let led_to = page.split(" href=\"").chain(page.split(" src=\"")).skip(1);
    let led_to = led_to.filter_map(|rest| rest.split_once('"')).map(|(path, _)| path);
    let paths: BTreeSet<&str> =
        led_to.filter(|path| path.ends_with(char::is_alphanumeric)).collect();
    assert!(paths.len() > 6, "{paths:?}");
    for path in paths.into_iter().filter(|path| *path != "podinit/metrics") {
        let line = ["podinit", "--metrics-path", &format!("/{path}")].map(Into::into);
        assert!(args::Command::parse(line).is_err(), "{path}");
    }
    assert!(demo.terminate());
}
