//! The start in front of an API server that does not answer yet, or not well: it waits, serves meanwhile,
//! and is in sync with exact counts once the API server is well. In paused time.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::response::IntoResponse;
use bytes::Bytes;
use futures::future::{BoxFuture, pending};
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::*;
use crate::config::ExporterConfig;
use crate::saving::{SnapshotService, StateCheckpoint};
use crate::scrapes::ScrapeSource;
use crate::start::ExporterOptions;
use podinit_core::shard::Shard;
use podinit_http::{ProcessHealth, ScrapeTarget};
use podinit_instruments::ExpositionFormat;
use podinit_kube::watch::requests::PodScope;
use podinit_sim::faults::StreamFault;
use podinit_sim::{ClusterConfig, SimulatedCluster};

/// What is wrong between podinit and the API server.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The connection fails, for this reason
    NoConnection(&'static str),
    /// Names are not resolved, or packets are dropped
    Silence,
    /// The answer has a head, and then a byte in a second
    Drip,
    /// An answer with this status
    Status(u16),
    /// An answer of something else
    Foreign,
    /// This namespace is forbidden, and all else is well
    ForbiddenIn(&'static str),
}

const FAULTS: [Fault; 14] = [
    Fault::NoConnection("Connection refused (os error 111)"),
    Fault::NoConnection("No route to host (os error 113)"),
    Fault::NoConnection("failed to lookup address information: Try again"),
    Fault::NoConnection("tls handshake eof"),
    Fault::NoConnection("received fatal alert: HandshakeFailure"),
    Fault::NoConnection("invalid peer certificate: UnknownIssuer"),
    Fault::Silence,
    Fault::Drip,
    Fault::Status(401),
    Fault::Status(403),
    Fault::Status(404),
    Fault::Status(429),
    Fault::Status(503),
    Fault::Foreign,
];

type Present = Arc<Mutex<Option<Fault>>>;

/// A simulated API server behind a fault that can pass.
#[derive(Clone)]
struct Faulty {
    fault: Present,
    router: axum::Router,
}

impl tower::Service<Request<Body>> for Faulty {
    type Response = Response<axum::body::Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let fault = *self.fault.lock().unwrap();
        let is_hit = |fault: &Fault| match fault {
            Fault::ForbiddenIn(namespace) => {
                let path = format!("/namespaces/{namespace}/");
                request.uri().path().contains(&path)
            }
            _ => true,
        };
        let Some(fault) = fault.filter(is_hit) else {
            let answer = self.router.clone().oneshot(request.map(axum::body::Body::new));
            return Box::pin(async move { Ok(answer.await.unwrap()) });
        };
        Box::pin(async move {
            match fault {
                Fault::NoConnection(why) => Err(kube::Error::Service(io::Error::other(why).into())),
                Fault::Silence => pending().await,
                Fault::Drip => Ok(Response::new(axum::body::Body::from_stream(drip()))),
                Fault::Status(code) => Ok(StatusCode::from_u16(code).unwrap().into_response()),
                Fault::Foreign => Ok("<html>It works!</html>".into_response()),
                Fault::ForbiddenIn(_) => Ok(StatusCode::FORBIDDEN.into_response()),
            }
        })
    }
}

fn drip() -> impl futures::Stream<Item = io::Result<Bytes>> {
    futures::stream::unfold((), |()| async {
        sleep(Duration::from_secs(1)).await;
        Some((Ok(Bytes::from_static(b" ")), ()))
    })
}

/// What is asked of a start.
#[derive(Clone, Copy, Default)]
struct Asked<'a> {
    /// None for all
    namespaces: &'a [&'a str],
    state_dir: Option<&'a Path>,
    limit: Option<Duration>,
}

/// A start behind a fault.
struct Started {
    simulated: Arc<SimulatedCluster>,
    fault: Present,
    scrapes: Arc<ScrapeSource>,
    health: ProcessHealth,
    shutdown: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Started {
    async fn behind(fault: Fault, asked: &Asked<'_>) -> Self {
        let simulated = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        put(&simulated, "old-1");
        put(&simulated, "old-2");
        Self::from_cluster(Arc::new(simulated), fault, asked)
    }

    fn from_cluster(simulated: Arc<SimulatedCluster>, fault: Fault, asked: &Asked<'_>) -> Self {
        let fault = Arc::new(Mutex::new(Some(fault)));
        let service = Faulty { fault: Arc::clone(&fault), router: simulated.router() };
        let start = ExporterStart {
            cluster: ClusterClient {
                credentials: None,
                client: Client::new(service, "default"),
                server: "https://10.0.0.1".to_owned(),
                origin: "the test".to_owned(),
                authority: Vec::new(),
                proxy: None,
                unverified: false,
            },
            limit: asked.limit,
            random: fastrand::Rng::with_seed(7),
        };
        let clock = simulated.clock();
        let clock = Arc::new(move || clock.now());
        let given = ExporterOptions {
            checkpoint: asked.state_dir.map(opened),
            ..ExporterOptions::default()
        };
        let namespaces: Vec<_> = asked.namespaces.iter().map(|name| (*name).to_owned()).collect();
        let watch =
            WatchConfig { scopes: PodScope::of_namespaces(&namespaces), ..WatchConfig::default() };
        let exporter = Exporter::bind(ExporterConfig::for_tests(), given, watch, clock).unwrap();
        let (scrapes, health) = (exporter.scrapes(), exporter.health());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(start.run(exporter, shutdown.clone()));
        Self { simulated, fault, scrapes, health, shutdown, running }
    }

    fn metrics(&self) -> String {
        String::from_utf8(self.scrapes.encode(ExpositionFormat::Text).unwrap()).unwrap()
    }

    fn says(&self, line: &str) -> bool {
        self.metrics().lines().any(|found| found == line)
    }

    /// The fault passes; in sync within a minute.
    async fn heals(&self) {
        *self.fault.lock().unwrap() = None;
        let began = Instant::now();
        while !self.says("podinit_synced 1") || self.health.readiness().is_err() {
            sleep(Duration::from_secs(1)).await;
            assert!(began.elapsed() < Duration::from_secs(60), "{}", self.metrics());
        }
    }

    async fn ends(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        self.running.await.unwrap()
    }
}

/// The checkpoint in a directory, once the thread of the process before has let go of it.
fn opened(dir: &std::path::Path) -> (StateCheckpoint, SnapshotService) {
    loop {
        match StateCheckpoint::open(dir, Shard::ALL, crate::families(&[])) {
            Ok(opened) => return opened,
            Err(_) => std::thread::yield_now(),
        }
    }
}

fn put(cluster: &SimulatedCluster, name: &str) {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
    });
    cluster.put_json(pod).unwrap();
}

#[tokio::test(start_paused = true)]
async fn whatever_the_api_server_does_at_first_is_waited_out() {
    for fault in FAULTS {
        let started = Started::behind(fault, &Asked::default()).await;
        for _ in 0..60 {
            sleep(Duration::from_secs(1)).await;
            assert!(!started.running.is_finished(), "{fault:?}");
            assert_eq!(started.health.liveness(), Ok(()), "{fault:?}");
            assert!(started.health.readiness().is_err(), "{fault:?}");
            assert!(started.says("podinit_synced 0"), "{fault:?}");
        }
        started.heals().await;
        put(&started.simulated, "new");
        sleep(Duration::from_secs(1)).await;
        let metrics = started.metrics();
        assert!(started.says("podinit_pods_discovered_total 3"), "{fault:?}: {metrics}");
        assert!(
            started.says("podinit_watch_events_total{event=\"ADDED\"} 1"),
            "{fault:?}: {metrics}"
        );
        started.ends().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_is_waited_out_too_and_stays_alive() {
    let started = Started::behind(Fault::Silence, &Asked::default()).await;
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(started.health.liveness(), Ok(()));
    started.heals().await;
    assert!(started.says("podinit_pods_discovered_total 2"));
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_wait() {
    for fault in [Fault::Silence, Fault::Status(503)] {
        let started = Started::behind(fault, &Asked::default()).await;
        sleep(Duration::from_secs(5)).await;
        started.ends().await.unwrap();
    }
}

/// The port opens before anything is read, so a checkpoint that cannot be used, and any other, is found afterwards.
#[tokio::test(start_paused = true)]
async fn a_checkpoint_is_read_once_the_port_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("checkpoint");
    std::fs::write(&file, "nobody wrote this").unwrap();
    let (checkpoint, snapshots) = opened(directory.path());
    assert!(file.exists(), "opening it reads nothing");
    drop((checkpoint, snapshots));
    let asked = Asked { state_dir: Some(directory.path()), ..Asked::default() };
    let started = Started::behind(Fault::Silence, &asked).await;
    while file.exists() {
        sleep(Duration::from_millis(100)).await;
    }
    assert!(directory.path().join("checkpoint.rejected-corrupt").exists());
    assert_eq!(started.health.liveness(), Ok(()));
    started.ends().await.unwrap();
}

/// Counters that begin at zero and then jump would be a reset to Prometheus, and an increase of all that
/// was ever counted.
#[tokio::test(start_paused = true)]
async fn before_the_state_is_restored_nothing_of_it_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let asked = Asked { state_dir: Some(directory.path()), ..Asked::default() };
    let started = Started::behind(Fault::Silence, &asked).await;
    sleep(Duration::from_secs(1)).await;
    assert!(started.says("podinit_synced 0"));
    let families = crate::families(&[]);
    let saved = families.iter().filter(|family| family.saved);
    let metrics = started.metrics();
    for family in saved.map(|family| family.name).chain(["podinit_pods_in_flight"]) {
        assert!(!metrics.contains(family), "{family}: {metrics}");
    }
    started.heals().await;
    assert!(started.says("podinit_pods_discovered_total 2"));
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_the_wait_with_the_last_reason() {
    let asked = Asked { limit: Some(Duration::from_secs(10)), ..Asked::default() };
    for (fault, reason) in [
        (Fault::NoConnection("Connection refused"), "Connection refused"),
        (Fault::Status(403), "not allowed to list pods"),
        (Fault::Silence, "no answer for 10 s"),
    ] {
        let began = Instant::now();
        let started = Started::behind(fault, &asked).await;
        let error = started.running.await.unwrap().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(began.elapsed() >= Duration::from_secs(10), "{fault:?}");
        assert!(began.elapsed() < Duration::from_secs(21), "{fault:?}");
    }
}

/// The namespace `lost` is forbidden, and `ns` is not.
const ONE_OF_TWO: Asked<'_> = Asked { namespaces: &["ns", "lost"], state_dir: None, limit: None };

fn put_scheduled(cluster: &SimulatedCluster, namespace: &str, name: &str) {
    let now = json!(cluster.clock().now());
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": namespace, "uid": format!("uid-{name}"), "creationTimestamp": now,
        },
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": now}],
        },
    });
    cluster.put_json(pod).unwrap();
}

/// That pods are judged meanwhile, the tests of the tracker show: the clock of this cluster stands still.
#[tokio::test(start_paused = true)]
async fn a_forbidden_namespace_keeps_no_other_from_being_measured() {
    let started = Started::behind(Fault::ForbiddenIn("lost"), &ONE_OF_TWO).await;
    put_scheduled(&started.simulated, "lost", "unseen");
    sleep(Duration::from_secs(5)).await;
    assert_eq!(started.health.readiness(), Ok(()));
    let missing = started.health.missing();
    assert_eq!(missing.as_deref(), Some("1 of 2 namespaces; lost: forbidden"));
    for line in [
        "podinit_synced 0",
        "podinit_namespace_synced{namespace=\"ns\"} 1",
        "podinit_namespace_synced{namespace=\"lost\"} 0",
        "podinit_pods_discovered_total 2",
    ] {
        assert!(started.says(line), "{line}: {}", started.metrics());
    }
    put_scheduled(&started.simulated, "ns", "stuck");
    sleep(Duration::from_secs(900)).await;
    assert!(started.says("podinit_pods_discovered_total 3"));
    // It comes back, is listed and accounted for.
    started.heals().await;
    assert_eq!(started.health.missing(), None);
    assert!(started.says("podinit_pods_discovered_total 4"));
    put_scheduled(&started.simulated, "lost", "stuck-too");
    sleep(Duration::from_secs(1)).await;
    // It goes again.
    *started.fault.lock().unwrap() = Some(Fault::ForbiddenIn("lost"));
    started.simulated.faults().stream(StreamFault::End);
    put_scheduled(&started.simulated, "ns", "stuck-again");
    sleep(Duration::from_secs(900)).await;
    assert!(started.says("podinit_pods_discovered_total 6"), "{}", started.metrics());
    assert!(started.health.missing().is_some());
    started.heals().await;
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_restart_keeps_the_pods_of_a_forbidden_namespace_for_later() {
    let directory = tempfile::tempdir().unwrap();
    let more = Asked { state_dir: Some(directory.path()), ..ONE_OF_TWO };
    let started = Started::behind(Fault::ForbiddenIn("none"), &more).await;
    put_scheduled(&started.simulated, "lost", "kept");
    sleep(Duration::from_secs(5)).await;
    assert!(started.says("podinit_pods_discovered_total 3"));
    *started.fault.lock().unwrap() = Some(Fault::ForbiddenIn("lost"));
    let simulated = Arc::clone(&started.simulated);
    started.ends().await.unwrap();
    for _ in 0..2 {
        let started =
            Started::from_cluster(Arc::clone(&simulated), Fault::ForbiddenIn("lost"), &more);
        sleep(Duration::from_secs(5)).await;
        assert_eq!(started.health.readiness(), Ok(()));
        assert!(started.says("podinit_pods_discovered_total 3"), "{}", started.metrics());
        assert!(started.says("podinit_pods_finished_total{outcome=\"vanished\"} 0"));
        started.ends().await.unwrap();
    }
    let started = Started::from_cluster(simulated, Fault::ForbiddenIn("none"), &more);
    started.heals().await;
    assert!(started.says("podinit_pods_discovered_total 3"));
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_waiting_cannot_help_ends_the_start_at_once() {
    let began = Instant::now();
    let started = Started::behind(Fault::Status(400), &Asked::default()).await;
    let error = started.running.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("refuses the request"), "{error}");
    assert_eq!(began.elapsed(), Duration::ZERO);
}
