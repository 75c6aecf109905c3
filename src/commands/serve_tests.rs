//! The start in front of an API server that does not answer yet, or not well: it waits, serves meanwhile,
//! and is in sync with exact counts once the API server is well. In paused time.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsString;
use std::io;
use std::sync::Mutex;
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
use crate::args::Command;
use crate::exporter::scrapes::Scrapes;
use crate::instruments::Format;
use crate::server::{Health, Scrape};
use podinit_core::shard::Shard;
use podinit_sim::{Cluster as SimulatedCluster, ClusterConfig};

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
        let Some(fault) = *self.fault.lock().unwrap() else {
            let answer = self
                .router
                .clone()
                .oneshot(request.map(axum::body::Body::new));
            return Box::pin(async move { Ok(answer.await.unwrap()) });
        };
        Box::pin(async move {
            match fault {
                Fault::NoConnection(why) => Err(kube::Error::Service(io::Error::other(why).into())),
                Fault::Silence => pending().await,
                Fault::Drip => Ok(Response::new(axum::body::Body::from_stream(drip()))),
                Fault::Status(code) => Ok(StatusCode::from_u16(code).unwrap().into_response()),
                Fault::Foreign => Ok("<html>It works!</html>".into_response()),
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

/// A start behind a fault.
struct Started {
    simulated: SimulatedCluster,
    fault: Present,
    scrapes: Arc<Scrapes>,
    health: Health,
    shutdown: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Started {
    async fn behind(fault: Fault, more: &[&str]) -> Self {
        let simulated = SimulatedCluster::start(ClusterConfig::manual())
            .await
            .unwrap();
        put(&simulated, "old-1");
        put(&simulated, "old-2");
        let line = ["podinit", "serve", "--listen", "127.0.0.1:0"];
        let line = line.iter().chain(more).map(OsString::from);
        let Command::Serve(args) = Command::parse(line).unwrap() else {
            panic!("not serve");
        };
        let fault = Arc::new(Mutex::new(Some(fault)));
        let service = Faulty {
            fault: Arc::clone(&fault),
            router: simulated.router(),
        };
        let start = Start {
            cluster: Cluster {
                credentials: None,
                client: Client::new(service, "default"),
                server: "https://10.0.0.1".to_owned(),
                origin: "the test".to_owned(),
                authority: Vec::new(),
                proxy: None,
                unverified: false,
            },
            tokens: None,
            limit: limit(args.connect_timeout, true),
            random: fastrand::Rng::with_seed(7),
        };
        let clock = simulated.clock();
        let clock = Arc::new(move || clock.now());
        let serve_only = ServeOnly {
            tokens: false,
            checkpoint: args
                .state_dir
                .as_deref()
                .map(|dir| Checkpoint::open(dir, Shard::ALL).unwrap()),
        };
        let watch = watch_config(&args.cluster, &args.exporter);
        let exporter = Exporter::bind(&args.exporter, serve_only, watch, clock).unwrap();
        let (scrapes, health) = (exporter.scrapes(), exporter.health());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(start.run(exporter, shutdown.clone()));
        Self {
            simulated,
            fault,
            scrapes,
            health,
            shutdown,
            running,
        }
    }

    fn metrics(&self) -> String {
        String::from_utf8(self.scrapes.encode(Format::Text).unwrap()).unwrap()
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
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "{}",
                self.metrics()
            );
        }
    }

    async fn ends(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        self.running.await.unwrap()
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
        let started = Started::behind(fault, &[]).await;
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
        assert!(
            started.says("podinit_pods_discovered_total 3"),
            "{fault:?}: {metrics}"
        );
        assert!(
            started.says("podinit_watch_events_total{type=\"ADDED\"} 1"),
            "{fault:?}: {metrics}"
        );
        started.ends().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_hour_is_waited_out_too_and_stays_alive() {
    let started = Started::behind(Fault::Silence, &[]).await;
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(started.health.liveness(), Ok(()));
    started.heals().await;
    assert!(started.says("podinit_pods_discovered_total 2"));
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_the_wait() {
    for fault in [Fault::Silence, Fault::Status(503)] {
        let started = Started::behind(fault, &[]).await;
        sleep(Duration::from_secs(5)).await;
        started.ends().await.unwrap();
    }
}

/// Counters that begin at zero and then jump would be a reset to Prometheus, and an increase of all that
/// was ever counted.
#[tokio::test(start_paused = true)]
async fn before_the_state_is_restored_nothing_of_it_is_shown() {
    let directory = tempfile::tempdir().unwrap();
    let state = ["--state-dir", directory.path().to_str().unwrap()];
    let started = Started::behind(Fault::Silence, &state).await;
    sleep(Duration::from_secs(1)).await;
    assert!(started.says("podinit_synced 0"));
    let saved = crate::metrics::families()
        .iter()
        .filter(|family| family.saved);
    let metrics = started.metrics();
    for family in saved
        .map(|family| family.name)
        .chain(["podinit_pods_in_flight"])
    {
        assert!(!metrics.contains(family), "{family}: {metrics}");
    }
    started.heals().await;
    assert!(started.says("podinit_pods_discovered_total 2"));
    started.ends().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_limit_ends_the_wait_with_the_last_reason() {
    let more = ["--connect-timeout", "10s"];
    for (fault, reason) in [
        (
            Fault::NoConnection("Connection refused"),
            "Connection refused",
        ),
        (Fault::Status(403), "not allowed to list pods"),
        (Fault::Silence, "no answer for 10 s"),
    ] {
        let began = Instant::now();
        let started = Started::behind(fault, &more).await;
        let error = started.running.await.unwrap().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(began.elapsed() >= Duration::from_secs(10), "{fault:?}");
        assert!(began.elapsed() < Duration::from_secs(21), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_waiting_cannot_help_ends_the_start_at_once() {
    let began = Instant::now();
    let started = Started::behind(Fault::Status(400), &[]).await;
    let error = started.running.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("refuses the request"), "{error}");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[test]
fn people_at_a_terminal_wait_ten_seconds_and_pods_without_end() {
    let chosen = Some(Duration::from_secs(3));
    assert_eq!(limit(None, false), Some(TERMINAL_LIMIT));
    assert_eq!(limit(None, true), None);
    for is_in_cluster in [false, true] {
        assert_eq!(limit(chosen, is_in_cluster), chosen);
        assert_eq!(limit(Some(Duration::ZERO), is_in_cluster), None);
    }
}
