//! Shards in front of one simulated cluster, whose API server shards itself (KEP-5866), does not, or
//! does for every other request: the pods of all shards add up to those of one process either way
//! ([§12](crate::specification#s12)).

use std::sync::Arc;
use std::time::Duration;

use podinit_checkpoint::content::{self, CheckpointContent, SavedScope};
use podinit_checkpoint::frame;
use podinit_core::lifecycle::{
    Delivery, PodEvent, SavedPod, SourceSuccessor, Stage, Tracker, TrackerConfig,
};
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

use crate::oracle::{compare, exposition, figures};
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
    shard: Option<Shard>,
    recorder: Recorder,
    exposition: Arc<Exposition>,
    passed_by: usize,
    cancel: CancellationToken,
    _tasks: JoinSet<()>,
}

impl Process {
    fn start(cluster: &SimulatedCluster, shard: Option<Shard>, watch_list: bool) -> Self {
        Self::restored(cluster, shard, watch_list, None)
    }

    /// Goes on from a checkpoint, as `serve` does.
    fn restored(
        cluster: &SimulatedCluster,
        shard: Option<Shard>,
        watch_list: bool,
        saved: Option<&[u8]>,
    ) -> Self {
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
        let (mut recorder, exposition) = builder.build().unwrap();
        let tracker = match saved {
            None => Tracker::new(TrackerConfig::default()),
            Some(saved) => restore(saved, &mut recorder, &mut config),
        };
        let (sender, deliveries) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        let simulated = cluster.clock();
        let clock = Arc::new(move || simulated.now());
        Self {
            _tasks: spawn(&client(cluster), &config, clock, &stats, &sender, &cancel),
            deliveries,
            stats,
            tracker,
            shard,
            recorder,
            exposition,
            passed_by: 0,
            cancel,
        }
    }

    /// A checkpoint of what is accounted for.
    fn checkpoint(&self) -> Vec<u8> {
        let content = CheckpointContent {
            scope: SavedScope { shard: self.shard.unwrap_or_default(), ..SavedScope::default() },
            tracker: self.tracker.saved(),
            metrics: self.recorder.saved(),
            ..CheckpointContent::default()
        };
        content::encode(&content, self.tracker.saved_pods()).finish()
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

/// The tracker of a checkpoint, of this shard or of one with the same index of another number of them.
fn restore(saved: &[u8], recorder: &mut Recorder, config: &mut WatchConfig) -> Tracker {
    let content::DecodedCheckpoint { content, pods, .. } =
        content::decode(&frame::read(saved).unwrap(), podinit_exporter::families()).unwrap();
    recorder.restore(&content.metrics, pods.iter().filter_map(SavedPod::in_flight));
    let (before, after) = (content.scope.shard, config.selectors.shard.unwrap_or_default());
    let source = content.tracker.sources.values().next();
    let version = source.and_then(|source| source.progress.version.clone());
    let same = SourceSuccessor::Same;
    let accounting = TrackerConfig::default();
    let mut tracker = Tracker::restored(accounting, content.tracker, pods, same, recorder);
    match before == after {
        true => config.resume = vec![version],
        false => {
            tracker.reshard(before, after, recorder);
        }
    }
    tracker
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
        Self::of_seed(1, sharding, watch_list).await
    }

    async fn of_seed(seed: u64, sharding: ShardingSupport, watch_list: bool) -> Self {
        let cluster = SimulatedCluster::start(ClusterConfig {
            seed,
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

    /// What has happened is delivered and accounted for, and nothing happens meanwhile.
    async fn catch_up(&mut self) {
        sleep(Duration::from_secs(2)).await;
        self.account();
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

    /// The sums over the shards.
    fn sums(&self) -> figures::Exposition {
        let mut sums = figures::Exposition::new();
        for (series, value) in self.shards.iter().flat_map(Process::figures) {
            *sums.entry(series).or_default() += value;
        }
        sums
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

/// One shard after the other is killed some seconds after its last commit, and starts again later.
async fn killed_shards_lose_and_double_nothing(shardings: &[ShardingSupport]) {
    for sharding in shardings {
        let mut world = World::start(*sharding, false).await;
        for (index, shard) in (0..).zip(shards(SHARDS)) {
            world.pass(10).await;
            let saved = world.shards[index].checkpoint();
            world.pass(3).await;
            world.shards.remove(index);
            world.pass(5).await;
            let process = Process::restored(&world.cluster, Some(shard), false, Some(&saved));
            world.shards.insert(index, process);
        }
        world.pass(30).await;
        let faults = world.faults();
        let faults = faults.iter().filter(|fault| !depends_on_arrival(fault));
        assert_eq!(faults.collect::<Vec<_>>(), <[&String; 0]>::default());
        let scheduled = |figures: &figures::Exposition| {
            let counts = figures.iter().filter(|(series, _)| {
                let is_count = series.starts_with("podinit_stage_duration_seconds_count")
                    && series.contains("stage=\"scheduling\"");
                is_count || series.starts_with("podinit_unobserved_total{interval=\"scheduling\"")
            });
            counts.map(|(_, count)| count).sum::<f64>()
        };
        assert_eq!(scheduled(&world.sums()), scheduled(&world.all.figures()));
    }
}

#[tokio::test(start_paused = true)]
async fn shards_that_are_killed_and_restarted_lose_and_double_nothing() {
    killed_shards_lose_and_double_nothing(&[ShardingSupport::Mixed]).await;
}

/// Whether a difference is one of pods with scheduling gates: the API does not say when they were
/// removed, so that this is when podinit learned of it ([§4.4](crate::specification#s4-4)).
fn depends_on_arrival(fault: &str) -> bool {
    let labels = ["stage=\"gated\"", "stage=\"scheduling\"", "kind=\"scheduling\""];
    let counters = [
        "podinit_clock_anomalies_total{kind=\"negative\"}",
        "podinit_unobserved_total{interval=\"scheduling\",reason=\"time\"}",
    ];
    labels.iter().any(|label| fault.contains(label))
        || counters.iter().any(|counter| fault.starts_with(counter))
}

/// What is the same, to the figure, where pods have moved between shards.
const OBSERVED: [&str; 5] = [
    "podinit_created_to_ready_duration_seconds",
    "podinit_scheduled_to_ready_duration_seconds",
    "podinit_inflight_pods",
    "podinit_waiting_pods",
    "podinit_pods_finished_total",
];

/// Four shards become six at one instant: pods in flight that leave a shard end as `moved` there, and are
/// adopted and observed by the one that they come to. In these seeds none of them looks as if it had
/// been Ready before ([§5.2](crate::specification#s5-2)), so that none is lost.
async fn moved_pods_are_observed_once(shardings: &[(u64, ShardingSupport)]) {
    for &(seed, sharding) in shardings {
        let mut world = World::of_seed(seed, sharding, false).await;
        world.pass(40).await;
        world.catch_up().await;
        let saved: Vec<_> = world.shards.iter().map(Process::checkpoint).collect();
        world.shards.clear();
        for (index, shard) in (0..).zip(shards(6)) {
            let saved = saved.get(index).map(Vec::as_slice);
            let process = Process::restored(&world.cluster, Some(shard), false, saved);
            world.shards.push(process);
        }
        world.pass(60).await;
        let (all, sums) = (world.all.figures(), world.sums());
        assert!(finished(&sums, "moved") > 3.0, "{}", finished(&sums, "moved"));
        let seen_again = |outcome| finished(&sums, outcome) - finished(&all, outcome);
        let again = ["moved", "preexisting", "static"].map(seen_again);
        let discovered = "podinit_pods_discovered_total";
        let discovered = sums[discovered] - all[discovered];
        assert_eq!(discovered, again.iter().sum::<f64>(), "seed {seed}");
        let faults = compare::differences(&compared(&all), &compared(&sums));
        assert!(faults.is_empty(), "seed {seed}: {}", faults.join("\n"));
        // A stage that ended before an earlier one did is not observed by the shard that adopts the pod.
        for stage in Stage::ALL {
            let observed = |of| total(of, "podinit_stage_duration_seconds_count", stage);
            let unobserved = |of: &figures::Exposition| {
                let labels = [("interval", stage.as_str()), ("reason", "preexisting")];
                of[&figures::series("podinit_unobserved_total", &labels)]
            };
            let missing = observed(&all) - observed(&sums);
            let known = unobserved(&sums) - unobserved(&all);
            assert!((0.0..=known).contains(&missing), "{stage:?}: {missing} {known}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pods_of_shards_that_are_numbered_anew_are_observed_once() {
    moved_pods_are_observed_once(&[(3, ShardingSupport::Mixed)]).await;
}

fn finished(figures: &figures::Exposition, outcome: &str) -> f64 {
    let name = format!("podinit_pods_finished_total{{outcome=\"{outcome}\"}}");
    figures.get(&name).copied().unwrap_or_default()
}

/// The sum of the series of a stage.
fn total(figures: &figures::Exposition, family: &str, stage: Stage) -> f64 {
    let stage = format!("stage=\"{}\"", stage.as_str());
    let series = figures.iter();
    let series = series.filter(|(name, _)| name.starts_with(family) && name.contains(&stage));
    series.map(|(_, value)| value).sum()
}

/// Without the outcomes of pods that two shards have discovered.
fn compared(figures: &figures::Exposition) -> figures::Exposition {
    let mut figures = figures.clone();
    let twice = ["\"moved\"", "\"preexisting\"", "\"static\""];
    figures.retain(|series, _| {
        OBSERVED.iter().any(|family| series.starts_with(family))
            && !twice.iter().any(|outcome| series.contains(outcome))
    });
    figures
}

/// The same of API servers that all shard, or none of them.
mod slow {
    use super::*;

    const OTHERS: [ShardingSupport; 2] = [ShardingSupport::On, ShardingSupport::Off];

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn streamed_lists_ask_and_the_watches_after_them_do_not() {
        streamed_lists_ask(&OTHERS).await;
    }

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn shards_that_are_killed_and_restarted_lose_and_double_nothing() {
        killed_shards_lose_and_double_nothing(&OTHERS).await;
    }

    #[tokio::test(start_paused = true)]
    #[ignore = "takes long; .ci/run full runs it"]
    async fn pods_of_shards_that_are_numbered_anew_are_observed_once() {
        moved_pods_are_observed_once(&OTHERS.map(|sharding| (2, sharding))).await;
    }
}
