//! A simulated cluster: its API server on loopback, and whatever makes its pods live.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Uri;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::clock::{SimClock, wall_clock};
use super::config::ClusterConfig;
use super::driver::Driver;
use super::faults::FaultHandle;
use super::life::{Change, Life, Shape};
use super::raw_object::{RawObject, at_version};
use super::store::{ObjectKey, Store};
use super::truth::Truth;
use crate::timestamp::Timestamp;

/// The version at which every cluster begins.
const FIRST_VERSION: u64 = 1_000;
/// How many steps of lives are taken before other tasks have their turn.
const STEPS_AT_ONCE: usize = 500;
/// The longest sleep between two looks at the agenda, which tests may have added to.
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
    clock: SimClock,
    store: Arc<Store>,
    faults: FaultHandle,
    truth: Truth,
    driver: Arc<Mutex<Driver>>,
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
        let plan = config.plan();
        let mut driver = Driver::new(Arc::clone(&store), truth.clone(), plan, config.seed, start);
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
            faults: FaultHandle::default(),
            truth,
            driver: Arc::new(Mutex::new(driver)),
            shutdown: CancellationToken::new(),
            tasks: Vec::new(),
        };
        cluster.serve(listener, config.bookmark_interval);
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

    /// The API server's clock.
    pub fn clock(&self) -> SimClock {
        self.clock.clone()
    }

    /// Orders faults.
    pub fn faults(&self) -> FaultHandle {
        self.faults.clone()
    }

    /// What really happens.
    pub fn truth(&self) -> Truth {
        self.truth.clone()
    }

    /// The API server's state: to look at it, and to compact it or roll it back.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// From now on no sandbox comes up (or they do again).
    pub fn set_outage(&self, outage: bool) {
        self.driver().set_outage(outage);
    }

    /// Moves a stepped clock by `by`, does all that falls due meanwhile, and returns the time.
    pub fn step(&self, by: Duration) -> Timestamp {
        let now = self.clock.step(by);
        self.driver().advance(now, usize::MAX);
        now
    }

    /// Begins `life` now; false when the pod's name is taken.
    pub fn begin(&self, life: Life) -> bool {
        self.driver().begin(life, self.clock.now())
    }

    /// Creates a pod now that only [`Self::apply`] moves; false when its name is taken.
    pub fn create(&self, shape: Shape) -> bool {
        self.driver().create(shape, self.clock.now())
    }

    /// `change` happens now to the pod `uid`; false when there is no such pod.
    pub fn apply(&self, uid: &str, change: &Change) -> bool {
        self.driver().apply(uid, change, self.clock.now())
    }

    /// Removes the pod `namespace`/`name` so that no watch is told: all history is compacted
    /// away. False when there is no such pod.
    pub fn remove_unseen(&self, namespace: &str, name: &str) -> bool {
        let key = ObjectKey::new(namespace, name);
        let now = self.clock.now();
        if self.driver().remove_unseen(&key, now) {
            return true;
        }
        let written_as_json = self.store.get(&key).is_some();
        self.store.remove_unseen(&key);
        written_as_json
    }

    /// Writes a pod as it stands in `object` but for its resourceVersion, which is returned.
    /// `None` when it has no namespace or name.
    pub fn put_json(&self, object: Value) -> Option<u64> {
        let mut object = RawObject::new(object)?;
        let (key, selectable) = (object.key.clone(), object.selectable.clone());
        Some(
            self.store
                .put(key, selectable, |version| object.render(version)),
        )
    }

    /// Removes a pod that [`Self::put_json`] wrote; the version of the removal.
    pub fn delete_json(&self, namespace: &str, name: &str) -> Option<u64> {
        let key = ObjectKey::new(namespace, name);
        let object = self.store.get(&key)?;
        let render = |version| at_version(&object.json, version);
        Some(self.store.remove(&key, render))
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

    fn driver(&self) -> MutexGuard<'_, Driver> {
        lock(&self.driver)
    }

    fn serve(&mut self, listener: TcpListener, bookmark_interval: Duration) {
        let api = Api {
            store: Arc::clone(&self.store),
            faults: self.faults.clone(),
            bookmark_interval,
            shutdown: self.shutdown.clone(),
        };
        let stopped = self.shutdown.clone().cancelled_owned();
        let server = axum::serve(listener, api.router()).with_graceful_shutdown(stopped);
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
