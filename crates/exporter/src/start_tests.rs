//! A task that panics or returns ends the exporter with one line, and one that hangs fails `/livez`.
//! The tests use clocks that panic or hang.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use podinit_connect::connect_to;
use podinit_core::timestamp::Timestamp;
use podinit_kube::watch::requests::PodScope;
use podinit_sim::{ClusterConfig, SimulatedCluster};

/// For a test that fails.
const PATIENCE: Duration = Duration::from_secs(600);

/// Between two questions to a server that can only be asked.
const PAUSE: Duration = Duration::from_millis(50);

fn exporter(cluster: &SimulatedCluster, config: ExporterConfig) -> Exporter {
    let watch = WatchConfig {
        scopes: vec![PodScope::Cluster],
        decode: config.labels.decode_options(),
        ..WatchConfig::default()
    };
    let clock = cluster.clock();
    let clock = Arc::new(move || clock.now());
    Exporter::bind(config, ExporterOptions::default(), watch, clock).unwrap()
}

async fn simulated() -> (SimulatedCluster, ClusterClient) {
    let config = ClusterConfig { rate: 50.0, speed: 10.0, ..ClusterConfig::default() };
    let simulated = SimulatedCluster::start(config).await.unwrap();
    let cluster = connect_to(simulated.url(), "the test".to_owned());
    let cluster = cluster.await.unwrap();
    (simulated, cluster)
}

fn panicking() -> Arc<dyn DeliveryClock> {
    Arc::new(|| -> Timestamp { panic!("as a bug would") })
}

/// Why the exporter ended, in one line. It must end by itself.
async fn why_it_ended(exporter: Exporter, cluster: &ClusterClient) -> String {
    let run = exporter.run(cluster, CancellationToken::new());
    let ended = tokio::time::timeout(PATIENCE, run).await;
    let error = ended.expect("it continues with stale figures").unwrap_err();
    let text = format!("{error:#}");
    assert!(!text.contains('\n'), "{text}");
    text
}

/// What a probe answers.
async fn probe(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: podinit\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn accounting_that_panics_ends_the_exporter() {
    let (simulated, cluster) = simulated().await;
    let mut exporter = exporter(&simulated, ExporterConfig::for_tests());
    exporter.pipeline.ingest.clock = panicking();
    let why = why_it_ended(exporter, &cluster).await;
    assert!(why.starts_with("a task has failed"), "{why}");
    assert!(why.ends_with("podinit ends, since its figures would go stale"), "{why}");
}

#[tokio::test]
async fn a_watch_that_panics_ends_the_exporter() {
    let (simulated, cluster) = simulated().await;
    let mut exporter = exporter(&simulated, ExporterConfig::for_tests());
    exporter.pipeline.clock = panicking();
    let why = why_it_ended(exporter, &cluster).await;
    assert!(why.starts_with("a task has failed"), "{why}");
}

#[tokio::test]
async fn a_reload_of_the_slo_file_that_panics_ends_the_exporter() {
    let (simulated, cluster) = simulated().await;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), podinit_slo::file::DEFAULT_TEXT).unwrap();
    let slo = Some(file.path().to_owned());
    let mut exporter = exporter(&simulated, ExporterConfig { slo, ..ExporterConfig::for_tests() });
    exporter.pipeline.slo_reload.as_mut().unwrap().clock = panicking();
    let why = why_it_ended(exporter, &cluster).await;
    assert!(why.starts_with("a task has failed"), "{why}");
}

#[tokio::test]
async fn a_task_of_somebody_else_that_panics_ends_the_exporter() {
    let (simulated, cluster) = simulated().await;
    let exporter = exporter(&simulated, ExporterConfig::for_tests());
    let exporter = exporter.running("a view", &Handle::current(), |_| async { panic!("a fault") });
    let why = why_it_ended(exporter, &cluster).await;
    assert!(why.starts_with("a task has failed"), "{why}");
}

#[tokio::test]
async fn accounting_that_returns_ends_the_exporter() {
    let (simulated, cluster) = simulated().await;
    let mut exporter = exporter(&simulated, ExporterConfig::for_tests());
    // A queue without a sender, as if all watches had ended.
    exporter.pipeline.ingest.deliveries = mpsc::channel(1).1;
    let why = why_it_ended(exporter, &cluster).await;
    let expected = "the ingest task has ended; podinit ends too, since its figures would go stale";
    assert!(why == expected || why.starts_with("a watch has ended"), "{why}");
}

/// A clock that blocks its readers while it is held. A thread that waits here gives its other tasks
/// away first: only the one task hangs, and not what happens to share its thread (which could be the
/// test's own timeout).
#[derive(Default)]
struct Held {
    is_held: Mutex<bool>,
    let_go: Condvar,
}

impl Held {
    fn hold(&self, is_held: bool) {
        *self.is_held.lock().unwrap() = is_held;
        self.let_go.notify_all();
    }

    fn wait(&self) {
        tokio::task::block_in_place(|| {
            let held = self.is_held.lock().unwrap();
            drop(self.let_go.wait_while(held, |held| *held).unwrap());
        });
    }
}

/// Releases the clock at the end of a failed test too, since the runtime waits for the thread that hangs.
struct LetGo(Arc<Held>);

impl Drop for LetGo {
    fn drop(&mut self) {
        self.0.hold(false);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn accounting_that_hangs_fails_livez_within_its_deadline_and_says_so() {
    let (simulated, cluster) = simulated().await;
    let mut exporter = exporter(&simulated, ExporterConfig::for_tests());
    let held = Arc::new(Held::default());
    let let_go = LetGo(Arc::clone(&held));
    let (clock, its) = (simulated.clock(), Arc::clone(&held));
    exporter.pipeline.ingest.clock = Arc::new(move || {
        its.wait();
        clock.now()
    });
    let brief = exporter.pipeline.health.register_task("ingest", Duration::from_secs(3));
    std::mem::replace(&mut exporter.pipeline.ingest.heartbeat, brief).finish();
    let address = exporter.address();
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    let run = tokio::spawn(async move { exporter.run(&cluster, stop).await });
    // On a slow machine a heartbeat can be late, the more so while it is asked all the time.
    while !probe(address, "/livez").await.starts_with("HTTP/1.1 200") {
        tokio::time::sleep(PAUSE).await;
    }
    held.hold(true);
    let failed = async {
        loop {
            let answer = probe(address, "/livez").await;
            if answer.starts_with("HTTP/1.1 503") {
                return answer;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let answer = tokio::time::timeout(PATIENCE, failed).await.unwrap();
    assert!(answer.contains("task ingest has sent no heartbeat for"), "{answer}");
    drop(let_go);
    shutdown.cancel();
    run.await.unwrap().unwrap();
}

/// A checkpoint can be so large that it takes longer than probes wait.
#[tokio::test]
async fn while_a_checkpoint_is_read_the_process_lives_is_not_ready_and_can_be_ended() {
    let (simulated, _) = simulated().await;
    let exporter = exporter(&simulated, ExporterConfig::for_tests());
    let address = exporter.address();
    let shutdown = CancellationToken::new();
    let serving = exporter.serve(&shutdown);
    let (let_go, hang) = std::sync::mpsc::channel::<()>();
    let ends = shutdown.clone();
    let reading = tokio::spawn(async move {
        let read = serving.aside(&ends, move |_| hang.recv().is_ok()).await.unwrap();
        read.map(|(_, read)| read)
    });
    let live = probe(address, "/livez").await;
    assert!(live.starts_with("HTTP/1.1 200"), "{live}");
    let ready = probe(address, "/readyz").await;
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    shutdown.cancel();
    assert_eq!(reading.await.unwrap(), None, "the read has not ended");
    drop(let_go);
}

#[tokio::test]
async fn what_was_done_beside_the_server_is_there_afterwards() {
    let (simulated, cluster) = simulated().await;
    let exporter = exporter(&simulated, ExporterConfig::for_tests());
    let health = exporter.health();
    let shutdown = CancellationToken::new();
    let serving = exporter.serve(&shutdown);
    let done = serving.aside(&shutdown, |pipeline| {
        pipeline.waits_for.set(Some("a test".to_owned()));
        7
    });
    let (serving, seven) = done.await.unwrap().unwrap();
    assert_eq!((seven, serving.pipeline.waits_for.what().as_deref()), (7, Some("a test")));
    assert_eq!(health.liveness(), Ok(()));
    shutdown.cancel();
    serving.watch_until(&cluster, shutdown).await.unwrap();
}
