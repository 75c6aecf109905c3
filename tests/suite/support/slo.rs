//! A simulated cluster that a test steps, with the pipeline in front of it, and the events of its
//! SLOs.

use std::time::Duration;

use podinit_core::lifecycle::SloId;
use podinit_core::timestamp::Timestamp;
use podinit_sim::sim_clock::time;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use podinit_slo::{Slo, SloFile};
use serde_json::json;

use crate::support::cluster::pipeline::Pipeline;
use crate::support::scrape::Scrape;

/// A namespace that no SLO is about.
const APART: &str = "kube-system";

/// A pod that stands for "everything before this has been delivered".
const MARKER: &str = "marker";

pub struct JudgedCluster {
    pub cluster: SimulatedCluster,
    pub pipeline: Pipeline,
    pub slos: SloFile,
}

impl JudgedCluster {
    /// A cluster judged by these SLOs, in which no pod stands yet that they are about.
    pub async fn start(config: ClusterConfig, slos: SloFile) -> Self {
        let cluster = SimulatedCluster::start(config).await.unwrap();
        let mut pipeline = Pipeline::judging(&cluster, &slos).await;
        pipeline.relisted().await;
        Self { cluster, pipeline, slos }
    }

    /// Lets simulated time pass, and the pipeline learn of all that happened.
    pub async fn step(&mut self, by: Duration) {
        self.cluster.step(by);
        self.see().await;
    }

    /// Lets the pipeline learn of everything up to now.
    pub async fn see(&mut self) {
        let now = self.cluster.clock().now();
        let marker = json!({"metadata": {
            "namespace": APART, "name": MARKER, "uid": MARKER, "creationTimestamp": time(now),
        }});
        let version = self.cluster.put_json(marker).unwrap();
        self.pipeline.catch_up(APART, MARKER, version).await;
        self.pipeline.advance(now);
    }

    /// Lets simulated time pass while the pipeline learns of nothing.
    pub fn step_blind(&mut self, by: Duration) -> Timestamp {
        let now = self.cluster.step(by);
        self.pipeline.advance(now);
        now
    }

    /// Scrapes, and holds the events of every SLO against how many pods are known that it is about.
    pub fn scrape(&self, known: impl Fn(&Slo) -> usize) -> Scrape {
        let scrape = self.pipeline.scrape();
        scrape.assert_conserved();
        for (id, slo) in (0..).map(SloId).zip(&self.slos.slos) {
            let of_slo = |name| scrape.sum_where(name, "slo", &slo.rule.name);
            let events = of_slo("podinit_slo_events_total");
            let excluded = of_slo("podinit_slo_excluded_total");
            let undecided = self.pipeline.undecided(id);
            assert_eq!(
                events + excluded + undecided as f64,
                known(slo) as f64,
                "{}: {events} good or bad, {excluded} excluded, {undecided} undecided",
                slo.rule.name
            );
        }
        scrape
    }

    /// How many pods there have been outside the namespace of the marker.
    pub fn pods(&self) -> usize {
        let pods = self.cluster.truth().pods();
        pods.iter().filter(|pod| pod.namespace != APART).count()
    }
}
