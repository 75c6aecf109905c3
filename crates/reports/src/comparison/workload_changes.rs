//! What changed in the workloads that both sides have ([§15.4](crate::specification#s15-4)).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::changes::MOST_NAMES;
use super::mix::{WorkloadKey, untagged, workload_of};
use super::placement::Placements;
use super::pod_parts::{PodParts, WorkloadAspect};
use super::side::{ComparedPod, ComparisonSide};

/// What changed in workloads, that of most workloads first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkloadChanges {
    /// How many sets of workloads changed, each in its own way
    pub count: usize,
    /// The first of them
    pub sets: Vec<WorkloadChange>,
}

/// What changed in each of some workloads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkloadChange {
    /// How many workloads they are
    pub workloads: usize,
    /// How many observed pods they have after
    pub pods: usize,
    /// The first of these workloads, as NAMESPACE/KIND/NAME
    pub names: Vec<String>,
    /// What changed, at most 20
    pub changes: Vec<AspectChange>,
}

/// One thing that changed. What has no value before is more, what has none after is fewer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AspectChange {
    pub aspect: WorkloadAspect,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The same, with borrowed texts.
type FoundChange<'a> = (WorkloadAspect, Option<&'a str>, Option<&'a str>);

/// The observed pods of a workload, before and after.
pub(super) type WorkloadSides<'a> = [Vec<&'a ComparedPod>; 2];

/// How many pods have each value.
pub(super) type Tally<'a> = BTreeMap<&'a str, usize>;

/// Whether what so many pods have is new among all pods: most pods after have it, and at most a tenth of those before.
const fn is_new([before, after]: [usize; 2], [all_before, all_after]: [usize; 2]) -> bool {
    2 * after > all_after && 10 * before <= all_before
}

const fn swapped([before, after]: [usize; 2]) -> [usize; 2] {
    [after, before]
}

/// The old and the new value of pods, where another one took its place.
pub(super) fn replaced<'a>(
    [before, after]: [&Tally<'a>; 2],
    pods: [usize; 2],
) -> Option<(&'a str, &'a str)> {
    let counts =
        |value: &str| [before, after].map(|tally| tally.get(value).copied().unwrap_or_default());
    let old = before.keys().find(|value| is_new(swapped(counts(value)), swapped(pods)))?;
    let new = after.keys().find(|value| is_new(counts(value), pods))?;
    Some((*old, *new))
}

impl WorkloadChanges {
    pub(super) fn from_sides(before: &ComparisonSide, after: &ComparisonSide) -> Self {
        let workloads = on_both_sides(before, after);
        let placements = Placements::new([before, after], workloads.len());
        // A pod that was bound before it was first seen no longer has its scheduling gates.
        let knows_gates = [before, after].iter().all(|side| side.complete_since().is_some());
        let is_told = |(aspect, ..): &FoundChange<'_>| {
            knows_gates || *aspect != WorkloadAspect::SchedulingGate
        };
        // For each change the numbers of its workloads, and for each set of workloads its changes.
        let mut changed: BTreeMap<FoundChange<'_>, Vec<usize>> = BTreeMap::new();
        for (number, (_, sides)) in workloads.iter().enumerate() {
            let mut found = changes_of_spec(sides);
            found.extend(placements.changes(sides));
            found.sort_unstable();
            found.dedup();
            for change in found.into_iter().filter(is_told) {
                changed.entry(change).or_default().push(number);
            }
        }
        let mut sets: BTreeMap<Vec<usize>, Vec<FoundChange<'_>>> = BTreeMap::new();
        for (change, of) in changed {
            sets.entry(of).or_default().push(change);
        }
        let pods = |of: &[usize]| of.iter().map(|one| workloads[*one].1[1].len()).sum();
        let mut sets: Vec<(usize, _, _)> =
            sets.into_iter().map(|(of, changes)| (pods(&of), of, changes)).collect();
        sets.sort_by_key(|(pods, of, _)| Reverse((of.len(), *pods)));
        let count = sets.len();
        let first = sets.into_iter().take(MOST_NAMES).map(|(pods, of, changes)| {
            let names = of.iter().take(MOST_NAMES).map(|number| {
                let ((namespace, workload), _) = workloads[*number];
                workload.in_namespace(namespace)
            });
            let changes = changes.into_iter().take(MOST_NAMES).map(AspectChange::new);
            WorkloadChange {
                workloads: of.len(),
                pods,
                names: names.collect(),
                changes: changes.collect(),
            }
        });
        Self { count, sets: first.collect() }
    }
}

impl AspectChange {
    fn new((aspect, before, after): FoundChange<'_>) -> Self {
        Self { aspect, before: before.map(str::to_owned), after: after.map(str::to_owned) }
    }
}

/// The workloads that both sides have, by name.
fn on_both_sides<'a>(
    before: &'a ComparisonSide,
    after: &'a ComparisonSide,
) -> Vec<(WorkloadKey<'a>, WorkloadSides<'a>)> {
    let mut workloads: HashMap<WorkloadKey<'_>, WorkloadSides<'_>> = HashMap::new();
    for (index, side) in [before, after].into_iter().enumerate() {
        for pod in side.pods() {
            if let Some(workload) = workload_of(pod) {
                workloads.entry(workload).or_default()[index].push(pod);
            }
        }
    }
    workloads.retain(|_, sides| sides.iter().all(|pods| !pods.is_empty()));
    let mut workloads: Vec<_> = workloads.into_iter().collect();
    workloads.sort_unstable_by_key(|((namespace, workload), _)| {
        (*namespace, &*workload.kind, &*workload.name)
    });
    workloads
}

/// What changed in the specs of these pods.
fn changes_of_spec<'a>(sides: &WorkloadSides<'a>) -> Vec<FoundChange<'a>> {
    let all = sides.each_ref().map(Vec::len);
    let mut names: BTreeMap<(WorkloadAspect, &str), [usize; 2]> = BTreeMap::new();
    // By container; that of the scheduler has no name.
    let mut values: BTreeMap<Option<&str>, [Tally<'_>; 2]> = BTreeMap::new();
    for (side, pods) in sides.iter().enumerate() {
        for (parts, pods) in distinct(pods) {
            for name in parts.names() {
                names.entry(name).or_default()[side] += pods;
            }
            let images = parts.images().map(|(name, image)| (Some(name), untagged(image)));
            let scheduler = parts.scheduler().map(|name| (None, name));
            for (container, value) in images.chain(scheduler) {
                let tally = &mut values.entry(container).or_default()[side];
                *tally.entry(value).or_default() += pods;
            }
        }
    }
    let of_names = names.into_iter().filter_map(|((aspect, name), pods)| {
        match [is_new(pods, all), is_new(swapped(pods), swapped(all))] {
            [true, _] => Some((aspect, None, Some(name))),
            [_, true] => Some((aspect, Some(name), None)),
            _ => None,
        }
    });
    let of_values = values.into_iter().filter_map(|(container, tallies)| {
        let (old, new) = replaced(tallies.each_ref(), all)?;
        let aspect = container.map_or(WorkloadAspect::Scheduler, |_| WorkloadAspect::Image);
        Some((aspect, Some(old), Some(new)))
    });
    of_names.chain(of_values).collect()
}

/// What the specs of these pods name, each with its number of pods. Pods of one side share it.
fn distinct<'a>(pods: &[&'a ComparedPod]) -> Vec<(&'a PodParts, usize)> {
    let mut found: HashMap<*const PodParts, (&PodParts, usize)> = HashMap::new();
    for pod in pods {
        let parts = &*pod.parts;
        found.entry(std::ptr::from_ref(parts)).or_insert((parts, 0)).1 += 1;
    }
    found.into_values().collect()
}
