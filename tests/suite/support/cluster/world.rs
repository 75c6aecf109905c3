//! The cluster, the pipeline in front of it, and what happened when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;
use podinit_sim::faults::{FaultAnswer, FaultTarget, StreamFault};
use podinit_sim::life::PodLife;
use podinit_sim::object::{EventKind, ObjectKey};
use podinit_sim::rng::Rng;
use podinit_sim::sim_clock::time;
use podinit_sim::truth::{PodEnding, PodTruth};
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::pipeline::Pipeline;
use crate::oracle::examples::FUSED;
use crate::oracle::exposition;
use crate::oracle::figures::Exposition;
use crate::oracle::reading;
use crate::support::PATIENCE;
use crate::support::scrape::Scrape;

/// A pod that stands for "everything before this has been delivered"; it never starts up.
const MARKER: &str = "marker";

/// Families whose every series is compared.
const FAMILIES: [&str; 16] = [
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_unobserved_total",
    "podinit_clock_anomalies_total",
    "podinit_reentries_total",
    "podinit_stage_duration_seconds_count",
    "podinit_stage_duration_seconds_sum",
    "podinit_step_duration_seconds_count",
    "podinit_step_duration_seconds_sum",
    "podinit_network_evidence_total",
    "podinit_scheduled_to_ready_duration_seconds_count",
    "podinit_scheduled_to_ready_duration_seconds_sum",
    "podinit_created_to_ready_duration_seconds_count",
    "podinit_created_to_ready_duration_seconds_sum",
    "podinit_label_overflow_pods_total",
    "podinit_synced",
];

pub struct World {
    pub cluster: SimulatedCluster,
    pub pipeline: Pipeline,
    pub random: Rng,
    /// When the first list was made, and the marker created
    listed: Timestamp,
    /// By UID: what was delivered of each pod that is not gone, beginning with the first list
    documents: BTreeMap<String, Vec<Value>>,
    /// The figures of the pods that are gone, and how many they are
    gone: (Exposition, usize),
    /// Versions up to this one are in the documents
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
        let cluster = SimulatedCluster::start(config).await.unwrap();
        let now = cluster.clock().now();
        let mut world = Self {
            pipeline: Pipeline::start(&cluster).await,
            random: Rng::new(seed),
            listed: now,
            documents: BTreeMap::new(),
            gone: Default::default(),
            delivered: cluster.store().version(),
            cluster,
        };
        for pod in world.cluster.truth().pods() {
            let key = ObjectKey::new(&pod.namespace, &pod.name);
            if let Some(object) = world.cluster.store().get(&key) {
                let pod: Value = serde_json::from_slice(&object.json).unwrap();
                world.documents.insert(uid_of(&pod), vec![list(vec![pod], now)]);
            }
        }
        world.catch_up().await;
        world
    }

    /// Lets simulated time pass, and the pipeline learn of all that happened.
    pub async fn step(&mut self, by: Duration) {
        let now = self.cluster.step(by);
        self.read_events(now);
        self.catch_up().await;
    }

    /// Begins a life, of which the pipeline learns at once.
    pub async fn begin(&mut self, life: PodLife) {
        assert!(self.cluster.begin(life), "the name is taken");
        self.read_events(self.cluster.clock().now());
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
                faults.answer(FaultTarget::Watch, 1, FaultAnswer::Never);
                faults.stream(StreamFault::End);
            }
            5 => {
                faults.answer(FaultTarget::Watch, 1, FaultAnswer::Half { hangs: true });
                faults.stream(StreamFault::Cut);
            }
            6 => faults.set_modes(|modes| modes.no_bookmarks = !modes.no_bookmarks),
            _ => {}
        }
    }

    /// Open streams fall silent over one step, until the client has opened another one.
    pub async fn hang(&mut self, by: Duration) {
        let faults = self.cluster.faults();
        let before = faults.received(FaultTarget::Watch);
        faults.set_modes(|modes| modes.silent_streams = true);
        let now = self.cluster.step(by);
        self.read_events(now);
        let reopened = faults.requests_until(|_| faults.received(FaultTarget::Watch) > before);
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
                faults.answer(FaultTarget::Watch, 1, FaultAnswer::Expired);
                faults.stream(StreamFault::End);
            }
            2 => {
                faults.answer(FaultTarget::NextPage, 1, FaultAnswer::Expired);
                faults.stream(StreamFault::Gone);
            }
            3 => {
                faults.answer(FaultTarget::NextPage, 2, FaultAnswer::Half { hangs: false });
                faults.stream(StreamFault::Gone);
            }
            4 => {
                faults.answer(FaultTarget::List, 1, FaultAnswer::Never);
                faults.answer(FaultTarget::NextPage, 1, FaultAnswer::Half { hangs: true });
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
        assert!(truth.unseen && truth.ending == Some(PodEnding::Removed));
        self.pipeline.relisted().await;
        self.delivered = self.cluster.store().version();
        let documents = self.documents.get_mut(&pod.uid).expect("it was delivered");
        documents.push(list(Vec::new(), self.cluster.clock().now()));
        self.catch_up().await;
    }

    pub fn scrape(&self) -> Scrape {
        self.pipeline.scrape()
    }

    /// Where the metrics say something else than the oracle, one line each.
    pub fn faults(&mut self) -> Vec<String> {
        let (gone, there): (BTreeMap<_, _>, _) =
            std::mem::take(&mut self.documents).into_iter().partition(|(_, documents)| {
                documents.last().is_some_and(|last| last["type"] == "DELETED" || is_empty(last))
            });
        self.documents = there;
        gone.values().for_each(|documents| add(&mut self.gone.0, documents));
        self.gone.1 += gone.len();
        let mut expected = self.gone.0.clone();
        self.documents.values().for_each(|documents| add(&mut expected, documents));
        // The marker is in flight, and stays so.
        *expected.entry("podinit_pods_discovered_total".to_owned()).or_default() += 1.0;
        expected.insert("podinit_synced".to_owned(), 1.0);
        let scrape = self.scrape();
        let lines = scrape.series().map(|(series, value)| format!("{series} {value}\n"));
        let actual = exposition::parse(&lines.collect::<String>());
        let compared =
            |series: &&String| FAMILIES.contains(&series.split('{').next().unwrap_or(""));
        let all: BTreeSet<_> = expected.keys().chain(actual.keys()).filter(compared).collect();
        let differs = all.into_iter().filter_map(|series| {
            let [claimed, actual] =
                [&expected, &actual].map(|of| of.get(series).copied().unwrap_or(0.0));
            // Sums of binary fractions; everything else is a count.
            let differs = (actual - claimed).abs() > 1e-6;
            differs.then(|| format!("{series} is {actual}, must be {claimed}"))
        });
        differs.collect()
    }

    /// How many pods must have been discovered, the marker among them.
    pub fn discovered(&self) -> f64 {
        (1 + self.gone.1 + self.documents.len()) as f64
    }

    async fn catch_up(&mut self) {
        let created = time(self.listed);
        let marker = json!({"metadata": {
            "namespace": MARKER, "name": MARKER, "uid": MARKER, "creationTimestamp": created,
        }});
        let version = self.cluster.put_json(marker).unwrap();
        self.pipeline.catch_up(MARKER, MARKER, version).await;
    }

    fn read_events(&mut self, now: Timestamp) {
        let batch = (self.cluster.store()).events_after(self.delivered, usize::MAX).unwrap();
        for event in batch.events {
            let mut pod: Value = serde_json::from_slice(&event.object.json).unwrap();
            pod["kind"] = "Pod".into();
            let uid = uid_of(&pod);
            if uid == MARKER {
                continue;
            }
            let kind = match event.kind {
                EventKind::Added => "ADDED",
                EventKind::Modified => "MODIFIED",
                EventKind::Deleted => "DELETED",
            };
            let nobody = || vec![list(Vec::new(), self.listed)];
            let documents = self.documents.entry(uid).or_insert_with(nobody);
            documents
                .push(json!({"type": kind, "object": pod, "observedAt": rfc3339::format(now)}));
        }
        self.delivered = batch.up_to;
    }
}

fn uid_of(pod: &Value) -> String {
    pod["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// A list of these pods.
fn list(pods: Vec<Value>, at: Timestamp) -> Value {
    json!({"kind": "PodList", "items": pods, "observedAt": rfc3339::format(at)})
}

/// Whether it is a list after which a pod is gone.
fn is_empty(document: &Value) -> bool {
    document["items"].as_array().is_some_and(Vec::is_empty)
}

/// Adds what the oracle reads of one pod.
fn add(figures: &mut Exposition, documents: &[Value]) {
    for (series, value) in reading::read(documents, &FUSED).exposition() {
        *figures.entry(series).or_default() += value;
    }
}
