//! Changes of the machine's clock, and pauses of the process, change no metric: runs the exporter's loop
//! against a simulated cluster whose time is the true one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;

use super::ingest::IngestTask;
use super::ingest_sink::IngestSink;
use super::saving::SnapshotService;
use super::slos::ExporterSlos;
use podinit_core::lifecycle::{TimestampMode, Tracker, TrackerConfig};
use podinit_core::timestamp::NANOS_PER_SECOND;
use podinit_expo::metrics::{Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig};
use podinit_http::ProcessHealth;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::client;
use podinit_kube::cluster::clock::{ClockCorrections, DeliveryClock};
use podinit_kube::watch::probe::probe;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::faults::StreamFault;
use podinit_sim::scene::Scene;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use podinit_slo::SloFile;

const HOUR: i64 = 3600;
const TICK: Duration = Duration::from_millis(250);

const SLOS: &str = "
slos:
- {name: quick, interval: network, threshold: 2s, objective: 99, window: 1d}
- {name: network, interval: network, threshold: 10s, objective: 99, window: 1d}
- {name: ready, interval: scheduled_to_ready, threshold: 30s, objective: 99, window: 1d}
- {name: whole, interval: created_to_ready, threshold: 2m, objective: 99, window: 1d}
";

/// An exporter and a simulated cluster. The clock of the exporter's machine is off by some seconds.
struct Fixture {
    cluster: SimulatedCluster,
    off: Arc<AtomicI64>,
    clock: Arc<ApiServerClock>,
    exposition: Arc<Exposition>,
    shutdown: CancellationToken,
    tasks: JoinSet<()>,
    /// The newest versions of each tick that the watch does not show yet
    hidden: Mutex<VecDeque<u64>>,
}

impl Fixture {
    /// Probes the cluster and starts to watch it, as `podinit serve` does.
    async fn start(off: i64) -> Self {
        Self::start_with(off, in_process).await
    }

    /// The same with the client that `connect` makes.
    async fn start_with(
        off: i64,
        connect: impl Fn(&SimulatedCluster) -> client::ClusterClient,
    ) -> Self {
        let simulated = ClusterConfig {
            rate: 2.0,
            seed: 5,
            preexisting: 40,
            // The history is so long that the exporter never has to relist.
            history: 1_000_000,
            ..ClusterConfig::manual()
        };
        let cluster = SimulatedCluster::start(simulated).await.unwrap();
        let off = Arc::new(AtomicI64::new(off));
        let (wall, error, passed) = (cluster.clock(), Arc::clone(&off), cluster.clock());
        let began = passed.now();
        let clock = Arc::new(ApiServerClock::new(
            move || wall.now().plus_nanos(error.load(Relaxed) * NANOS_PER_SECOND),
            move || Duration::from_nanos(passed.now().nanos_since(began).unsigned_abs()),
        ));
        let api = connect(&cluster).observing_dates(Arc::clone(&clock));
        let (scope, selectors) = (PodScope::Cluster, PodSelectors::default());
        probe(&api, &scope, &selectors, 1, TICK).await.unwrap();

        let stats = Arc::new(WatchStats::new(1));
        let slos = ExporterSlos::from(&SloFile::parse("slos", SLOS.as_bytes()).unwrap());
        let (recorder, exposition) = ExpositionBuilder::new(LabelConfig::default())
            .slos(slos.docs)
            .watch(stats.clone())
            .build()
            .unwrap();
        let (sender, deliveries) = mpsc::channel(64);
        let health = ProcessHealth::new();
        let ingest = IngestTask {
            tracker: Tracker::new(TrackerConfig {
                timestamps: TimestampMode::Fused,
                slos: slos.rules,
                deadlines_at_once: 1,
                ..TrackerConfig::default()
            }),
            sink: IngestSink::new(recorder),
            deliveries,
            events: mpsc::channel(1).1,
            clock: clock.clone(),
            sources: vec![health.register_source("pods".to_owned())],
            heartbeat: health.register_task("ingest", Duration::from_secs(60)),
            slos: mpsc::channel(1).1,
            stats: Arc::clone(&stats),
            snapshots: SnapshotService::none(),
        };
        let mut watch = WatchConfig { scopes: vec![scope], ..WatchConfig::default() };
        watch.reflector.seed = Some(7);
        let shutdown = CancellationToken::new();
        let mut tasks = spawn(&api.client, &watch, clock.clone(), &stats, &sender, &shutdown);
        tasks.spawn(ingest.run(shutdown.clone()));
        let hidden = Mutex::default();
        let fixture = Self { cluster, off, clock, exposition, shutdown, tasks, hidden };
        tokio::time::sleep(TICK).await;
        fixture
    }

    /// Lets `seconds` pass, for the cluster and for the exporter.
    async fn pass(&self, seconds: u64) {
        for _ in 0..4 * seconds {
            self.cluster.step(TICK);
            tokio::time::sleep(TICK).await;
        }
    }

    /// Lets `seconds` pass in which the watch falls behind, by half a second each second and up to so many.
    async fn pass_late(&self, seconds: usize, most: usize) {
        for tick in 0..4 * seconds {
            self.cluster.step(TICK);
            self.hide(tick % 2 == 0, 4 * most);
            tokio::time::sleep(TICK).await;
        }
    }

    /// Hides what is newest from the watch, and shows the oldest hidden version if it is `due` or more are hidden than that.
    fn hide(&self, due: bool, most: usize) {
        let mut hidden = self.hidden.lock().unwrap();
        hidden.push_back(self.cluster.store().version());
        if due || hidden.len() > most {
            let until = hidden.pop_front();
            self.cluster.faults().set_modes(|modes| modes.watches_until = until);
        }
    }

    /// The watch is in time again: all that it has not shown comes at once.
    fn catch_up(&self) {
        self.hidden.lock().unwrap().clear();
        self.cluster.faults().set_modes(|modes| modes.watches_until = None);
    }

    /// No pod gets a sandbox for `seconds`: pods that start in this time miss deadlines.
    async fn outage(&self, seconds: u64) {
        self.cluster.set_broken(Some(Scene::CniOutage));
        self.pass(seconds).await;
        self.cluster.set_broken(None);
    }

    fn set_off(&self, seconds: i64) {
        self.off.store(seconds, Relaxed);
    }

    /// Stops the exporter. The lines of the exposition that are about pods.
    async fn end(mut self) -> Vec<String> {
        self.shutdown.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            ended.unwrap();
        }
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let of_pods = |line: &&str| {
            !line.starts_with('#')
                && !line.starts_with("podinit_watch_last_contact_timestamp_seconds")
        };
        text.lines().filter(of_pods).map(str::to_owned).collect()
    }
}

/// A client of the simulated API server without a socket.
fn in_process(cluster: &SimulatedCluster) -> client::ClusterClient {
    connected(cluster, |answer| answer)
}

/// The same behind a proxy that drops the dates of answers.
fn without_dates(cluster: &SimulatedCluster) -> client::ClusterClient {
    connected(cluster, |mut answer| {
        answer.headers_mut().remove(http::header::DATE);
        answer
    })
}

fn connected(
    cluster: &SimulatedCluster,
    proxy: fn(axum::response::Response) -> axum::response::Response,
) -> client::ClusterClient {
    client::ClusterClient {
        credentials: None,
        client: Client::new(
            ServiceBuilder::new()
                .map_request(|request: http::Request<kube::client::Body>| {
                    request.map(axum::body::Body::new)
                })
                .map_response(proxy)
                .service(cluster.router()),
            "default",
        ),
        server: "the simulated cluster".to_owned(),
        origin: "the test".to_owned(),
        authority: Vec::new(),
        proxy: None,
        unverified: false,
    }
}

/// Seven minutes of a cluster with an outage. The machine's clock is off by `off[0]` seconds at the start,
/// and by the next value from each further phase on. Also returns how often it stepped and jumped.
async fn minutes(off: [i64; 5]) -> (Vec<String>, (u64, u64)) {
    let fixture = Fixture::start(off[0]).await;
    fixture.pass(60).await;
    fixture.set_off(off[1]);
    fixture.pass(100).await;
    fixture.set_off(off[2]);
    fixture.outage(45).await;
    fixture.set_off(off[3]);
    fixture.pass(100).await;
    fixture.set_off(off[4]);
    fixture.pass(120).await;
    let ClockCorrections { steps, seconds, .. } = fixture.clock.corrections();
    assert!(steps > 0 || seconds == 0.0);
    let jumps = fixture.clock.read().jumps;
    (fixture.end().await, (steps, jumps))
}

fn value(lines: &[String], series: &str) -> f64 {
    let line = lines.iter().find_map(|line| line.strip_prefix(series));
    let line = line.unwrap_or_else(|| panic!("{series} is absent"));
    line.trim().parse().unwrap()
}

fn sum(lines: &[String], name: &str) -> f64 {
    let of_name = lines.iter().filter(|line| line.split(['{', ' ']).next() == Some(name));
    of_name.map(|line| value(std::slice::from_ref(line), line.rsplit_once(' ').unwrap().0)).sum()
}

/// A clock that is off like this, with so many steps of it, changes no metric.
async fn changes_no_metric(offs: &[([i64; 5], u64)]) {
    let (truth, corrections) = minutes([0; 5]).await;
    assert_eq!(corrections, (0, 0));
    // There is enough in the run to compare.
    for verdict in ["good", "bad"] {
        let series = format!("podinit_slo_events_total{{slo=\"network\",result=\"{verdict}\"}}");
        assert!(value(&truth, &series) > 50.0, "{series}");
    }
    assert!(sum(&truth, "podinit_stage_duration_seconds_count") > 1000.0);
    assert!(sum(&truth, "podinit_watch_delivery_seconds_count") > 500.0);

    for &(off, steps) in offs {
        let (measured, corrections) = minutes(off).await;
        let differences: Vec<_> = truth.iter().zip(&measured).filter(|(a, b)| a != b).collect();
        assert_eq!(measured.len(), truth.len());
        assert!(differences.is_empty(), "{off:?}: {differences:#?}");
        assert_eq!(corrections, (steps, 0), "{off:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_stepped_by_an_hour_changes_no_metric() {
    changes_no_metric(&[([0, HOUR, -HOUR, 0, HOUR], 4)]).await;
}

/// `Date` headers are truncated to the second, so instants of observation may differ from the true ones
/// by that much; but estimates stay within the second that the API states
/// ([§4.3](crate::specification#s4-3)).
async fn does_no_harm(off: i64) {
    let (truth, _) = minutes([0; 5]).await;
    let (measured, corrections) = minutes([off; 5]).await;
    assert_eq!(corrections, (1, 1));
    for name in ["podinit_pods_discovered_total", "podinit_pods_finished_total"] {
        assert_eq!(sum(&measured, name), sum(&truth, name), "{name}, off by {off} s");
    }
    // Some nodes of the simulated cluster have clocks that are off by a second, so their
    // intervals lie on the boundary between rounded and negative, which is not observed (`time`).
    let seen = |lines: &[String]| {
        let unobserved = sum(lines, "podinit_unobserved_total");
        let by_time = lines.iter().filter(|line| {
            line.starts_with("podinit_unobserved_total") && line.contains("reason=\"time\"")
        });
        let by_time = by_time.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap());
        unobserved - by_time.sum::<f64>()
    };
    assert_eq!(seen(&measured), seen(&truth), "off by {off} s");
    for name in [
        "podinit_stage_duration_seconds_count",
        "podinit_step_duration_seconds_count",
        "podinit_created_to_ready_duration_seconds_count",
        "podinit_slo_excluded_total",
        "podinit_watch_delivery_seconds_count",
    ] {
        let (measured, truth) = (sum(&measured, name), sum(&truth, name));
        assert!((measured - truth).abs() <= 0.02 * truth, "{name}: {measured}, not {truth}");
    }
    for name in [
        "podinit_stage_duration_seconds",
        "podinit_created_to_ready_duration_seconds",
        "podinit_watch_delivery_seconds",
    ] {
        let difference =
            sum(&measured, &format!("{name}_sum")) - sum(&truth, &format!("{name}_sum"));
        let most = sum(&truth, &format!("{name}_count"));
        assert!(difference.abs() <= most, "{name} differs by {difference} s in {most}");
    }
    for slo in ["network", "ready", "whole"] {
        let bad = format!("podinit_slo_events_total{{slo=\"{slo}\",result=\"bad\"}}");
        let (measured, truth) = (value(&measured, &bad), value(&truth, &bad));
        assert!(
            (measured - truth).abs() <= (0.02 * truth).max(2.0),
            "{bad}: {measured}, not {truth}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_wrong_from_the_start_does_no_harm() {
    does_no_harm(-HOUR).await;
}

/// Without dates nothing corrects the machine's clock, whether it is right or not: pods that are shown late would move one
/// that is right.
#[tokio::test(start_paused = true)]
async fn without_dates_nothing_corrects_the_clock() {
    for off in [0, 46, -HOUR] {
        let fixture = Fixture::start_with(off, without_dates).await;
        fixture.pass(20).await;
        fixture.pass_late(120, 46).await;
        let corrections = fixture.clock.corrections();
        assert_eq!(corrections, ClockCorrections { steps: 0, seconds: 0.0, unchecked: true });
        assert!(fixture.end().await.iter().any(|line| line.starts_with("podinit_watch_lag")));
    }
}

/// The API server delivers ever later, up to a minute, for ten minutes. One node brings up no sandbox meanwhile.
#[tokio::test(start_paused = true)]
async fn late_deliveries_make_no_pod_bad_and_all_are_judged_afterwards() {
    let run = async |late: bool| {
        let fixture = Fixture::start(0).await;
        fixture.cluster.set_broken(Some(Scene::BadNode));
        fixture.pass(60).await;
        let lag = match late {
            true => {
                fixture.pass_late(600, 60).await;
                let text = fixture.exposition.encode(ExpositionFormat::Text).unwrap();
                let lines: Vec<_> =
                    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
                assert_eq!(value(&lines, "podinit_synced"), 1.0);
                let judged = value(&lines, "podinit_deadlines_judged_timestamp_seconds");
                let behind = fixture.clock.now().as_seconds_f64() - judged;
                assert!((118.0..125.0).contains(&behind), "judged {behind} s ago");
                value(&lines, "podinit_watch_lag_seconds")
            }
            false => {
                fixture.pass(600).await;
                0.0
            }
        };
        fixture.catch_up();
        fixture.pass(180).await;
        (lag, fixture.end().await)
    };
    let (_, truth) = run(false).await;
    let (lag, measured) = run(true).await;
    assert!((59.0..61.0).contains(&lag), "{lag}");
    for slo in ["quick", "network", "ready", "whole"] {
        for result in ["good", "bad"] {
            let series = format!("podinit_slo_events_total{{slo=\"{slo}\",result=\"{result}\"}}");
            let (truth, measured) = (value(&truth, &series), value(&measured, &series));
            println!("{series}: {measured}, in time {truth}");
            // A pod near the threshold is judged by the middle of its second, which is much for 2 s.
            let near = if slo == "quick" { 0.05 * truth } else { 0.01 * truth };
            let difference = (measured - truth).abs();
            assert!(difference <= near.max(3.0), "{series}: {measured}, not {truth}");
        }
    }
    assert!(value(&measured, "podinit_watch_lag_seconds") < 1.0, "it is in time again");
}

/// The good, bad and excluded pods of the SLO `network` in thirteen minutes, of which `absent` takes ten.
/// One node brings up no sandbox, so that pods miss their deadlines all the time.
async fn slo_events(absent: impl AsyncFnOnce(&Fixture)) -> [f64; 3] {
    let fixture = Fixture::start(0).await;
    fixture.cluster.set_broken(Some(Scene::BadNode));
    fixture.pass(60).await;
    absent(&fixture).await;
    fixture.pass(120).await;
    let lines = fixture.end().await;
    let of = |result: &str| {
        let series = format!("podinit_slo_events_total{{slo=\"network\",result=\"{result}\"}}");
        value(&lines, &series)
    };
    let excluded = lines.iter().filter(|line| line.contains("excluded_total{slo=\"network\""));
    let excluded = excluded.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap());
    [of("good"), of("bad"), excluded.sum()]
}

const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Ten minutes that are `absent` make no pod bad.
async fn make_no_pod_bad(absent: impl AsyncFnOnce(&Fixture)) {
    let [good, bad, excluded] = slo_events(async |fixture| fixture.pass(600).await).await;
    assert!(good > 900.0 && bad > 20.0, "{good} good, {bad} bad");
    let measured = slo_events(absent).await;
    // Every pod is judged. The events of ten minutes arrive at once, so a pod that missed its
    // deadline and was deleted is known only as deleted, and a pod near the threshold is judged
    // by the middle of its second.
    assert_eq!(measured.iter().sum::<f64>(), good + bad + excluded);
    assert!((measured[0] - good).abs() <= 0.005 * good, "{measured:?}, not {good} good");
    assert!(measured[1] <= bad + 3.0 && measured[1] >= 0.8 * bad, "{measured:?}, not {bad} bad");
}

/// The process is stopped: when it continues, every timer is due at once.
#[tokio::test(start_paused = true)]
async fn ten_minutes_without_the_processor_make_no_pod_bad() {
    make_no_pod_bad(async |fixture| {
        fixture.cluster.step(TEN_MINUTES);
        tokio::time::advance(TEN_MINUTES).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_while_the_clock_is_off_changes_no_metric() {
    let run = async |off: i64| {
        let fixture = Fixture::start(0).await;
        fixture.pass(40).await;
        fixture.set_off(off);
        for fault in [StreamFault::Cut, StreamFault::Gone, StreamFault::End] {
            fixture.cluster.faults().stream(fault);
            fixture.pass(40).await;
        }
        fixture.end().await
    };
    let truth = run(0).await;
    assert_eq!(run(HOUR).await, truth);
    assert_eq!(run(-HOUR).await, truth);
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_clock_that_is_stepped_in_other_ways_changes_no_metric() {
        let [ahead, behind] = [HOUR, -HOUR].map(|off| ([0, off, off, off, off], 1));
        changes_no_metric(&[ahead, behind, ([0, 0, -HOUR, HOUR, 0], 3)]).await;
    }

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn a_clock_that_is_ahead_from_the_start_does_no_harm() {
        does_no_harm(HOUR).await;
    }

    /// The machine is suspended: the clock of the runtime's timers does not advance meanwhile.
    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn ten_minutes_of_sleep_make_no_pod_bad() {
        make_no_pod_bad(async |fixture| {
            fixture.cluster.step(TEN_MINUTES);
        })
        .await;
    }
}
