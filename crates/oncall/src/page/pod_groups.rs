//! The pods in flight and those of problems, by problem and workload, with examples.

use super::link::path_of;
use super::problem_card::{largest, workload};
use crate::problems::{BreakdownGroup, PodBreakdown};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;
use podinit_problems::{FoundPod, FoundState};
use podinit_text::human_time::{clock_time, seconds, since};
use podinit_text::words::{count, counted, thousands};

/// How many problems and workloads of each are listed, and how many pods on the whole page.
const MOST_GROUPS: usize = 3;
const MOST_WORKLOADS: usize = 6;
const MOST_ROWS: usize = 200;

/// The pods of a problem, those that are too new to tell, or those that start as usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodGroup {
    pub title: String,
    pub pods: String,
    /// Empty where none is
    pub stuck: String,
    pub workloads: Vec<WorkloadGroup>,
    /// How many pods of how many more workloads are not listed; empty where all are
    pub more: String,
}

/// Pods of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkloadGroup {
    /// The key that stays the same when the page loads again
    pub key: String,
    pub name: String,
    /// The page of it
    pub page: String,
    pub pods: usize,
    /// A note on the workload; mostly empty
    pub note: String,
    pub rows: Vec<PodRow>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PodRow {
    pub name: String,
    pub path: String,
    /// Its stage, or how it ended
    pub state: &'static str,
    /// Empty where the state says it
    pub cause: &'static str,
    /// Since when it is in this state
    pub since: String,
    /// Of a pod in flight
    pub wait: Option<StageWait>,
    pub node: String,
}

/// How long a pod has been in its stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageWait {
    pub took: String,
    /// The wait as a share of the time after which it counts as stuck, in percent, at most 100
    pub bar: u64,
    /// After how long it counts as stuck
    pub deadline: String,
    pub is_stuck: bool,
}

impl PodRow {
    /// The row of a pod of a problem with this cause, or of none.
    fn new(example: &FoundPod, of_problem: Option<Cause>, now: Timestamp) -> Self {
        let of_problem = of_problem.map_or("", |cause| cause.as_str());
        let (state, cause, wait) = match example.state {
            FoundState::InFlight { waiting, entered, stuck_at, is_stuck } => {
                let waited = since(entered, now);
                let limit = since(entered, stuck_at);
                let wait = StageWait {
                    took: seconds(waited.floor()),
                    bar: (waited / limit.max(0.001) * 100.0).clamp(0.0, 100.0) as u64,
                    deadline: seconds(limit),
                    is_stuck,
                };
                (waiting.stage().as_str(), waiting.cause().as_str(), Some(wait))
            }
            FoundState::Ended { outcome, .. } => {
                let state = outcome.as_str();
                (state, if of_problem == state { "" } else { of_problem }, None)
            }
        };
        Self {
            name: example.name.to_string(),
            path: path_of(&example.namespace, &example.name),
            state,
            cause,
            since: clock_time(example.entered(), now),
            wait,
            node: example.node.as_deref().unwrap_or_default().to_owned(),
        }
    }
}

/// The groups with the most important first, and how many problems are not among them.
pub(super) fn pod_groups(breakdown: &PodBreakdown, now: Timestamp) -> (Vec<PodGroup>, usize) {
    let mut left = MOST_ROWS;
    let problems = breakdown.problems.iter().take(MOST_GROUPS);
    let problems = problems.map(|(problem, group)| {
        let shared = problem.dimension.as_deref().zip(problem.value.as_deref());
        let shared = shared.map_or_else(String::new, |(what, value)| format!(", {what} {value}"));
        let cause = Cause::from_text(&problem.cause).filter(|_| problem.causes.is_empty());
        let causes: Vec<&str> = problem.causes().collect();
        (format!("{}{shared}", causes.join(", ")), cause, group)
    });
    let causes: Vec<&str> = breakdown.too_new.causes.iter().copied().collect();
    let title = format!("Too new to tell, with the cause of a problem ({})", causes.join(", "));
    let too_new = (title, None, &breakdown.too_new.group);
    let rest = ("Starting as usual".to_owned(), None, &breakdown.rest);
    let groups = problems.chain([too_new, rest]).filter(|(_, _, group)| group.pods > 0);
    let groups = groups.map(|(title, cause, group)| {
        let mut listed = pod_group(title, cause, group, &mut left, now);
        if cause.is_none() {
            listed.workloads.iter_mut().for_each(|one| one.note = failing(breakdown, &one.name));
        }
        listed
    });
    let more = breakdown.problems.len().saturating_sub(MOST_GROUPS);
    (groups.collect(), more)
}

/// That other pods of a workload have failed, so that nobody takes it for one that starts well.
fn failing(breakdown: &PodBreakdown, name: &str) -> String {
    let groups = breakdown.problems.iter().map(|(_, group)| group);
    let failed =
        groups.flat_map(|group| &group.workloads).filter(|(key, _)| workload(key).0 == name);
    match failed.map(|(_, pods)| pods.pods - pods.in_flight).sum::<usize>() {
        0 => String::new(),
        pods => count(pods, "other has failed", "others have failed"),
    }
}

fn pod_group(
    title: String,
    cause: Option<Cause>,
    group: &BreakdownGroup,
    left: &mut usize,
    now: Timestamp,
) -> PodGroup {
    let all = group.workloads.iter();
    let all = largest(all.map(|(key, pods)| ((key, pods), pods.pods)));
    let listed = all.take(MOST_WORKLOADS).map(|((key, workload_pods), pods)| {
        let (name, page) = workload(key);
        let rows = workload_pods.examples.iter().take(*left);
        let rows: Vec<_> = rows.map(|example| PodRow::new(example, cause, now)).collect();
        *left -= rows.len();
        WorkloadGroup {
            key: format!("{title} {name}"),
            name,
            page,
            pods,
            note: String::new(),
            rows,
        }
    });
    let workloads: Vec<WorkloadGroup> = listed.collect();
    let shown: usize = workloads.iter().map(|one| one.pods).sum();
    PodGroup {
        pods: thousands(group.pods),
        stuck: if group.stuck > 0 { thousands(group.stuck) } else { String::new() },
        more: match group.all_workloads - workloads.len() {
            0 => String::new(),
            more => format!(
                "{} of {}",
                counted(group.pods - shown, "pod", "pods"),
                counted(more, "more workload", "more workloads")
            ),
        },
        workloads,
        title,
    }
}
