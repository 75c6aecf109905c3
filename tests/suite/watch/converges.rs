//! The list-watch against the embedded cluster, over real sockets and in paused time, under every fault that
//! it can be given: whatever happens, the receiver ends up with exactly the pods that there are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::support::PATIENCE;
use crate::support::embedded::encoding;
use bytes::Bytes;
use podinit_connect::connect_to;
use podinit_core::lifecycle::{Delivery, PodEvent};
use podinit_core::pod::PodSnapshot;
use podinit_kube::cluster::clock::SystemClock;
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::{WatchErrorReason, WatchStats};
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::faults::{FaultAnswer, FaultTarget, StreamFault};
use podinit_sim::rng::Rng;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Name → version.
type Pods = BTreeMap<String, u64>;

/// What a receiver knows that believes every delivery, but no version older than it has.
#[derive(Default)]
struct Mirror {
    pods: Pods,
    synced: bool,
}

impl Mirror {
    fn take(&mut self, delivery: Delivery) {
        let entry = |pod: PodSnapshot| (pod.info.name.into_string(), pod.resource_version.unwrap());
        match delivery.event {
            PodEvent::Applied(pod) => {
                let (name, version) = entry(pod);
                let known = self.pods.entry(name).or_default();
                *known = version.max(*known);
            }
            PodEvent::Deleted(pod) => {
                let (name, version) = entry(pod);
                if self.pods.get(&name).is_some_and(|known| *known <= version) {
                    self.pods.remove(&name);
                }
            }
            PodEvent::Listed { pods, .. } => {
                self.pods = pods.into_iter().map(entry).collect();
                self.synced = true;
            }
            PodEvent::Bookmark | PodEvent::Event(_) => {}
            PodEvent::SyncLost => self.synced = false,
            PodEvent::Resumed | PodEvent::CaughtUp => self.synced = true,
            other => panic!("a live watch does not deliver {other:?}"),
        }
    }
}

/// What there really is.
struct World {
    cluster: SimulatedCluster,
    pods: Pods,
    random: Rng,
}

impl World {
    fn write(&mut self) {
        let name = format!("pod-{}", self.random.within(0..=30));
        if self.random.within(0..=2) == 0 {
            self.cluster.delete_json("ns", &name);
            self.pods.remove(&name);
            return;
        }
        let object = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        });
        let version = self.cluster.put_json(object).unwrap();
        self.pods.insert(name, version);
    }

    fn write_some(&mut self) {
        for _ in 0..self.random.within(1..=5) {
            self.write();
        }
    }

    fn disturb(&mut self) {
        let faults = self.cluster.faults();
        match self.random.within(0..=11) {
            0 => faults.stream(StreamFault::End),
            1 => faults.stream(StreamFault::Cut),
            2 => faults.stream(StreamFault::Gone),
            3 => faults.stream(StreamFault::Corrupt),
            4 => faults.stream(StreamFault::Truncated),
            5 => faults.stream(StreamFault::Oversized(100_000)),
            6 => faults.stream(StreamFault::Raw(Bytes::from_static(b"\xff\xfe{]\n\n"))),
            7 => {
                faults.answer(FaultTarget::Watch, 1, FaultAnswer::Expired);
                faults.stream(StreamFault::End);
            }
            8 => {
                faults.answer(FaultTarget::NextPage, 1, FaultAnswer::Expired);
                faults.stream(StreamFault::Gone);
            }
            9 => {
                faults.answer(FaultTarget::List, 1, FaultAnswer::Half { hangs: false });
                faults.answer(FaultTarget::NextPage, 1, FaultAnswer::Half { hangs: true });
                faults.stream(StreamFault::Gone);
            }
            10 => {
                faults.answer(FaultTarget::Watch, 1, FaultAnswer::Never);
                faults.stream(StreamFault::Cut);
            }
            _ => {
                let name = self.pods.keys().next().cloned();
                if let Some(name) = name {
                    self.cluster.remove_unseen("ns", &name);
                    self.pods.remove(&name);
                    faults.stream(StreamFault::End);
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_receiver_ends_up_with_exactly_the_pods_that_there_are() {
    let mut world = World {
        cluster: SimulatedCluster::start(ClusterConfig::manual()).await.unwrap(),
        pods: Pods::new(),
        random: Rng::new(11),
    };
    let mut config = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
    let brief = Duration::from_millis(200);
    let reflector = &mut config.reflector;
    reflector.encoding = encoding!();
    reflector.page_limit = 4;
    reflector.max_line_bytes = 50_000;
    reflector.header_timeout = brief;
    reflector.chunk_timeout = brief;
    reflector.idle_timeout = brief;
    reflector.settle_quiet = Duration::from_millis(5);
    reflector.backoff_base = Duration::from_millis(2);
    reflector.backoff_cap = Duration::from_millis(20);
    reflector.seed = Some(3);
    let stats = Arc::new(WatchStats::new(1));
    let (sender, deliveries) = mpsc::channel(16);
    let cancel = CancellationToken::new();
    let api = connect_to(world.cluster.url(), "the test".into()).await.unwrap();
    let clock = Arc::new(SystemClock);
    let mut tasks = spawn(&api.client, &config, clock, &stats, &sender, &cancel);

    let mut receiver = Receiver { deliveries, mirror: Mirror::default() };
    for _ in 0..60 {
        world.write_some();
        world.disturb();
        world.write_some();
        if world.random.within(0..=3) == 0 {
            receiver.agrees_with(&world).await;
        }
    }
    // Each kind of fault has met an open watch at least once.
    let faults = world.cluster.faults();
    for (fault, reason) in [
        (StreamFault::Gone, WatchErrorReason::Gone),
        (StreamFault::Corrupt, WatchErrorReason::Decode),
        (StreamFault::Cut, WatchErrorReason::Transport),
        (StreamFault::Oversized(100_000), WatchErrorReason::LineTooLong),
    ] {
        while stats.errors(reason) == 0 {
            receiver.agrees_with(&world).await;
            faults.stream(fault.clone());
            world.write_some();
        }
    }
    receiver.agrees_with(&world).await;
    cancel.cancel();
    assert!(tasks.join_next().await.unwrap().is_ok());
}

struct Receiver {
    deliveries: mpsc::Receiver<Delivery>,
    mirror: Mirror,
}

impl Receiver {
    /// Takes deliveries until it knows what there is. The limit is for a test that fails only.
    async fn agrees_with(&mut self, world: &World) {
        let agree = async {
            while self.mirror.pods != world.pods || !self.mirror.synced {
                self.mirror.take(self.deliveries.recv().await.unwrap());
            }
        };
        let agreed = tokio::time::timeout(PATIENCE, agree).await;
        let (ours, theirs) = (&self.mirror.pods, &world.pods);
        assert!(agreed.is_ok(), "{ours:?} is not {theirs:?}");
    }
}
