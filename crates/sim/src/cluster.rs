//! A simulated cluster: its API server on loopback, and the driver of its pods.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use http::Uri;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::api::{Api, Served};
use super::config::ClusterConfig;
use super::driver::Driver;
use super::event_recorder::{EventCounts, EventFaults, EventRecorders};
use super::faults::FaultHandle;
use super::object::Resource;
use super::sim_clock::{SimClock, wall_clock};
use super::store::Store;
use super::truth::Truth;

/// The version at which every cluster begins.
const FIRST_VERSION: u64 = 1_000;
/// How many steps of lives are taken before other tasks have their turn.
const STEPS_AT_ONCE: usize = 500;
/// The longest sleep between two checks of the timers, since tests may add some.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// How long open connections may take to notice the shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Why a simulated cluster could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration makes no sense
    #[error("the simulated cluster cannot run at {what} {value}: choose {wanted}")]
    Config {
        /// Which value
        what: &'static str,
        /// What it is
        value: f64,
        /// What it should be
        wanted: &'static str,
    },
    /// No port on loopback
    #[error("the simulated cluster cannot listen on 127.0.0.1: {0}")]
    Listen(#[from] std::io::Error),
}

/// A running simulated cluster. It ends when it is shut down or dropped.
#[derive(Debug)]
pub struct Cluster {
    address: SocketAddr,
    pub(super) clock: SimClock,
    pub(super) store: Arc<Store>,
    pub(super) events: Arc<Store>,
    faults: FaultHandle,
    event_faults: FaultHandle,
    truth: Truth,
    driver: Arc<Mutex<Driver>>,
    bookmark_interval: Duration,
    shutdown: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
}

impl Cluster {
    /// Starts a cluster on a free port of 127.0.0.1. Must be called within a tokio runtime.
    pub async fn start(config: ClusterConfig) -> Result<Self, StartError> {
        check(
            "a rate of",
            config.rate,
            config.rate >= 0.0,
            "pods per second, 0 or more",
        )?;
        check(
            "a speed of",
            config.speed,
            config.speed > 0.0,
            "a number above 0",
        )?;
        let start = config.start.unwrap_or_else(wall_clock);
        let store = Arc::new(Store::new(FIRST_VERSION, config.history));
        let truth = Truth::default();
        // As in an etcd of their own: their versions are no pod's.
        let events = Arc::new(Store::new(FIRST_VERSION, config.history));
        let plan = config.plan();
        let recorders = EventRecorders::new(Arc::clone(&events), config.events, config.seed);
        let mut driver = Driver::new(
            Arc::clone(&store),
            recorders,
            truth.clone(),
            plan,
            config.seed,
            start,
        );
        // The past happens before the server listens.
        driver.advance(start, usize::MAX);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let clock = if config.stepped {
            SimClock::stepped(start)
        } else {
            SimClock::running(start, config.speed)
        };
        let mut cluster = Self {
            address,
            clock,
            store,
            events,
            faults: FaultHandle::default(),
            event_faults: FaultHandle::default(),
            truth,
            driver: Arc::new(Mutex::new(driver)),
            bookmark_interval: config.bookmark_interval,
            shutdown: CancellationToken::new(),
            tasks: Vec::new(),
        };
        cluster.serve(listener);
        if !config.stepped {
            cluster.drive();
        }
        Ok(cluster)
    }

    /// Where the API server listens.
    pub fn url(&self) -> Uri {
        // An address and a path always make a URI; the default one would be refused by clients.
        format!("http://{}/", self.address)
            .parse()
            .unwrap_or_default()
    }

    /// The API server without its socket: for clients within the process, whose time a test holds.
    pub fn router(&self) -> Router {
        let api = Api {
            pods: Served {
                resource: Resource::Pods,
                store: Arc::clone(&self.store),
                faults: self.faults.clone(),
            },
            events: Served {
                resource: Resource::Events,
                store: Arc::clone(&self.events),
                faults: self.event_faults.clone(),
            },
            bookmark_interval: self.bookmark_interval,
            shutdown: self.shutdown.clone(),
            clock: self.clock.clone(),
        };
        api.router()
    }

    /// The API server's clock.
    pub fn clock(&self) -> SimClock {
        self.clock.clone()
    }

    /// Orders faults of requests for pods.
    pub fn faults(&self) -> FaultHandle {
        self.faults.clone()
    }

    /// Orders faults of requests for Events.
    pub fn event_request_faults(&self) -> FaultHandle {
        self.event_faults.clone()
    }

    /// From now on this happens to Events on their way to the API server.
    pub fn set_event_faults(&self, faults: EventFaults) {
        self.driver().recorders.settings.faults = faults;
    }

    /// What has become of the Events so far.
    pub fn event_counts(&self) -> EventCounts {
        self.driver().recorders.counts
    }

    /// The Events that the API server holds.
    pub fn events(&self) -> &Store {
        &self.events
    }

    /// What really happens.
    pub fn truth(&self) -> Truth {
        self.truth.clone()
    }

    /// The API server's state, to inspect it, compact it or roll it back.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Ends all streams and waits for the server to stop.
    pub async fn shutdown(mut self) {
        self.shutdown.cancel();
        for mut task in std::mem::take(&mut self.tasks) {
            if tokio::time::timeout(SHUTDOWN_GRACE, &mut task)
                .await
                .is_err()
            {
                task.abort();
            }
        }
    }

    pub(super) fn driver(&self) -> MutexGuard<'_, Driver> {
        lock(&self.driver)
    }

    fn serve(&mut self, listener: TcpListener) {
        let stopped = self.shutdown.clone().cancelled_owned();
        // As Go's servers do; otherwise the pages of a list wait for delayed acknowledgements.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let server = axum::serve(listener, self.router()).with_graceful_shutdown(stopped);
        self.tasks.push(tokio::spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the simulated API server stopped");
            }
        }));
    }

    fn drive(&mut self) {
        let driver = Arc::clone(&self.driver);
        let clock = self.clock.clone();
        let shutdown = self.shutdown.clone();
        let run = async move {
            loop {
                let now = clock.now();
                let done = lock(&driver).advance(now, STEPS_AT_ONCE);
                if !done {
                    tokio::task::yield_now().await;
                    continue;
                }
                let due = lock(&driver).next_due();
                let wait = due.and_then(|due| clock.wait_for(due));
                tokio::time::sleep(wait.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP)).await;
            }
        };
        self.tasks.push(tokio::spawn(async move {
            // Without an answer: `None` says that the cluster was shut down.
            let _stopped: Option<()> = shutdown.run_until_cancelled(run).await;
        }));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

fn lock(driver: &Mutex<Driver>) -> MutexGuard<'_, Driver> {
    driver.lock().unwrap_or_else(PoisonError::into_inner)
}

fn check(
    what: &'static str,
    value: f64,
    holds: bool,
    wanted: &'static str,
) -> Result<(), StartError> {
    if holds && value.is_finite() {
        return Ok(());
    }
    Err(StartError::Config {
        what,
        value,
        wanted,
    })
}
