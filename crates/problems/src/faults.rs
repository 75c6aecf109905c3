//! A problem without a value is divided into its faults ([§13.5](crate::specification#s13-5)), so that no sentence gives
//! a reason of pods that do not have it.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::affected_pods::AffectedPods;
use super::grouping::RankedGroup;
use super::texts::{FaultTexts, TextKind};
use super::values::{ProblemIdentity, StatedFault};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;

/// So many faults are a problem each.
const MOST_FAULTS: usize = 5;
/// More faults than this which say only how a container ended are one.
const MOST_ENDS: usize = 3;
/// The kind of the one that they are.
const ENDS: TextKind = 0;
/// A workload links two kinds of text if it has so many pods of each.
const LEAST_LINKED: usize = 2;

/// The pods of one fault, those that have waited longest first.
struct Fault {
    /// That of most of its pods
    kind: TextKind,
    is_only_end: bool,
    ranks: Vec<u32>,
}

/// The faults of these pods without a value, which one cause affects, each with its identity.
pub(super) fn divided(
    ranks: Vec<u32>,
    pods: &AffectedPods,
    texts: &mut FaultTexts,
) -> Vec<RankedGroup> {
    let is_divided = ranks.first().is_some_and(|rank| divides(pods.get(*rank).cause));
    if !is_divided {
        return vec![(ProblemIdentity::default(), ranks)];
    }
    let (mut faults, mut left) = faults(&ranks, pods, texts);
    faults.sort_by_key(|fault| (Reverse(fault.ranks.len()), fault.ranks[0]));
    for fault in &faults {
        fault.ranks.iter().for_each(|rank| texts.set_kind(*rank, fault.kind));
    }
    let told: usize = faults.iter().map(|fault| fault.ranks.len()).sum();
    let Some(most) = faults.first() else {
        return vec![(ProblemIdentity::default(), ranks)];
    };
    let of_most = most.ranks.len();
    if 10 * of_most >= 9 * told && told - of_most <= 1 {
        return vec![(ProblemIdentity::of_fault(StatedFault::Of(most.kind)), ranks)];
    }
    let least = if faults.len() > MOST_FAULTS { 2 } else { 1 };
    let mut found = Vec::new();
    for (position, fault) in faults.into_iter().enumerate() {
        if position < MOST_FAULTS && fault.ranks.len() >= least {
            found.push((identity(&fault, pods), fault.ranks));
        } else {
            left.extend(fault.ranks);
        }
    }
    if !left.is_empty() {
        left.sort_unstable();
        found.push((ProblemIdentity::of_fault(StatedFault::Others), left));
    }
    found
}

/// What a scheduler says divides nothing: a full cluster is one problem, whatever its nodes lack.
const fn divides(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::Acknowledge
            | Cause::Binding
            | Cause::Queue
            | Cause::Gang
            | Cause::Preempting
            | Cause::SchedulerError
            | Cause::Quota
            | Cause::Resources
            | Cause::Taint
            | Cause::Topology
            | Cause::Affinity
    )
}

/// The workload, where all pods of the fault are of one.
fn identity(fault: &Fault, pods: &AffectedPods) -> ProblemIdentity {
    let workload = |rank: &u32| pods.found.workload_number(pods.get(*rank).place);
    let first = workload(&fault.ranks[0]);
    let place = pods.get(fault.ranks[0]).place;
    match (first, pods.found.workload(place)) {
        (Some(_), Some(owner)) if fault.ranks.iter().all(|rank| workload(rank) == first) => {
            let value = owner.in_namespace(pods.found.namespace(place));
            ProblemIdentity::of_value(Dimension::Workload, value.into())
        }
        _ => ProblemIdentity::of_fault(StatedFault::Of(fault.kind)),
    }
}

/// The faults of these pods, and the pods without a reason.
fn faults(ranks: &[u32], pods: &AffectedPods, texts: &FaultTexts) -> (Vec<Fault>, Vec<u32>) {
    let mut kinds = LinkedKinds::default();
    let mut left = Vec::new();
    let mut by_workload: HashMap<(u32, u32), HashMap<usize, usize>> = HashMap::new();
    for rank in ranks {
        let Some(kind) = texts.kind(*rank) else {
            left.push(*rank);
            continue;
        };
        let number = kinds.number(kind, texts.is_only_end(*rank));
        kinds.all[number].ranks.push(*rank);
        if let Some(workload) = pods.found.workload_number(pods.get(*rank).place) {
            *by_workload.entry(workload).or_default().entry(number).or_default() += 1;
        }
    }
    for of_workload in by_workload.into_values() {
        let told: usize = of_workload.values().sum();
        let many = of_workload.into_iter();
        let mut many = many.filter(|(_, pods)| *pods >= LEAST_LINKED && 4 * pods >= told);
        if let Some((first, _)) = many.next() {
            many.for_each(|(other, _)| kinds.link(first, other));
        }
    }
    (kinds.into_faults(), left)
}

/// Kinds of text, while those are linked that are one fault.
#[derive(Default)]
struct LinkedKinds {
    all: Vec<Fault>,
    numbers: HashMap<TextKind, usize>,
    /// For each kind one that it is linked to, or itself
    same: Vec<usize>,
}

impl LinkedKinds {
    fn number(&mut self, kind: TextKind, is_only_end: bool) -> usize {
        let Self { all, numbers, same } = self;
        *numbers.entry(kind).or_insert_with(|| {
            same.push(all.len());
            all.push(Fault { kind, is_only_end, ranks: Vec::new() });
            all.len() - 1
        })
    }

    fn first(&self, mut one: usize) -> usize {
        while self.same[one] != one {
            one = self.same[one];
        }
        one
    }

    fn link(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.same[one.max(other)] = one.min(other);
    }

    fn into_faults(self) -> Vec<Fault> {
        let firsts: Vec<usize> = (0..self.all.len()).map(|one| self.first(one)).collect();
        let mut faults: HashMap<usize, Vec<Fault>> = HashMap::new();
        for (first, kind) in firsts.into_iter().zip(self.all) {
            faults.entry(first).or_default().push(kind);
        }
        let mut faults: Vec<Fault> = faults.into_values().map(Fault::joined).collect();
        let (ends, others): (Vec<Fault>, Vec<Fault>) =
            faults.drain(..).partition(|fault| fault.is_only_end);
        faults = others;
        match ends.len() > MOST_ENDS {
            true => faults.push(Fault { kind: ENDS, ..Fault::joined(ends) }),
            false => faults.extend(ends),
        }
        faults
    }
}

impl Fault {
    /// The fault of these kinds, of which there is at least one.
    fn joined(mut kinds: Vec<Self>) -> Self {
        kinds.sort_by_key(|kind| (Reverse(kind.ranks.len()), kind.ranks[0]));
        let is_only_end = kinds.iter().all(|kind| kind.is_only_end);
        let kind = kinds[0].kind;
        let mut ranks: Vec<u32> = kinds.into_iter().flat_map(|kind| kind.ranks).collect();
        ranks.sort_unstable();
        Self { kind, is_only_end, ranks }
    }
}
