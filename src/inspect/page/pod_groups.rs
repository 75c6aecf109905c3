//! The pods in flight, by problem and workload, with examples.

use super::link::path_of;
use super::problem_card::{largest, workload};
use crate::inspect::problems::{Census, Group};
use crate::text::human_time::{clock_time, seconds, since};
use podinit_core::problems::FoundPod;
use podinit_core::timestamp::Timestamp;

/// So many problems and workloads of each are listed, and so many pods on the whole page.
const MOST_GROUPS: usize = 3;
const MOST_WORKLOADS: usize = 6;
const MOST_ROWS: usize = 200;

/// The pods of a problem, or those that start as usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodGroup {
    pub title: String,
    pub pods: usize,
    pub stuck: usize,
    pub workloads: Vec<WorkloadPods>,
    /// Workloads, and pods of them, that are not listed
    pub more: (usize, usize),
}

/// Pods of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkloadPods {
    /// What stays the same when the page is loaded again
    pub key: String,
    pub name: String,
    /// The page of it
    pub page: String,
    pub pods: usize,
    pub rows: Vec<PodRow>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodRow {
    pub name: String,
    pub path: String,
    pub stage: &'static str,
    pub cause: &'static str,
    /// How long it has been in the stage, and since when
    pub wait: String,
    pub since: String,
    /// The wait as a share of the time after which it counts as stuck, in percent, at most 100
    pub bar: u64,
    /// After how long it counts as stuck
    pub deadline: String,
    pub is_stuck: bool,
    pub node: String,
}

impl PodRow {
    fn new(example: &FoundPod, now: Timestamp) -> Self {
        let waited = since(example.entered, now);
        let limit = since(example.entered, example.stuck_at);
        Self {
            name: example.name.to_string(),
            path: path_of(&example.namespace, &example.name),
            stage: example.waiting.stage().as_str(),
            cause: example.waiting.cause().as_str(),
            wait: seconds(waited.floor()),
            since: clock_time(example.entered, now),
            bar: (waited / limit.max(0.001) * 100.0).clamp(0.0, 100.0) as u64,
            deadline: seconds(limit),
            is_stuck: example.is_stuck,
            node: example.node.as_deref().unwrap_or_default().to_owned(),
        }
    }
}

/// The groups with the most important first, and how many problems are not among them.
pub(super) fn pod_groups(census: &Census, now: Timestamp) -> (Vec<PodGroup>, usize) {
    let mut left = MOST_ROWS;
    let problems = census.problems.iter().take(MOST_GROUPS);
    let problems = problems.map(|(problem, group)| {
        let shared = problem.dimension.as_deref().zip(problem.value.as_deref());
        let shared = shared.map_or_else(String::new, |(what, value)| format!(", {what} {value}"));
        (format!("{}{shared}", problem.cause), group)
    });
    let rest = ("Starting as usual".to_owned(), &census.rest);
    let groups = problems.chain([rest]).filter(|(_, group)| group.pods > 0);
    let groups = groups.map(|(title, group)| pod_group(title, group, &mut left, now));
    let more = census.problems.len().saturating_sub(MOST_GROUPS);
    (groups.collect(), more)
}

fn pod_group(title: String, group: &Group, left: &mut usize, now: Timestamp) -> PodGroup {
    let all = group.workloads.iter();
    let all = largest(all.map(|(key, pods)| ((key, pods), pods.pods)));
    let listed = all
        .take(MOST_WORKLOADS)
        .map(|((key, workload_pods), pods)| {
            let (name, page) = workload(key);
            let rows = workload_pods.examples.iter().take(*left);
            let rows: Vec<_> = rows.map(|example| PodRow::new(example, now)).collect();
            *left -= rows.len();
            WorkloadPods {
                key: format!("{title} {name}"),
                name,
                page,
                pods,
                rows,
            }
        });
    let workloads: Vec<WorkloadPods> = listed.collect();
    let shown: usize = workloads.iter().map(|one| one.pods).sum();
    PodGroup {
        pods: group.pods,
        stuck: group.stuck,
        more: (group.workloads.len() - workloads.len(), group.pods - shown),
        workloads,
        title,
    }
}
