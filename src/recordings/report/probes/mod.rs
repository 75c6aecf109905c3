//! The step `probe` of each workload beside the probes of its containers, and what to change in them.

mod advice;
#[cfg(test)]
mod advice_tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

pub use advice::{Advice, Finding, Taken, advise};

use crate::lifecycle::Latency;
use crate::pod::{ContainerProbes, PodInfo, Workload};

/// The probes of the workloads of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeReport {
    /// How many workloads have probes and pods of which the step `probe` was measured. One whose probes
    /// changed counts once for each version of them
    pub workloads: usize,
    /// How many of them need no change
    pub well: usize,
    /// Those that do, the slowest first
    pub advice: Vec<WorkloadAdvice>,
}

/// A workload whose probes should be changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadAdvice {
    pub namespace: String,
    /// The kind of the owner; `Pod` for pods without one
    pub workload_kind: String,
    /// The name of the owner, or of the pod
    pub workload: String,
    /// How many of its pods were measured
    pub pods: usize,
    /// The median from ContainersStarted to ContainersReady, in seconds
    pub p50: f64,
    /// The 99th percentile
    pub p99: f64,
    /// What to change, by container
    pub containers: Vec<Advice>,
}

/// A workload with certain probes: namespace, kind, name, probes.
type Key = (Arc<str>, Box<str>, Box<str>, Arc<Vec<ContainerProbes>>);

/// The durations of the step `probe`, of pods with probes.
#[derive(Debug, Default)]
pub struct ProbeTimes(BTreeMap<Key, Vec<Latency>>);

impl ProbeTimes {
    /// Counts a pod that took so long.
    pub fn add(&mut self, pod: &PodInfo, latency: Latency) {
        if let Some(key) = key(pod) {
            self.0.entry(key).or_default().push(latency);
        }
    }

    /// Those of the pods of the workload of `pod` that have the same probes.
    pub fn of_workload(&mut self, pod: &PodInfo) -> Vec<Latency> {
        let times = key(pod).and_then(|key| self.0.remove(&key));
        times.unwrap_or_default()
    }

    /// The advice, for at most `top` workloads.
    pub(super) fn report(self, top: usize) -> ProbeReport {
        let workloads = self.0.len();
        let mut advice: Vec<_> = self.0.into_iter().filter_map(workload_advice).collect();
        let well = workloads - advice.len();
        advice.sort_by(|one, other| other.p99.total_cmp(&one.p99));
        advice.truncate(top);
        ProbeReport {
            workloads,
            well,
            advice,
        }
    }
}

fn key(pod: &PodInfo) -> Option<Key> {
    let probes = Arc::clone(pod.probes.as_ref()?);
    let (kind, name) = match pod.workload.as_deref() {
        Some(Workload { kind, name }) => (kind.clone(), name.clone()),
        None => ("Pod".into(), pod.name.clone()),
    };
    Some((Arc::clone(&pod.namespace), kind, name, probes))
}

fn workload_advice((key, latencies): (Key, Vec<Latency>)) -> Option<WorkloadAdvice> {
    let (namespace, kind, name, probes) = key;
    let pods = latencies.len();
    let taken = Taken::of(latencies)?;
    let containers: Vec<_> = (probes.iter())
        .filter_map(|container| advise(container, taken))
        .collect();
    (!containers.is_empty()).then(|| WorkloadAdvice {
        namespace: namespace.to_string(),
        workload_kind: kind.into(),
        workload: name.into(),
        pods,
        p50: taken.p50,
        p99: taken.p99,
        containers,
    })
}
