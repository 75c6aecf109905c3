//! Which pods fail together ([§15.7](crate::specification#s15-7)): those of a workload, and the tries of a Job.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::side::ComparedPod;
use super::start::NotStartedReason;
use super::statistics::Proportion;
use podinit_core::dimension::{Dimension, grouped};
use podinit_core::timestamp::Timestamp;

/// With fewer clusters on either side, smaller ones are taken.
const LEAST_CLUSTERS: usize = 10;
/// So many more of all pods do not start in an outage,
const OUTAGE: f64 = 0.2;
/// and so many more of the pods of each of these workloads.
const OF_WORKLOAD: f64 = 0.5;
const LEAST_WORKLOADS: usize = 3;

/// A pod of which is known whether it started.
#[derive(Clone, Copy)]
pub(super) struct KnownStart<'a> {
    pub(super) pod: &'a ComparedPod,
    /// Why it did not start; `None` of one that did
    pub(super) reason: Option<NotStartedReason>,
}

impl<'a> KnownStart<'a> {
    /// The values of the pod in a dimension, each once. One that did not start has the image that its last cause is about,
    /// and a registry only if that cannot be pulled.
    pub(super) fn values(self, dimension: Dimension) -> impl Iterator<Item = Cow<'a, str>> {
        let images = match (self.reason, &self.pod.start_images) {
            (None, _) => &*self.pod.untagged,
            (Some(_), None) => &[],
            (Some(_), Some(images)) => images.failing(),
        };
        let has_registry = self.reason.is_none() || self.pull_fails_since().is_some();
        let has_any = dimension != Dimension::Registry || has_registry;
        self.pod.values_with(dimension, images).filter(move |_| has_any)
    }

    /// Since when a pod that did not start cannot pull an image; `None` if something else keeps it from starting.
    pub(super) fn pull_fails_since(self) -> Option<Timestamp> {
        self.pod.start_images.as_ref()?.pull_fails_since().filter(|_| self.reason.is_some())
    }

    /// When a pod that started became ready, and what it had pulled; `None` if it pulled nothing.
    pub(super) fn pulled(self) -> Option<(Timestamp, &'a [Arc<str>])> {
        self.pod.start_images.as_ref()?.pulled().filter(|_| self.reason.is_none())
    }

    /// How many of these did not start.
    pub(super) fn sum(pods: Vec<Self>) -> Proportion {
        let count = pods.iter().filter(|told| told.reason.is_some()).count();
        Proportion { count: count as u64, of: pods.len() as u64 }
    }
}

/// Whether so many pods more of several workloads do not start that it is no chance, although pods of a workload fail
/// together ([§15.7](crate::specification#s15-7)).
pub(super) fn is_outage([before, after]: [&[KnownStart<'_>]; 2]) -> bool {
    let sum = |pods: &[KnownStart<'_>]| KnownStart::sum(pods.to_vec());
    let of = |pods: &[KnownStart<'_>]| -> BTreeMap<_, Proportion> {
        let groups = grouped(pods.iter().copied(), |told| told.pod.values(Dimension::Workload));
        groups.into_iter().map(|(workload, pods)| (workload.into_owned(), sum(&pods))).collect()
    };
    if sum(after).share() - sum(before).share() < OUTAGE {
        return false;
    }
    let earlier = of(before);
    let is_down = |(workload, later): &(String, Proportion)| {
        let was = earlier.get(workload);
        was.is_some_and(|was| later.share() - was.share() >= OF_WORKLOAD)
    };
    of(after).into_iter().filter(is_down).count() >= LEAST_WORKLOADS
}

/// What is drawn anew and ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Together {
    /// The workloads, and the pods without one
    Workloads,
    /// The pods of a workload that were created in one minute
    Minutes,
    /// Nothing: pods are taken for independent
    Pods,
}

impl Together {
    /// What fails together on both sides: their clusters, none where pods are taken for independent, and their pods. Where not
    /// whole workloads are drawn, the tries of a Job are one pod.
    pub(super) fn from_sides(
        sides: [Vec<KnownStart<'_>>; 2],
    ) -> (Self, [Vec<Proportion>; 2], [Vec<KnownStart<'_>>; 2]) {
        let enough = |sides: &[Vec<KnownStart<'_>>; 2], together: Self| {
            let clusters = sides.each_ref().map(|pods| together.clusters(pods));
            Some(clusters).filter(|both| both.iter().all(|one| one.len() >= LEAST_CLUSTERS))
        };
        if let Some(clusters) = enough(&sides, Self::Workloads) {
            return (Self::Workloads, clusters, sides);
        }
        let sides = sides.map(last_tries);
        match enough(&sides, Self::Minutes) {
            Some(clusters) => (Self::Minutes, clusters, sides),
            None => (Self::Pods, Default::default(), sides),
        }
    }

    /// How many pods of each cluster did not start.
    fn clusters(self, pods: &[KnownStart<'_>]) -> Vec<Proportion> {
        let mut clusters: BTreeMap<_, Proportion> = BTreeMap::new();
        for (number, KnownStart { pod, reason }) in pods.iter().enumerate() {
            let workload =
                pod.workload.as_deref().map(|one| (&*pod.namespace, &*one.kind, &*one.name));
            let minute = pod.minute.filter(|_| self == Self::Minutes);
            let alone = workload.is_none().then_some(number);
            let cluster = clusters.entry((workload, minute, alone)).or_default();
            cluster.of += 1;
            cluster.count += u64::from(reason.is_some());
        }
        clusters.into_values().collect()
    }
}

/// The pods, but those of Jobs that were followed by another try: created once they were over. A Job that runs many pods at
/// once has as many tries under way.
fn last_tries(mut pods: Vec<KnownStart<'_>>) -> Vec<KnownStart<'_>> {
    // Of two tries of one second the one that started is the last.
    pods.sort_by_key(|told| (told.pod.start.created, told.reason.is_none()));
    let mut failed: HashMap<_, Vec<(Timestamp, usize)>> = HashMap::new();
    let mut is_last = vec![true; pods.len()];
    for (number, KnownStart { pod, reason }) in pods.iter().enumerate() {
        let Some(job) = &pod.job else { continue };
        let tries = failed.entry((&pod.namespace, &pod.workload, job)).or_default();
        if let Some(before) = tries.iter().position(|(over, _)| *over <= pod.start.created) {
            is_last[tries.remove(before).1] = false;
        }
        if let Some(over) = pod.start.over.filter(|_| reason.is_some()) {
            tries.push((over, number));
        }
    }
    let mut is_last = is_last.into_iter();
    pods.retain(|_| is_last.next().unwrap_or(true));
    pods
}
