//! Shards in front of one simulated cluster, whose API server shards itself (KEP-5866), does not, or
//! does for every other request: the pods of all shards add up to those of one process either way
//! ([§12](crate::specification#s12)).

use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{Delivery, PodEvent, Tracker};
use podinit_core::shard::Shard;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, ExpositionFormat, LabelConfig, Recorder,
};
use podinit_kube::watch::config::ListMode;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_kube::watch::stats::{EventType, WatchStats};
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::faults::{FaultTarget, ReceivedRequest, ShardingSupport, StreamFault};
use podinit_sim::{ClusterConfig, SimulatedCluster};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::oracle::{exposition, figures};
use crate::recordings::shards::{faults, shards};
use crate::support::embedded::client;

const SHARDS: u64 = 4;

/// How often simulated time catches up with the test's.
const TICK: Duration = Duration::from_millis(250);

/// A process that accounts for one shard, or for all pods.
struct Process {
    deliveries: mpsc::Receiver<Delivery>,
    stats: Arc<WatchStats>,
    tracker: Tracker,
    recorder: Recorder,
    exposition: Arc<Exposition>,
    passed_by: usize,
    cancel: CancellationToken,
    _tasks: JoinSet<()>,
}

impl Process {
    fn start(cluster: &SimulatedCluster, shard: Option<Shard>, watch_list: bool) -> Self {
        let mut config = WatchConfig {
            scopes: vec![PodScope::Cluster],
            selectors: PodSelectors { shard, ..PodSelectors::default() },
            ..WatchConfig::default()
        };
        config.reflector.seed = Some(1);
        config.reflector.lists = match watch_list {
            true => ListMode::Stream,
            false => ListMode::Pages,
        };
        config.reflector.page_limit = 20;
        let stats = Arc::new(WatchStats::new(1));
        let builder = ExpositionBuilder::new(LabelConfig::default()).watch(stats.clone());
        let (recorder, exposition) = builder.build().unwrap();
        let (sender, deliveries) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        let simulated = cluster.clock();
        let clock = Arc::new(move || simulated.now());
        Self {
            _tasks: spawn(&client(cluster), &config, clock, &stats, &sender, &cancel),
            deliveries,
            stats,
            tracker: Tracker::default(),
            recorder,
            exposition,
            passed_by: 0,
            cancel,
        }
    }

    fn account(&mut self) {
        while let Ok(delivery) = self.deliveries.try_recv() {
            self.passed_by += usize::from(delivery.event == PodEvent::OtherShard);
            self.tracker.apply(delivery, &mut self.recorder);
        }
    }

    /// The figures of pods.
    fn figures(&self) -> figures::Exposition {
        let text = self.exposition.encode(ExpositionFormat::Text).unwrap();
        let mut figures = exposition::parse(&String::from_utf8(text).unwrap());
        figures
            .retain(|series, _| figures::is_known(series) && !series.starts_with("podinit_watch_"));
        figures
    }

    fn events(&self) -> u64 {
        let of_pods = [EventType::Added, EventType::Modified, EventType::Deleted];
        of_pods.map(|kind| self.stats.events(kind)).iter().sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

struct World {
    cluster: SimulatedCluster,
    all: Process,
    shards: Vec<Process>,
}

impl World {
    async fn start(sharding: ShardingSupport, watch_list: bool) -> Self {
        let cluster = SimulatedCluster::start(ClusterConfig {
            seed: 1,
            rate: 4.0,
            preexisting: 60,
            ..ClusterConfig::manual()
        });
        let cluster = cluster.await.unwrap();
        cluster.faults().set_modes(|modes| modes.sharding = sharding);
        let start = |shard| Process::start(&cluster, shard, watch_list);
        Self {
            all: start(None),
            shards: shards(SHARDS).map(|shard| start(Some(shard))).collect(),
            cluster,
        }
    }

    async fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds * 4 {
            self.cluster.step(TICK);
            sleep(TICK).await;
            self.account();
        }
    }

    fn account(&mut self) {
        self.all.account();
        self.shards.iter_mut().for_each(Process::account);
    }

    /// The queries that asked for a shard, out of those for `targets`.
    fn asked(&self, targets: &[FaultTarget]) -> (usize, usize) {
        let requests = self.cluster.faults().requests();
        let made: Vec<&ReceivedRequest> =
            (requests.iter()).filter(|made| targets.contains(&made.target)).collect();
        let asked = |made: &&&ReceivedRequest| made.query.contains("&shardSelector=shardRange%28");
        (made.iter().filter(asked).count(), made.len())
    }

    fn faults(&self) -> Vec<String> {
        let parts: Vec<_> = self.shards.iter().map(Process::figures).collect();
        faults(&self.all.figures(), &parts)
    }

    fn assert_that_the_shards_add_up(&self) {
        let faults = self.faults();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(self.all.figures()["podinit_pods_discovered_total"] > 200.0);
    }
}

/// Two minutes, and in the middle of them all watches lose their place.
async fn two_minutes(sharding: ShardingSupport, watch_list: bool) -> World {
    let mut world = World::start(sharding, watch_list).await;
    world.pass(50).await;
    world.cluster.faults().stream(StreamFault::Gone);
    world.pass(70).await;
    world.assert_that_the_shards_add_up();
    world
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_shards_sends_each_shard_its_own_pods() {
    let world = two_minutes(ShardingSupport::On, false).await;
    let (asked, all) = world.asked(&[FaultTarget::List, FaultTarget::NextPage]);
    assert!(all - asked < asked, "every list of a shard asks");
    let (asked, all) = world.asked(&[FaultTarget::Watch]);
    assert_eq!(asked * 5, all * 4, "every watch of a shard asks");
    assert!(world.shards.iter().all(|shard| shard.passed_by == 0));
    let sum: u64 = world.shards.iter().map(Process::events).sum();
    assert_eq!(sum, world.all.events());
}

#[tokio::test(start_paused = true)]
async fn an_api_server_that_does_not_shard_is_asked_by_lists_only() {
    let world = two_minutes(ShardingSupport::Off, false).await;
    assert!(world.asked(&[FaultTarget::List]).0 >= 8);
    assert_eq!(world.asked(&[FaultTarget::Watch]).0, 0);
    for shard in &world.shards {
        assert!(shard.passed_by > 0);
        assert_eq!(shard.events(), world.all.events());
    }
}

#[tokio::test(start_paused = true)]
async fn api_servers_of_which_one_shards_lose_and_double_nothing() {
    let world = two_minutes(ShardingSupport::Mixed, false).await;
    let (asked, all) = world.asked(&[FaultTarget::Watch]);
    assert!(asked > 0 && asked < all, "{asked} of {all}");
}

/// A watch shows nothing of what its API server does, so the watch that follows does not ask.
async fn streamed_lists_ask(shardings: &[ShardingSupport]) {
    for sharding in shardings {
        let world = two_minutes(*sharding, true).await;
        let requests = world.cluster.faults().requests();
        for made in requests.iter().filter(|made| made.target == FaultTarget::Watch) {
            let asks = made.query.contains("shardSelector");
            let lists = made.query.contains("sendInitialEvents=true");
            assert!(!asks || lists, "{}", made.query);
        }
        let asked = world.asked(&[FaultTarget::Watch]).0;
        assert!(asked >= 8, "{asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn streamed_lists_ask_and_the_watches_after_them_do_not() {
    streamed_lists_ask(&[ShardingSupport::Mixed]).await;
}

/// The same of API servers that all shard, or none of them.
mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn streamed_lists_ask_and_the_watches_after_them_do_not() {
        streamed_lists_ask(&[ShardingSupport::On, ShardingSupport::Off]).await;
    }
}
