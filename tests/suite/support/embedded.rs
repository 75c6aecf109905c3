//! A list-watch in front of the embedded cluster, without a socket between them, so that both live
//! in the test's own time: what takes ten minutes takes none, and always goes the same way. The
//! list-watch has the settings that it has in production.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use podinit_core::lifecycle::{Delivery, PodEvent, TimestampMode, Tracker, TrackerConfig};
use podinit_decode::ObjectEncoding;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder,
};
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::{RelistReason, WatchErrorReason, WatchStats};
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::faults::FaultTarget;
use podinit_sim::life::PodManifest;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;

use crate::support::scrape::Scrape;
use crate::support::watch::in_words;

pub const NAMESPACE: &str = "ns";

/// How often simulated time catches up with the test's.
const TICK: Duration = Duration::from_millis(250);

pub struct Embedded {
    pub cluster: SimulatedCluster,
    pub stats: Arc<WatchStats>,
    pub deliveries: mpsc::Receiver<Delivery>,
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
    cancel: CancellationToken,
    _tasks: JoinSet<()>,
    began: Instant,
}

/// The encoding of a file of tests that is run in both: it is two modules (`watch`), of which one is named
/// after protobuf.
macro_rules! encoding {
    () => {
        $crate::support::embedded::encoding_of(module_path!())
    };
}
pub(crate) use encoding;

pub fn encoding_of(module: &str) -> ObjectEncoding {
    match module.ends_with("_protobuf") {
        true => ObjectEncoding::Protobuf,
        false => ObjectEncoding::Json,
    }
}

/// A cluster without pods.
pub async fn cluster() -> SimulatedCluster {
    SimulatedCluster::start(ClusterConfig::manual()).await.unwrap()
}

/// A client of the cluster, without a socket between them.
pub fn client(cluster: &SimulatedCluster) -> Client {
    let service = ServiceBuilder::new()
        .map_request(|request: http::Request<kube::client::Body>| {
            request.map(axum::body::Body::new)
        })
        .service(cluster.router());
    Client::new(service, "default")
}

/// Writes a pod; its version.
pub fn put(cluster: &SimulatedCluster, name: &str) -> u64 {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "uid": format!("uid-{name}")},
    });
    cluster.put_json(pod).unwrap()
}

/// A pod is created, which no node has.
pub fn create(cluster: &SimulatedCluster, name: &str) {
    let manifest = PodManifest {
        namespace: NAMESPACE.to_owned(),
        name: name.to_owned(),
        uid: name.to_owned(),
        ..PodManifest::default()
    };
    assert!(cluster.create(manifest));
}

impl Embedded {
    /// In front of a cluster that may have been prepared.
    pub fn watching(cluster: SimulatedCluster) -> Self {
        Self::adjusted(cluster, |_| {})
    }

    /// The same, which asks for `encoding`.
    pub fn watching_in(encoding: ObjectEncoding, cluster: SimulatedCluster) -> Self {
        Self::adjusted_in(encoding, cluster, |_| {})
    }

    pub fn adjusted_in(
        encoding: ObjectEncoding,
        cluster: SimulatedCluster,
        adjust: impl FnOnce(&mut ReflectorConfig),
    ) -> Self {
        Self::adjusted(cluster, |config| {
            config.encoding = encoding;
            adjust(config);
        })
    }

    pub fn adjusted(cluster: SimulatedCluster, adjust: impl FnOnce(&mut ReflectorConfig)) -> Self {
        Self::before(client(&cluster), cluster, adjust)
    }

    /// With a client that may reach others than the cluster whose clock it has.
    pub fn before(
        client: Client,
        cluster: SimulatedCluster,
        adjust: impl FnOnce(&mut ReflectorConfig),
    ) -> Self {
        let mut config = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
        config.reflector.seed = Some(1);
        adjust(&mut config.reflector);
        let stats = Arc::new(WatchStats::new(1));
        let (recorder, exposition) =
            ExpositionBuilder::new(LabelConfig::default()).watch(stats.clone()).build().unwrap();
        let (sender, deliveries) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        let simulated = cluster.clock();
        let clock = Arc::new(move || simulated.now());
        let tasks = spawn(&client, &config, clock, &stats, &sender, &cancel);
        Self {
            cluster,
            stats,
            deliveries,
            tracker: Tracker::new(TrackerConfig {
                timestamps: TimestampMode::Fused,
                ..TrackerConfig::default()
            }),
            recorder,
            exposition,
            cancel,
            _tasks: tasks,
            began: Instant::now(),
        }
    }

    /// The next delivery that is no bookmark, in words.
    pub async fn next_delivery(&mut self) -> String {
        loop {
            let delivery = self.deliveries.recv().await;
            let delivery = delivery.expect("the list-watch has ended");
            if delivery.event != PodEvent::Bookmark {
                return in_words(&delivery);
            }
        }
    }

    /// Whether nothing but bookmarks has been delivered that was not taken.
    pub fn no_delivery(&mut self) -> bool {
        loop {
            match self.deliveries.try_recv() {
                Err(_) => return true,
                Ok(delivery) if delivery.event == PodEvent::Bookmark => {}
                Ok(_) => return false,
            }
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub fn put(&self, name: &str) -> u64 {
        put(&self.cluster, name)
    }

    /// How many requests of a kind there have been.
    pub fn requests(&self, target: FaultTarget) -> usize {
        let requests = self.cluster.faults().requests();
        requests.iter().filter(|made| made.target == target).count()
    }

    /// Waits for the `count`th request of a kind, and returns its query.
    pub async fn request(&self, target: FaultTarget, count: usize) -> String {
        let faults = self.cluster.faults();
        let enough = |all: &[podinit_sim::faults::ReceivedRequest]| {
            all.iter().filter(|made| made.target == target).count() >= count
        };
        let requests = faults.requests_until(enough).await;
        let mut of_kind = requests.into_iter().filter(|made| made.target == target);
        of_kind.nth(count - 1).unwrap().query
    }

    pub fn errors(&self, reason: WatchErrorReason) -> u64 {
        self.stats.errors(reason)
    }

    pub fn relists(&self, reason: RelistReason) -> u64 {
        self.stats.relists(reason)
    }

    pub fn all_relists(&self) -> u64 {
        let all = RelistReason::ALL.into_iter();
        all.map(|reason| self.relists(reason)).sum()
    }

    /// What a scrape says.
    pub fn scrape(&self) -> Scrape {
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        Scrape::parse(&String::from_utf8(text).unwrap())
    }

    /// Time passes, in the cluster too, and what is delivered meanwhile is accounted for.
    pub async fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds * 1000 / TICK.as_millis() as u64 {
            self.cluster.step(TICK);
            sleep(TICK).await;
            while let Ok(delivery) = self.deliveries.try_recv() {
                self.tracker.apply(delivery, &mut self.recorder);
            }
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
