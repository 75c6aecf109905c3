//! The cluster as a whole: the same for the same seed, bounded, and full of everything within
//! ten seconds.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::PATIENCE;
use super::client::{Http, PODS, names, version};
use crate::profile::LifeKind;
use crate::scene::Scene;
use crate::sim_clock::SECOND;
use crate::truth::PodEnding;
use crate::{ClusterConfig, SimulatedCluster};
use bytes::Bytes;
use podinit_core::timestamp::Timestamp;
use serde_json::Value;
use tokio::time::timeout;

const START: Timestamp = Timestamp::from_seconds(1_790_000_000);

async fn stepped(config: ClusterConfig) -> SimulatedCluster {
    let config = ClusterConfig { start: Some(START), stepped: true, ..config };
    SimulatedCluster::start(config).await.unwrap()
}

/// Every event of `seconds`, delivered in steps so small that no compaction hides one.
fn events_of(cluster: &SimulatedCluster, seconds: u64) -> Vec<Bytes> {
    let mut events = Vec::new();
    let mut version = cluster.store().version();
    for _ in 0..seconds * 500 {
        cluster.step(Duration::from_millis(2));
        match cluster.store().events_after(version, usize::MAX) {
            Ok(batch) => {
                events.extend(batch.events.into_iter().map(|event| event.object.json.clone()));
                version = batch.up_to;
            }
            Err(_) => version = cluster.store().version(),
        }
    }
    events
}

#[tokio::test]
async fn one_seed_and_the_same_steps_give_the_same_bytes() {
    let run = async |seed| {
        let cluster = stepped(ClusterConfig { seed, ..ClusterConfig::default() }).await;
        let events = events_of(&cluster, 12);
        let list = Http::to(&cluster).list("limit=50").await;
        (events, list)
    };
    let (first, again, other) = (run(7).await, run(7).await, run(8).await);
    assert!(first.0.len() > 400, "{}", first.0.len());
    assert!(first == again);
    assert!(first.0 != other.0);
}

#[tokio::test]
async fn after_ten_seconds_everything_has_happened() {
    for seed in 1..4 {
        let cluster = stepped(ClusterConfig { seed, ..ClusterConfig::default() }).await;
        let standing = names(&Http::to(&cluster).list("").await);
        assert!(standing.len() >= 50, "{}", standing.len());
        let events = events_of(&cluster, 9);
        let pods = cluster.truth().pods();
        let fresh: Vec<_> = pods.iter().filter(|pod| pod.created > START).collect();

        let kinds: HashSet<LifeKind> = fresh.iter().filter_map(|pod| pod.kind).collect();
        assert_eq!(kinds.len(), LifeKind::all().count());
        let endings: HashSet<PodEnding> = fresh.iter().filter_map(|pod| pod.ending).collect();
        assert_eq!(endings.len(), 4, "seed {seed}: {endings:?}");
        assert!(fresh.iter().any(|pod| pod.unseen && pod.ready.is_none()), "seed {seed}");

        let ready = |kind| (fresh.iter()).any(|pod| pod.kind == Some(kind) && pod.ready.is_some());
        for kind in [
            LifeKind::Plain,
            LifeKind::InitContainers,
            LifeKind::Gated,
            LifeKind::Unschedulable,
            LifeKind::ReadinessGate,
            LifeKind::WithoutCondition,
            LifeKind::ReadyBeforeNetwork,
            LifeKind::ClockAhead,
            LifeKind::ClockSlightlyBehind,
            LifeKind::ClockFarBehind,
        ] {
            assert!(ready(kind), "seed {seed}: {kind:?}");
        }
        // Adopted in flight, and ready since.
        assert!((pods.iter()).any(|pod| {
            pod.created < START
                && pod.scheduled.is_some_and(|scheduled| scheduled.written < START)
                && pod.ready.is_none_or(|ready| ready.written > START)
        }));
        let behind = |pod: &&&crate::truth::PodTruth| {
            let (Some(from), Some(to)) = (pod.scheduled, pod.network_ready) else {
                return None;
            };
            Some(to.stamped.nanos_since(from.stamped))
        };
        let gaps: Vec<i64> = fresh.iter().filter_map(|pod| behind(&pod)).collect();
        assert!(gaps.iter().any(|gap| (-SECOND..0).contains(gap)), "seed {seed}: rounded");
        assert!(gaps.iter().any(|gap| *gap < -SECOND), "seed {seed}: negative");

        let reentered = reentered(&events);
        for name in ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"] {
            assert!(reentered.contains(name), "seed {seed}: {name}");
        }
    }
}

/// The condition types that became True again on one pod.
fn reentered(events: &[Bytes]) -> HashSet<String> {
    let mut last_true: HashMap<(String, String), String> = HashMap::new();
    let mut reentered = HashSet::new();
    for event in events {
        let pod: Value = serde_json::from_slice(event).unwrap();
        let uid = pod["metadata"]["uid"].as_str().unwrap();
        for condition in pod["status"]["conditions"].as_array().into_iter().flatten() {
            if condition["status"] == "True" {
                let name = condition["type"].as_str().unwrap().to_owned();
                let time = condition["lastTransitionTime"].as_str().unwrap().to_owned();
                let key = (uid.to_owned(), name.clone());
                if last_true.insert(key, time.clone()).is_some_and(|last| last < time) {
                    reentered.insert(name);
                }
            }
        }
    }
    reentered
}

#[tokio::test]
async fn the_population_stays_within_its_bounds() {
    let config = ClusterConfig { rate: 20.0, population: 200, ..ClusterConfig::default() };
    let cluster = stepped(config).await;
    for _ in 0..60 {
        cluster.step(Duration::from_secs(1));
        if cluster.store().len() <= 290 {
            continue;
        }
        // Those that start stay, and the oldest of the others take two seconds to go.
        let starting = (cluster.truth().pods().iter())
            .filter(|pod| pod.ending.is_none() && pod.removed.is_none())
            .count();
        let most = starting + 90;
        assert!(cluster.store().len() <= most, "{}", cluster.store().len());
    }
    assert!(cluster.truth().pods().len() > 1_000);
}

#[tokio::test]
async fn in_an_outage_no_sandbox_comes_up() {
    let config = ClusterConfig {
        scene: Some((Scene::CniOutage, Duration::from_secs(20))),
        ..ClusterConfig::default()
    };
    let cluster = stepped(config).await;
    cluster.step(Duration::from_secs(60));
    let outage = START.plus_nanos(20 * SECOND);
    let begun = |since: Timestamp| {
        let pods = cluster.truth().pods();
        pods.iter().filter(|pod| pod.created > since && pod.network_ready.is_some()).count()
    };
    assert_eq!(begun(outage), 0);
    cluster.set_broken(None);
    cluster.step(Duration::from_secs(60));
    assert!(begun(outage) > 50, "{}", begun(outage));
}

#[tokio::test]
async fn the_kube_client_reads_every_pod() {
    let cluster = stepped(ClusterConfig::default()).await;
    cluster.step(Duration::from_secs(30));
    let client = kube::Client::try_from(kube::Config::new(cluster.url())).unwrap();
    let pods = kube::Api::<k8s_openapi::api::core::v1::Pod>::all(client);
    let list = pods.list(&kube::api::ListParams::default()).await.unwrap();
    assert_eq!(list.items.len(), cluster.store().len());
    for pod in list {
        let size = serde_json::to_vec(&pod).unwrap().len();
        assert!((2_500..8_500).contains(&size), "{size}");
    }
}

#[tokio::test]
async fn a_running_cluster_serves_at_once_and_moves_by_itself() {
    // Without gaps in the watches: on a slow machine one comes between the list and the watch.
    let cluster = SimulatedCluster::start(ClusterConfig {
        speed: 5.0,
        rate: 2.0,
        opening: false,
        history: usize::MAX,
        ..ClusterConfig::default()
    })
    .await
    .unwrap();
    let http = Http::to(&cluster);
    let list = http.get(PODS).await;
    assert_eq!(list.code, 200);
    let version = version(&list.json);
    let mut watch = http.watch(&format!("resourceVersion={version}")).await;
    let mut last = list.json["metadata"].clone();
    for _ in 0..20 {
        let event = timeout(PATIENCE, watch.next_event()).await;
        last = event.unwrap_or_else(|_| panic!("nothing comes after {last}"));
    }
    cluster.shutdown().await;
}

#[tokio::test]
async fn a_senseless_configuration_is_refused() {
    for config in [
        ClusterConfig { speed: 0.0, ..ClusterConfig::default() },
        ClusterConfig { rate: f64::NAN, ..ClusterConfig::default() },
    ] {
        let error = SimulatedCluster::start(config).await.unwrap_err().to_string();
        assert!(error.contains("choose"), "{error}");
    }
}
