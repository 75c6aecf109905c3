//! Who is affected: the pods in flight and those of problems, by problem and workload, and where they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Problem;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Cause, Stage};
use podinit_core::problems::{FoundPod, FoundPods};

/// So many pods of a workload are named, those that have been in their stage longest.
const EXAMPLES: usize = 10;
/// So many workloads of a group are told apart.
const MOST_WORKLOADS: usize = 1_000;

/// Which pods a reader wants to see: those that fit everything that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    pub namespace: Option<String>,
    pub node: Option<String>,
    /// The owner's name, or its kind and name
    pub workload: Option<String>,
    /// That of the pod's problem, or of its wait where it has none
    pub cause: Option<Cause>,
}

/// The pods in flight, and those of problems whose startup is over, counted.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// The problems, the worst first, each with its pods
    pub problems: Vec<(Problem, Group)>,
    /// The pods that start as usual
    pub rest: Group,
    /// Those in flight, each once, by stage
    pub stages: [u64; Stage::ALL.len()],
    /// All of them, each once
    all: usize,
    /// Those in flight, each once
    in_flight: usize,
}

/// Pods that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub pods: usize,
    /// Those that are in flight
    pub in_flight: usize,
    pub stuck: usize,
    pub nodes: BTreeMap<Arc<str>, usize>,
    pub namespaces: BTreeMap<Arc<str>, usize>,
    pub workloads: BTreeMap<WorkloadKey, Workload>,
}

/// A namespace, and the kind and name of an owner in it; both are empty for pods without one.
pub type WorkloadKey = (Arc<str>, Box<str>, Box<str>);

/// The pods of a workload.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    pub pods: usize,
    /// Those that are in flight
    pub in_flight: usize,
    /// Those that have been in their stage longest, the longest first
    pub examples: Vec<FoundPod>,
}

impl Wanted {
    /// Whether everything is wanted.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    fn fits(&self, pod: &FoundPod, cause: Option<Cause>) -> bool {
        let is = |wanted: &Option<String>, actual: Option<&str>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| actual == Some(wanted))
        };
        let owner = pod.workload.as_deref();
        let is_owned = |wanted: &str| match (owner, wanted.split_once('/')) {
            (None, _) => false,
            (Some(owner), Some((kind, name))) => *owner.kind == *kind && *owner.name == *name,
            (Some(owner), None) => *owner.name == *wanted,
        };
        is(&self.namespace, Some(&pod.namespace))
            && is(&self.node, pod.node.as_deref())
            && self.workload.as_deref().is_none_or(is_owned)
            && self.cause.is_none_or(|wanted| cause == Some(wanted))
    }
}

impl Census {
    /// Those of `pods` that are wanted: of `problems`, each with the places of its pods, and of those of no problem.
    pub fn of<'a>(
        pods: &FoundPods,
        problems: impl IntoIterator<Item = (&'a Problem, &'a Vec<u32>)>,
        rest: &[u32],
        wanted: &Wanted,
    ) -> Self {
        let mut census = Self::default();
        for (problem, places) in problems {
            let cause = Cause::from_text(&problem.cause);
            // The pods of a clock are in another problem, or start as usual, besides.
            let counts = cause != Some(Cause::Clock) || wanted.cause == cause;
            let group = census.group(pods.all(places), wanted, cause, counts);
            if group.pods > 0 {
                census.problems.push((problem.clone(), group));
            }
        }
        census.rest = census.group(pods.all(rest), wanted, None, true);
        census
    }

    /// Those of `pods` that are wanted. They count among all where `counts`.
    fn group(
        &mut self,
        pods: impl Iterator<Item = FoundPod>,
        wanted: &Wanted,
        cause: Option<Cause>,
        counts: bool,
    ) -> Group {
        let mut group = Group::default();
        let cause = |pod: &FoundPod| cause.or_else(|| Some(pod.waiting()?.cause()));
        for pod in pods.filter(|pod| wanted.fits(pod, cause(pod))) {
            if let Some(waiting) = pod.waiting() {
                self.stages[waiting.stage() as usize] += u64::from(counts);
            }
            group.add(pod);
        }
        if counts {
            self.all += group.pods;
            self.in_flight += group.in_flight;
        }
        group
    }

    /// All pods of it.
    pub fn pods(&self) -> usize {
        self.all
    }

    /// Those in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }
}

impl Group {
    fn add(&mut self, pod: FoundPod) {
        self.pods += 1;
        self.in_flight += usize::from(pod.outcome().is_none());
        self.stuck += usize::from(pod.is_stuck());
        if let Some(node) = &pod.node {
            *self.nodes.entry(Arc::clone(node)).or_default() += 1;
        }
        let namespace = Arc::clone(&pod.namespace);
        *self.namespaces.entry(Arc::clone(&namespace)).or_default() += 1;
        let owner = pod.workload.as_deref();
        let (kind, name) = owner.map_or_else(Default::default, |owner| {
            (owner.kind.clone(), owner.name.clone())
        });
        let key = (namespace, kind, name);
        if self.workloads.len() >= MOST_WORKLOADS && !self.workloads.contains_key(&key) {
            return;
        }
        let workload = self.workloads.entry(key).or_default();
        workload.pods += 1;
        workload.in_flight += usize::from(pod.outcome().is_none());
        let older = |other: &FoundPod| other.entered() <= pod.entered();
        let place = workload.examples.partition_point(older);
        if place < EXAMPLES {
            workload.examples.insert(place, pod);
            workload.examples.truncate(EXAMPLES);
        }
    }
}
