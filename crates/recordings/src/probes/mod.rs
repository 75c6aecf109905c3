//! The step `probe` of each workload beside the probes of its containers, and what to change in them.

mod advice;
#[cfg(test)]
mod advice_tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

pub use advice::{Advice, PRECISION, ProbeDurations, ProbeFinding, advise};

use podinit_core::lifecycle::Latency;
use podinit_core::pod::{ContainerProbes, PodInfo, Workload};
use podinit_core::quantile::ExactDistribution;

/// The probes of the workloads of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeReport {
    /// How many workloads have probes and at least five startups with the same probes and images, of which the step
    /// `probe` was measured
    pub workloads: usize,
    /// How many more have fewer startups, too few for advice
    pub too_few: usize,
    /// How many of them need no change
    pub well: usize,
    /// Those that do, the slowest first
    pub advice: Vec<WorkloadAdvice>,
}

/// A workload whose probes should be changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadAdvice {
    pub namespace: String,
    /// The kind of the owner in small letters; `pod` for pods without one
    pub workload_type: String,
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

/// A version of a workload: its pods have the same owner, probes and images. Another image is another
/// application, which may take longer to start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WorkloadVersion {
    namespace: Arc<str>,
    kind: Box<str>,
    name: Box<str>,
    probes: Arc<Vec<ContainerProbes>>,
    images: Option<Arc<Vec<Arc<str>>>>,
}

/// The durations of the step `probe`, of pods with probes.
#[derive(Debug, Default)]
pub struct ProbeTimes(BTreeMap<WorkloadVersion, ExactDistribution>);

impl ProbeTimes {
    /// Counts a pod that took so long.
    pub fn add(&mut self, pod: &PodInfo, latency: Latency) {
        if let Some(version) = WorkloadVersion::from_pod(pod) {
            self.0.entry(version).or_default().add(latency);
        }
    }

    /// Those of the pods of the version of `pod`.
    pub fn of_version(&mut self, pod: &PodInfo) -> ExactDistribution {
        let times = WorkloadVersion::from_pod(pod).and_then(|version| self.0.remove(&version));
        times.unwrap_or_default()
    }

    /// The advice, for at most `top` workloads.
    pub fn report(self, top: usize) -> ProbeReport {
        let mut workloads: BTreeMap<_, WorkloadVersions> = BTreeMap::new();
        for (version, taken) in self.0 {
            let WorkloadVersion { namespace, kind, name, .. } = &version;
            let key = (Arc::clone(namespace), kind.clone(), name.clone());
            let versions = workloads.entry(key).or_default();
            if let Some(taken) = ProbeDurations::from_distribution(&taken) {
                versions.are_measured = true;
                versions.add(workload_advice(&version, taken));
            }
        }
        let too_few = workloads.values().filter(|versions| !versions.are_measured).count();
        let measured = workloads.len() - too_few;
        let advice = workloads.into_values().filter_map(|versions| versions.advice);
        let mut advice: Vec<WorkloadAdvice> = advice.collect();
        let well = measured - advice.len();
        advice.sort_by(|one, other| other.p99.total_cmp(&one.p99));
        advice.truncate(top);
        ProbeReport { workloads: measured, too_few, well, advice }
    }
}

/// What is known of all versions of a workload.
#[derive(Default)]
struct WorkloadVersions {
    /// Whether one has enough startups
    are_measured: bool,
    /// The advice for the version of most pods
    advice: Option<WorkloadAdvice>,
}

impl WorkloadVersions {
    fn add(&mut self, advice: Option<WorkloadAdvice>) {
        let pods = |advice: &Option<WorkloadAdvice>| advice.as_ref().map_or(0, |one| one.pods);
        if pods(&advice) > pods(&self.advice) {
            self.advice = advice;
        }
    }
}

impl WorkloadVersion {
    /// That of a pod; `None` without probes.
    fn from_pod(pod: &PodInfo) -> Option<Self> {
        let probes = Arc::clone(pod.probes.as_ref()?);
        let (kind, name) = match pod.workload.as_deref() {
            Some(Workload { kind, name }) => (kind.clone(), name.clone()),
            None => ("Pod".into(), pod.name.clone()),
        };
        Some(Self {
            namespace: Arc::clone(&pod.namespace),
            kind,
            name,
            probes,
            images: pod.images.clone(),
        })
    }
}

fn workload_advice(version: &WorkloadVersion, taken: ProbeDurations) -> Option<WorkloadAdvice> {
    let containers: Vec<_> =
        (version.probes.iter()).filter_map(|container| advise(container, taken)).collect();
    (!containers.is_empty()).then(|| WorkloadAdvice {
        namespace: version.namespace.to_string(),
        workload_type: Workload::type_of(&version.kind),
        workload: version.name.to_string(),
        pods: taken.pods,
        p50: taken.p50,
        p99: taken.p99,
        containers,
    })
}
