//! Who is affected: the pods in flight and those of problems, by problem and workload, and where they are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::Problem;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Cause, Stage};
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FoundPod, FoundPods};

/// So many pods of a workload are named, those that have been in their stage longest.
const EXAMPLES: usize = 10;
/// So many workloads of a group are told apart; all of them are counted.
const MOST_WORKLOADS: usize = 1_000;
/// So many nodes and namespaces of a group are named; all of them are counted.
const NAMED: usize = 4;

/// Which pods a reader wants to see: those that fit everything that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFilter {
    pub namespace: Option<String>,
    pub node: Option<String>,
    /// The owner's name, or its kind and name
    pub workload: Option<String>,
    /// That of the pod's problem, or of its wait where it has none
    pub cause: Option<Cause>,
}

/// The pods in flight, and those of problems whose startup is over, counted.
#[derive(Clone, Debug, Default)]
pub struct PodBreakdown {
    /// The problems, the worst first, each with its pods
    pub problems: Vec<(Problem, BreakdownGroup)>,
    /// The pods of no problem that wait for the cause of one: mostly they are too new to tell
    pub too_new: TooNew,
    /// The pods that start as usual
    pub rest: BreakdownGroup,
    /// Those in flight, each once, by stage
    pub stages: [u64; Stage::ALL.len()],
    /// When the one in each stage entered it that has been there longest
    pub entered: [Option<Timestamp>; Stage::ALL.len()],
    /// All of them, each once
    all: usize,
    /// Those in flight, each once
    in_flight: usize,
}

/// Pods that belong together.
#[derive(Clone, Debug, Default)]
pub struct BreakdownGroup {
    pub pods: usize,
    /// Those that are in flight
    pub in_flight: usize,
    pub stuck: usize,
    pub(crate) nodes: TopLocations,
    pub(crate) namespaces: TopLocations,
    /// Of how many workloads they are
    pub(crate) all_workloads: usize,
    /// At most a thousand of these
    pub workloads: BTreeMap<BreakdownWorkload, WorkloadBreakdown>,
}

/// Pods of no problem that wait for the cause of one.
#[derive(Clone, Debug, Default)]
pub struct TooNew {
    pub group: BreakdownGroup,
    /// Their causes
    pub causes: BTreeSet<&'static str>,
}

/// Where pods are.
#[derive(Clone, Debug, Default)]
pub(crate) struct TopLocations {
    /// In how many places
    pub count: usize,
    /// Those with the most pods, at most four; of equals by name
    pub named: Vec<(Box<str>, usize)>,
}

/// A namespace, and the kind and name of an owner in it; both are empty for pods without one.
pub type BreakdownWorkload = (Arc<str>, Box<str>, Box<str>);

/// The pods of a workload.
#[derive(Clone, Debug, Default)]
pub struct WorkloadBreakdown {
    pub pods: usize,
    /// Those that are in flight
    pub in_flight: usize,
    /// Those that have been in their stage longest, the longest first
    pub examples: Vec<FoundPod>,
}

impl PodFilter {
    /// Whether everything is wanted.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    fn fits(&self, pod: &FoundPod, cause: Option<Cause>) -> bool {
        let is = |wanted: &Option<String>, actual: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| actual == Some(wanted))
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

impl PodBreakdown {
    /// Those of `pods` that are wanted: of `problems`, each with the places of its pods, and of those of no problem.
    pub fn from_pods<'a>(
        pods: &FoundPods,
        problems: impl IntoIterator<Item = (&'a Problem, &'a Vec<u32>)>,
        rest: &[u32],
        wanted: &PodFilter,
    ) -> Self {
        let mut breakdown = Self::default();
        let mut causes = HashSet::new();
        for (problem, places) in problems {
            // Where a problem has several causes, each of its pods has its own.
            let cause = Cause::from_text(&problem.cause).filter(|_| problem.causes.is_empty());
            causes.extend(problem.causes().filter_map(Cause::from_text));
            // The pods of a clock are in another problem, or start as usual, besides.
            let counts = cause != Some(Cause::Clock) || wanted.cause == cause;
            let group = breakdown.group((pods, places), wanted, cause, counts);
            if group.pods > 0 {
                breakdown.problems.push((problem.clone(), group));
            }
        }
        let of_pod = |place: &u32| Some(pods.waiting(*place)?.cause());
        let is_too_new = |place: &u32| of_pod(place).is_some_and(|cause| causes.contains(&cause));
        let (too_new, rest): (Vec<u32>, Vec<u32>) =
            rest.iter().partition(|place| is_too_new(place));
        breakdown.too_new.group = breakdown.group((pods, &too_new), wanted, None, true);
        if breakdown.too_new.group.pods > 0 {
            let is_wanted = |place: &&u32| {
                pods.get(**place).is_some_and(|pod| wanted.fits(&pod, of_pod(place)))
            };
            let shown = too_new.iter().filter(is_wanted);
            breakdown.too_new.causes = shown.filter_map(of_pod).map(Cause::as_str).collect();
        }
        breakdown.rest = breakdown.group((pods, &rest), wanted, None, true);
        breakdown
    }

    /// Those of the pods at `places` that are wanted. They count among all where `counts`.
    fn group(
        &mut self,
        (pods, places): (&FoundPods, &[u32]),
        wanted: &PodFilter,
        cause: Option<Cause>,
        counts: bool,
    ) -> BreakdownGroup {
        let mut group = BreakdownGroup::default();
        let (mut nodes, mut namespaces) = (NumberCounts::default(), NumberCounts::default());
        let mut workloads = HashSet::new();
        let cause = |pod: &FoundPod| cause.or_else(|| Some(pod.waiting()?.cause()));
        for place in places {
            let Some(pod) = pods.get(*place) else {
                continue;
            };
            if !wanted.fits(&pod, cause(&pod)) {
                continue;
            }
            if let Some(waiting) = pod.waiting().filter(|_| counts) {
                let stage = waiting.stage() as usize;
                self.stages[stage] += 1;
                let entered = &mut self.entered[stage];
                *entered = Some(entered.map_or(pod.entered(), |first| first.min(pod.entered())));
            }
            if let Some(number) = pods.node_number(*place) {
                nodes.add(number, *place);
            }
            let namespace = pods.namespace_number(*place);
            namespaces.add(namespace, *place);
            workloads.insert(pods.workload_number(*place).ok_or(namespace));
            group.add(pod);
        }
        let node = |place| pods.node(place).map_or("", |node| &**node);
        group.nodes = nodes.most(node);
        group.namespaces = namespaces.most(|place| pods.namespace(place));
        group.all_workloads = workloads.len();
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

/// How many pods have a number, and the place of one of them: in a great outage each has its own.
#[derive(Default)]
struct NumberCounts(HashMap<u32, (u32, u32)>);

impl NumberCounts {
    fn add(&mut self, number: u32, place: u32) {
        self.0.entry(number).or_insert((0, place)).0 += 1;
    }

    fn most<'a>(self, name: impl Fn(u32) -> &'a str) -> TopLocations {
        let count = self.0.len();
        let mut named: Vec<(u32, &str)> = Vec::new();
        for (pods, place) in self.0.into_values() {
            let name = name(place);
            let comes_before = |(others, other): &(u32, &str)| (pods, *other) < (*others, name);
            let rank = named.partition_point(comes_before);
            if rank < NAMED {
                named.insert(rank, (pods, name));
                named.truncate(NAMED);
            }
        }
        let named = named.into_iter();
        TopLocations {
            count,
            named: named.map(|(pods, name)| (name.into(), pods as usize)).collect(),
        }
    }
}

impl BreakdownGroup {
    /// Those that have been in their stage longest, at most so many.
    pub fn oldest(&self, most: usize) -> Vec<&FoundPod> {
        let examples = self.workloads.values().flat_map(|workload| workload.examples.iter());
        let mut oldest: Vec<&FoundPod> = examples.collect();
        oldest.sort_by_key(|pod| pod.entered());
        oldest.truncate(most);
        oldest
    }

    fn add(&mut self, pod: FoundPod) {
        self.pods += 1;
        self.in_flight += usize::from(pod.outcome().is_none());
        self.stuck += usize::from(pod.is_stuck());
        let namespace = Arc::clone(&pod.namespace);
        let owner = pod.workload.as_deref();
        let (kind, name) =
            owner.map_or_else(Default::default, |owner| (owner.kind.clone(), owner.name.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_those_with_most_pods_are_named() {
        let mut counts = NumberCounts::default();
        let names = ["e", "b", "d", "a", "c", "f"];
        for (number, pods) in (0..).zip([1, 3, 1, 1, 1, 9]) {
            (0..pods).for_each(|_| counts.add(number, number));
        }
        let most = counts.most(|place| names[place as usize]);
        let named: Vec<(&str, usize)> =
            (most.named.iter()).map(|(name, pods)| (&**name, *pods)).collect();
        assert_eq!((most.count, named), (6, vec![("f", 9), ("b", 3), ("a", 1), ("c", 1)]));
    }
}
