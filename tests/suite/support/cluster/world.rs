//! The cluster, the pipeline in front of it, and what happened when.

use std::collections::BTreeMap;
use std::time::Duration;

use podinit_core::timestamp::Timestamp;
use podinit_sim::faults::{Answer, StreamFault, Target};
use podinit_sim::life::Life;
use podinit_sim::object::ObjectKey;
use podinit_sim::rng::Rng;
use podinit_sim::sim_clock::time;
use podinit_sim::truth::{Ending, PodTruth};
use podinit_sim::{Cluster, ClusterConfig};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::claims::Claims;
use super::expected::History;
use super::facts::Facts;
use super::pipeline::Pipeline;
use crate::support::PATIENCE;
use crate::support::scrape::Scrape;

/// A pod that stands for "everything before this has been delivered"; it never starts up.
const MARKER: &str = "marker";

pub struct World {
    pub cluster: Cluster,
    pub pipeline: Pipeline,
    pub random: Rng,
    history: History,
    /// Versions up to this one are in the facts
    delivered: u64,
}

impl World {
    /// A cluster in which some pods stand already, and a pipeline that has listed them.
    pub async fn start(seed: u64) -> Self {
        Self::with(ClusterConfig {
            rate: 4.0,
            seed,
            preexisting: 60,
            history: 100_000,
            population: 150,
            ..ClusterConfig::manual()
        })
        .await
    }

    /// A cluster like this, and a pipeline that has listed its pods.
    pub async fn with(config: ClusterConfig) -> Self {
        let seed = config.seed;
        let cluster = Cluster::start(config).await.unwrap();
        let mut facts: BTreeMap<String, Facts> = BTreeMap::new();
        let now = cluster.clock().now();
        for pod in cluster.truth().pods() {
            let key = ObjectKey::new(&pod.namespace, &pod.name);
            if let Some(object) = cluster.store().get(&key) {
                let fact = facts.entry(pod.uid).or_default();
                fact.see(&serde_json::from_slice(&object.json).unwrap(), now);
            }
        }
        let delivered = cluster.store().version();
        let mut world = Self {
            pipeline: Pipeline::start(&cluster).await,
            random: Rng::new(seed),
            history: History {
                listed: cluster.truth().pods(),
                facts,
                looks: vec![now],
                marker: (MARKER, now),
            },
            cluster,
            delivered,
        };
        world.catch_up().await;
        world
    }

    /// Lets simulated time pass, and the pipeline learn of all that happened.
    pub async fn step(&mut self, by: Duration) {
        let now = self.cluster.step(by);
        self.history.looks.push(now);
        self.read_facts(now);
        self.catch_up().await;
    }

    /// Begins a life, of which the pipeline learns at once.
    pub async fn begin(&mut self, life: Life) {
        assert!(self.cluster.begin(life), "the name is taken");
        self.read_facts(self.cluster.clock().now());
        self.catch_up().await;
    }

    /// A fault that loses no event: all are delivered in the end.
    pub fn disturb(&mut self) {
        let faults = self.cluster.faults();
        match self.random.within(0..=11) {
            0 => faults.stream(StreamFault::End),
            1 => faults.stream(StreamFault::Cut),
            2 => faults.stream(StreamFault::Truncated),
            3 => faults.set_modes(|modes| modes.duplicate_events = !modes.duplicate_events),
            4 => {
                faults.answer(Target::Watch, 1, Answer::Never);
                faults.stream(StreamFault::End);
            }
            5 => {
                faults.answer(Target::Watch, 1, Answer::Half { hangs: true });
                faults.stream(StreamFault::Cut);
            }
            6 => faults.set_modes(|modes| modes.no_bookmarks = !modes.no_bookmarks),
            _ => {}
        }
    }

    /// Open streams fall silent over one step, until the client has opened another one.
    pub async fn hang(&mut self, by: Duration) {
        let faults = self.cluster.faults();
        let before = faults.received(Target::Watch);
        faults.set_modes(|modes| modes.silent_streams = true);
        let now = self.cluster.step(by);
        self.history.looks.push(now);
        self.read_facts(now);
        let reopened = faults.requests_until(|_| faults.received(Target::Watch) > before);
        timeout(PATIENCE, reopened).await.expect("the client never gives up");
        faults.set_modes(|modes| modes.silent_streams = false);
        self.catch_up().await;
    }

    /// The watch receives that its version is gone, and has to list again, which fails at first.
    pub async fn relist(&mut self) {
        let faults = self.cluster.faults();
        match self.random.within(0..=5) {
            0 => faults.stream(StreamFault::Gone),
            1 => {
                faults.answer(Target::Watch, 1, Answer::Expired);
                faults.stream(StreamFault::End);
            }
            2 => {
                faults.answer(Target::NextPage, 1, Answer::Expired);
                faults.stream(StreamFault::Gone);
            }
            3 => {
                faults.answer(Target::NextPage, 2, Answer::Half { hangs: false });
                faults.stream(StreamFault::Gone);
            }
            4 => {
                faults.answer(Target::List, 1, Answer::Never);
                faults.answer(Target::NextPage, 1, Answer::Half { hangs: true });
                faults.stream(StreamFault::Gone);
            }
            _ => {
                faults.set_modes(|modes| modes.list_lag = 40);
                faults.stream(StreamFault::Gone);
            }
        }
        self.pipeline.relisted().await;
        faults.set_modes(|modes| modes.list_lag = 0);
        self.catch_up().await;
    }

    /// A pod in flight is removed without a watch event.
    pub async fn miss_a_deletion(&mut self) {
        let in_flight: Vec<PodTruth> = (self.cluster.truth().pods().into_iter())
            .filter(|pod| pod.ending.is_none() && pod.removed.is_none())
            .collect();
        let last = u32::try_from(in_flight.len()).unwrap() - 1;
        let pod = &in_flight[self.random.within(0..=last) as usize];
        assert!(self.cluster.remove_unseen(&pod.namespace, &pod.name));
        let truth = self.cluster.truth().pod(&pod.uid).unwrap();
        assert!(truth.unseen && truth.ending == Some(Ending::Removed));
        self.pipeline.relisted().await;
        self.delivered = self.cluster.store().version();
        self.catch_up().await;
    }

    pub fn scrape(&self) -> Scrape {
        self.pipeline.scrape()
    }

    /// What the metrics must say.
    pub fn claims(&self) -> Claims {
        self.history.claims(&self.cluster.truth().pods())
    }

    /// How many pods must have been discovered.
    pub fn discovered(&self) -> f64 {
        self.history.discovered(&self.cluster.truth().pods())
    }

    async fn catch_up(&mut self) {
        let created = time(self.history.marker.1);
        let marker = json!({"metadata": {
            "namespace": MARKER, "name": MARKER, "uid": MARKER, "creationTimestamp": created,
        }});
        let version = self.cluster.put_json(marker).unwrap();
        self.pipeline.catch_up(MARKER, MARKER, version).await;
    }

    fn read_facts(&mut self, now: Timestamp) {
        let batch = (self.cluster.store()).events_after(self.delivered, usize::MAX).unwrap();
        for event in batch.events {
            let pod: Value = serde_json::from_slice(&event.object.json).unwrap();
            let uid = pod["metadata"]["uid"].as_str().unwrap();
            if uid != MARKER {
                let facts = self.history.facts.entry(uid.to_owned()).or_default();
                facts.see(&pod, now);
            }
        }
        self.delivered = batch.up_to;
    }
}
