//! A simulated cluster: its API server on loopback, and the driver of its pods.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use axum::serve::ListenerExt;
use http::Uri;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::api::{ApiHandlerState, ServedResource};
use super::config::ClusterConfig;
use super::deployment::DeploymentSpec;
use super::driver::PodDriver;
use super::event_recorder::EventCounts;
use super::faults::FaultHandle;
use super::host;
use super::infrastructure;
use super::life::{PodChange, PodLife, PodManifest};
use super::object::{ObjectKey, ServedKind};
use super::scene::Scene;
use super::sim_clock::{SimClock, wall_clock};
use super::store::ObjectStore;
use super::truth::GroundTruth;
use super::watch_event::at_version;
use podinit_core::timestamp::Timestamp;

/// The version at which every cluster begins.
pub const FIRST_VERSION: u64 = 1_000;
/// How many steps of lives are taken before other tasks have their turn.
const STEPS_AT_ONCE: usize = 500;
/// The longest sleep between two checks of the timers, since tests may add some.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);
/// How long open connections may take to notice the shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// The resources of workloads. Only of the first two there are objects.
const WORKLOADS: [ServedKind; 6] = [
    ServedKind::Deployments,
    ServedKind::ReplicaSets,
    ServedKind::StatefulSets,
    ServedKind::DaemonSets,
    ServedKind::ControllerRevisions,
    ServedKind::Jobs,
];

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
pub struct SimulatedCluster {
    address: SocketAddr,
    api: ApiHandlerState,
    truth: GroundTruth,
    driver: Arc<Mutex<PodDriver>>,
    tasks: Vec<JoinHandle<()>>,
}

impl SimulatedCluster {
    /// Starts a cluster on a free port of 127.0.0.1. Must be called within a tokio runtime.
    pub async fn start(config: ClusterConfig) -> Result<Self, StartError> {
        let ClusterConfig { rate, speed, .. } = config;
        for (what, value, holds, wanted) in [
            ("a rate of", rate, rate >= 0.0, "pods per second, 0 or more"),
            ("a speed of", speed, speed > 0.0, "a number above 0"),
        ] {
            if !holds || !value.is_finite() {
                return Err(StartError::Config { what, value, wanted });
            }
        }
        let start = config.start.unwrap_or_else(wall_clock);
        let served = |resource| ServedResource {
            resource,
            store: Arc::new(ObjectStore::new(FIRST_VERSION, config.history)),
            faults: FaultHandle::default(),
        };
        // Events are as in an etcd of their own: their versions are no pod's.
        let (pods, events) = (served(ServedKind::Pods), served(ServedKind::Events));
        let fixed = |resource| ServedResource {
            store: Arc::new(infrastructure::store(resource, start, FIRST_VERSION)),
            ..served(resource)
        };
        let (nodes, namespaces) = (fixed(ServedKind::Nodes), fixed(ServedKind::Namespaces));
        let workloads = WORKLOADS.map(served);
        let truth = GroundTruth::default();
        let (bookmark_interval, stepped) = (config.bookmark_interval, config.stepped);
        let scene = config.scene.map(|(scene, after)| (scene, start.plus(after)));
        let store = |served: &ServedResource| Arc::clone(&served.store);
        let [deployments, replica_sets] = [store(&workloads[0]), store(&workloads[1])];
        let stores = [store(&pods), store(&events), store(&nodes), deployments, replica_sets];
        let mut driver = PodDriver::new(stores, truth.clone(), config, start);
        // The past happens before the server listens.
        driver.advance(start, usize::MAX);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let mut cluster = Self {
            address: listener.local_addr()?,
            api: ApiHandlerState {
                pods,
                events,
                nodes,
                namespaces,
                workloads: workloads.into(),
                bookmark_interval,
                shutdown: CancellationToken::new(),
                clock: match stepped {
                    true => SimClock::stepped(start),
                    false => SimClock::running(start, speed),
                },
                scene,
            },
            truth,
            driver: Arc::new(Mutex::new(driver)),
            tasks: Vec::new(),
        };
        cluster.serve(listener);
        if !stepped {
            cluster.drive();
        }
        Ok(cluster)
    }

    /// Where the API server listens.
    pub fn url(&self) -> Uri {
        // An address and a path always make a URI; the default one would be refused by clients.
        Uri::try_from(format!("http://{}/", self.address)).unwrap_or_default()
    }

    /// The API server without its socket: for clients within the process, whose time a test holds.
    pub fn router(&self) -> Router {
        self.api.clone().router()
    }

    /// The API server's clock.
    pub fn clock(&self) -> SimClock {
        self.api.clock.clone()
    }

    /// Orders faults of requests for pods.
    pub fn faults(&self) -> FaultHandle {
        self.api.pods.faults.clone()
    }

    /// Orders faults of requests for Events.
    pub fn event_request_faults(&self) -> FaultHandle {
        self.api.events.faults.clone()
    }

    /// What has become of the Events so far.
    pub fn event_counts(&self) -> EventCounts {
        self.driver.lock().recorders.counts
    }

    /// The Events that the API server holds.
    pub fn events(&self) -> &ObjectStore {
        &self.api.events.store
    }

    /// The nodes that the API server holds.
    pub fn nodes(&self) -> &ObjectStore {
        &self.api.nodes.store
    }

    /// The objects of a workload's resource, and the faults of requests for them; `None` for pods, Events, nodes and
    /// namespaces.
    pub fn workloads(&self, kind: ServedKind) -> Option<(&ObjectStore, FaultHandle)> {
        let served = self.api.workloads.iter().find(|served| served.resource == kind)?;
        Some((&served.store, served.faults.clone()))
    }

    /// What really happens.
    pub fn truth(&self) -> GroundTruth {
        self.truth.clone()
    }

    /// The API server's state, to inspect it, compact it or roll it back.
    pub fn store(&self) -> &ObjectStore {
        &self.api.pods.store
    }

    /// From now on this is broken, and nothing else.
    pub fn set_broken(&self, scene: Option<Scene>) {
        self.driver.lock().broken = scene;
    }

    /// Moves a stepped clock by `by`, does all that falls due meanwhile, and returns the time.
    pub fn step(&self, by: Duration) -> Timestamp {
        let now = self.api.clock.step(by);
        self.driver.lock().advance(now, usize::MAX);
        now
    }

    /// Begins `life` now; false when the pod's name is taken.
    pub fn begin(&self, life: PodLife) -> bool {
        self.driver.lock().begin(life, self.api.clock.now())
    }

    /// Creates a pod now that only [`Self::apply`] moves; false when its name is taken.
    pub fn create(&self, manifest: PodManifest) -> bool {
        self.driver.lock().create(manifest, self.api.clock.now())
    }

    /// `change` happens now to the pod `uid`; false when there is no such pod.
    pub fn apply(&self, uid: &str, change: &PodChange) -> bool {
        self.driver.lock().apply(uid, change, self.api.clock.now())
    }

    /// Creates this Deployment now, or changes it: a new template is rolled out.
    pub fn deploy(&self, spec: DeploymentSpec) {
        self.driver.lock().deploy(spec, self.api.clock.now());
    }

    /// Takes a Deployment back to the revision before, as `kubectl rollout undo` does. Returns whether there is
    /// one.
    pub fn undo(&self, namespace: &str, name: &str) -> bool {
        self.driver.lock().undo(namespace, name, self.api.clock.now())
    }

    /// Deletes a Deployment with its ReplicaSets and pods. Returns whether it was there.
    pub fn undeploy(&self, namespace: &str, name: &str) -> bool {
        self.driver.lock().undeploy(namespace, name, self.api.clock.now())
    }

    /// From now on no ReplicaSet in `namespace` can create pods, for this reason, as with a quota or a webhook that
    /// refuses them; `None` lets them again.
    pub fn refuse_pods(&self, namespace: &str, reason: Option<&str>) {
        let reason = reason.map(str::to_owned);
        self.driver.lock().refuse_pods(namespace, reason, self.api.clock.now());
    }

    /// Removes the pod `namespace`/`name` without a watch event: all history is compacted
    /// away. False when there is no such pod.
    pub fn remove_unseen(&self, namespace: &str, name: &str) -> bool {
        let key = ObjectKey::new(namespace, name);
        let now = self.api.clock.now();
        if self.driver.lock().remove_unseen(&key, now) {
            return true;
        }
        let written_as_json = self.api.pods.store.get(&key).is_some();
        self.api.pods.store.remove_unseen(&key);
        written_as_json
    }

    /// Writes the pod `object` with a new resourceVersion, which is returned. It is as odd as a test makes
    /// it: `None` only when it has no namespace or name.
    pub fn put_json(&self, object: Value) -> Option<u64> {
        self.api.pods.store.put_json(object)
    }

    /// The same of an Event.
    pub fn put_event_json(&self, object: Value) -> Option<u64> {
        self.api.events.store.put_json(object)
    }

    /// Removes a pod that [`Self::put_json`] wrote; the version of the removal.
    pub fn delete_json(&self, namespace: &str, name: &str) -> Option<u64> {
        let key = ObjectKey::new(namespace, name);
        self.api.pods.store.get(&key)?;
        Some(self.api.pods.store.remove(&key, at_version))
    }

    /// Ends all streams and waits for the server to stop.
    pub async fn shutdown(mut self) {
        self.api.shutdown.cancel();
        for mut task in std::mem::take(&mut self.tasks) {
            let ended = tokio::time::timeout(SHUTDOWN_GRACE, &mut task).await;
            if ended.is_err() {
                task.abort();
            }
        }
    }

    fn serve(&mut self, listener: TcpListener) {
        let stopped = self.api.shutdown.clone().cancelled_owned();
        // As Go's servers do; otherwise the pages of a list wait for delayed acknowledgements.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let server = axum::serve(listener, self.router().layer(from_fn(host::guard)))
            .with_graceful_shutdown(stopped);
        self.tasks.push(tokio::spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the simulated API server stopped");
            }
        }));
    }

    fn drive(&mut self) {
        let driver = Arc::clone(&self.driver);
        let clock = self.api.clock.clone();
        let shutdown = self.api.shutdown.clone();
        let run = async move {
            loop {
                let now = clock.now();
                let done = driver.lock().advance(now, STEPS_AT_ONCE);
                if !done {
                    tokio::task::yield_now().await;
                    continue;
                }
                let due = driver.lock().timers.next_due();
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

impl Drop for SimulatedCluster {
    fn drop(&mut self) {
        self.api.shutdown.cancel();
    }
}
