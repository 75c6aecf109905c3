//! Whether the pods of a workload run on other nodes than before, and not by chance
//! ([§15.4](crate::specification#s15-4)).

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::pod_parts::WorkloadAspect;
use super::side::{ComparedPod, ComparisonSide};
use super::workload_changes::{Tally, WorkloadSides, replaced};
use podinit_core::node::NodeLabels;

/// The probability at which any workload may seem to have moved where pods only spread.
const BY_CHANCE: f64 = 0.01;

/// What a node states of an aspect; empty where it does not.
type StatedValue = fn(&NodeLabels) -> &str;

/// What is compared of nodes.
const OF_NODES: [(WorkloadAspect, StatedValue); 2] = [
    (WorkloadAspect::NodePool, |labels| &labels.pool),
    (WorkloadAspect::KubeletVersion, |labels| &labels.kubelet_version),
];

/// Where the pods of both sides run.
pub(super) struct Placements<'a> {
    sides: [&'a ComparisonSide; 2],
    /// The same of all pods, by the number of what is compared
    of_all: [OnceCell<[PlacedPods<'a>; 2]>; OF_NODES.len()],
    /// Of one workload
    by_chance: f64,
}

/// How often a value was chosen for pods. Those of one node and minute count once, since they are not independent.
struct PlacedPods<'a> {
    tally: Tally<'a>,
    all: usize,
}

/// The pods on nodes that state a value, with it.
fn placed<'a>(
    pods: impl IntoIterator<Item = &'a ComparedPod>,
    of: StatedValue,
) -> impl Iterator<Item = (&'a str, &'a ComparedPod)> {
    pods.into_iter().filter_map(move |pod| {
        let value = of(pod.node_labels.as_deref()?);
        (!value.is_empty()).then_some((value, pod))
    })
}

impl<'a> PlacedPods<'a> {
    fn new(pods: impl IntoIterator<Item = &'a ComparedPod>, of: StatedValue) -> Self {
        let mut tally = Tally::new();
        let placed = placed(pods, of).map(|(value, pod)| (value, pod.node.as_deref(), pod.minute));
        let placed: BTreeSet<_> = placed.collect();
        for (value, ..) in &placed {
            *tally.entry(*value).or_default() += 1;
        }
        Self { tally, all: placed.len() }
    }

    fn count(&self, value: &str) -> usize {
        self.tally.get(value).copied().unwrap_or_default()
    }
}

impl<'a> Placements<'a> {
    /// Of so many workloads.
    pub(super) fn new(sides: [&'a ComparisonSide; 2], workloads: usize) -> Self {
        let by_chance = BY_CHANCE / workloads.max(1) as f64;
        Self { sides, of_all: Default::default(), by_chance }
    }

    /// What changed in where the pods of a workload run.
    pub(super) fn changes(
        &self,
        sides: &WorkloadSides<'a>,
    ) -> impl Iterator<Item = (WorkloadAspect, Option<&'a str>, Option<&'a str>)> {
        OF_NODES.iter().zip(&self.of_all).filter_map(|((aspect, of), of_all)| {
            let [before, after] = sides.each_ref().map(|pods| {
                placed(pods.iter().copied(), *of).map(|(value, _)| value).collect::<BTreeSet<_>>()
            });
            if after.is_subset(&before) {
                return None;
            }
            let own = sides.each_ref().map(|pods| PlacedPods::new(pods.iter().copied(), *of));
            let [before, after] = &own;
            let (old, new) = replaced([&before.tally, &after.tally], [before.all, after.all])?;
            let all = || {
                let placed = |side: &'a ComparisonSide| PlacedPods::new(side.pods(), *of);
                of_all.get_or_init(|| self.sides.map(placed))
            };
            let has_moved = |placed: &[PlacedPods<'_>; 2]| {
                is_swap(placed, old, new) && chance(placed, new) < self.by_chance
            };
            let is_told = is_swap(&own, old, new) && (has_moved(&own) || has_moved(all()));
            is_told.then_some((*aspect, Some(old), Some(new)))
        })
    }
}

/// Whether no pod before has the new value, and none after the old one.
fn is_swap([before, after]: &[PlacedPods<'_>; 2], old: &str, new: &str) -> bool {
    before.count(new) == 0 && after.count(old) == 0
}

/// The probability that all with the new value are among those after, where pods come in any order.
fn chance([before, after]: &[PlacedPods<'_>; 2], new: &str) -> f64 {
    let all = before.all + after.all;
    (0..after.count(new)).map(|one| (after.all - one) as f64 / (all - one) as f64).product()
}
