//! A problem as a card: since when, who is affected, and what to run.

use super::history::History;
use super::link::{path_of, query};
use super::river::{Axes, line};
use super::runbooks;
use crate::problems::{Group, Most, PodName, Problem, WorkloadKey};
use podinit_core::timestamp::Timestamp;

/// So many workloads are named.
const NAMED: usize = 4;

/// A problem as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProblemCard {
    pub problem: Problem,
    /// How many of its pods are shown: all, or those that were asked for
    pub shown: usize,
    /// How many it had over the last hour
    pub line: Option<(String, Axes)>,
    pub affected: Vec<Affected>,
    /// Its pods that have waited longest, each with the path of its page
    pub oldest: Vec<(PodName, String)>,
    /// The page of its cause
    pub by_cause: String,
    /// What to do
    pub runbook: String,
}

/// Those of one kind that are affected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affected {
    pub kind: &'static str,
    /// How many there are
    pub count: usize,
    /// The most affected, each with the page of it and how many pods
    pub named: Vec<(String, String, usize)>,
}

impl ProblemCard {
    pub(super) fn new(
        (problem, group): &(Problem, Group),
        history: &History,
        runbook_url: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let affected = [
            places("Nodes", &group.nodes, "node"),
            workloads(group),
            places("Namespaces", &group.namespaces, "namespace"),
        ];
        let oldest = problem.oldest.iter();
        Self {
            shown: group.pods,
            line: line(&history.pods_of(problem, now), now),
            affected: affected.into_iter().filter(|one| one.count > 0).collect(),
            oldest: oldest.map(|pod| (pod.clone(), path_of(&pod.namespace, &pod.name))).collect(),
            runbook: runbooks::link("", runbook_url, &problem.cause),
            by_cause: query(&[("cause", &problem.cause)]),
            problem: problem.clone(),
        }
    }
}

/// The name of a workload, and the page of it.
pub(super) fn workload((namespace, kind, name): &WorkloadKey) -> (String, String) {
    match kind.is_empty() {
        true => (format!("{namespace}: pods without an owner"), query(&[("namespace", namespace)])),
        false => (
            format!("{namespace}/{name} ({kind})"),
            query(&[("namespace", namespace), ("workload", &format!("{kind}/{name}"))]),
        ),
    }
}

/// The nodes or namespaces, of each the page with this parameter.
fn places(kind: &'static str, most: &Most, parameter: &'static str) -> Affected {
    let named = most.named.iter();
    Affected {
        kind,
        count: most.count,
        named: named
            .map(|(name, pods)| (name.to_string(), query(&[(parameter, name)]), *pods))
            .collect(),
    }
}

fn workloads(group: &Group) -> Affected {
    let all = group.workloads.iter();
    let named = largest(all.map(|(key, workload)| (key, workload.pods))).take(NAMED);
    Affected {
        kind: "Workloads",
        count: group.all_workloads,
        named: named
            .map(|(key, pods)| {
                let (text, page) = workload(key);
                (text, page, pods)
            })
            .collect(),
    }
}

/// Those with the most pods first; of equals as they came.
pub(super) fn largest<T>(
    counted: impl Iterator<Item = (T, usize)>,
) -> impl Iterator<Item = (T, usize)> {
    let mut all: Vec<_> = counted.collect();
    all.sort_by_key(|(_, pods)| std::cmp::Reverse(*pods));
    all.into_iter()
}
