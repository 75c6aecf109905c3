//! A problem as a card: since when, who is affected, and what to run.

use super::history::OverviewHistory;
use super::link::{path_of, query};
use super::river::{TimeAxes, line};
use super::runbooks;
use crate::problems::{BreakdownGroup, BreakdownWorkload, PodName, Problem, TopLocations};
use podinit_core::timestamp::Timestamp;
use podinit_text::words::thousands;

/// How many workloads are named.
const NAMED: usize = 4;
/// How many pods are named: those that have waited longest.
const OLDEST: usize = 3;

/// A problem as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProblemCard {
    pub problem: Problem,
    /// How many of its pods are shown and how many it has, where not all of them were asked for
    pub part: Option<(String, String)>,
    /// How many of those that are shown are stuck; empty where none is
    pub stuck: String,
    /// Whether the header of the page says its headline, extent and command
    pub(super) is_in_header: bool,
    /// How many it had over the last hour, in the whole cluster
    pub line: Option<(String, TimeAxes)>,
    pub affected: Vec<AffectedObjects>,
    /// Its pods that have waited longest, each with the path of its page
    pub oldest: Vec<(PodName, String)>,
    /// The page of its cause
    pub by_cause: String,
    /// What to do
    pub runbook: String,
}

/// The affected objects of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AffectedObjects {
    pub kind: &'static str,
    /// How many more there are than are named; empty if all are
    pub more: String,
    /// The most affected, each with the page of it and how many pods
    pub named: Vec<(String, String, String)>,
}

impl ProblemCard {
    pub(super) fn new(
        (problem, group): &(Problem, BreakdownGroup),
        history: &OverviewHistory,
        runbook_url: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let affected = [
            places("Nodes", &group.nodes, "node"),
            workloads(group),
            places("Namespaces", &group.namespaces, "namespace"),
        ];
        let is_part = group.pods != problem.pods;
        let oldest = match is_part {
            false => problem.oldest.clone(),
            true => (group.oldest(OLDEST).into_iter())
                .map(|pod| PodName {
                    namespace: pod.namespace.to_string(),
                    name: pod.name.to_string(),
                })
                .collect(),
        };
        let oldest = oldest.into_iter().map(|pod| {
            let path = path_of(&pod.namespace, &pod.name);
            (pod, path)
        });
        Self {
            part: is_part.then(|| (thousands(group.pods), thousands(problem.pods))),
            stuck: if group.stuck > 0 { thousands(group.stuck) } else { String::new() },
            is_in_header: false,
            line: line(&history.pods_of(problem, now), now),
            affected: affected.into_iter().filter(|one| !one.named.is_empty()).collect(),
            oldest: oldest.collect(),
            runbook: runbooks::link("", runbook_url, &problem.cause),
            by_cause: query(&[("cause", &problem.cause)]),
            problem: problem.clone(),
        }
    }
}

/// The name of a workload, and the page of it.
pub(super) fn workload((namespace, kind, name): &BreakdownWorkload) -> (String, String) {
    match kind.is_empty() {
        true => (format!("{namespace}: pods without an owner"), query(&[("namespace", namespace)])),
        false => (
            format!("{namespace}/{name} ({kind})"),
            query(&[("namespace", namespace), ("workload", &format!("{kind}/{name}"))]),
        ),
    }
}

/// The nodes or namespaces, of each the page with this parameter.
fn places(kind: &'static str, most: &TopLocations, parameter: &'static str) -> AffectedObjects {
    let named = most.named.iter();
    let named = named.map(|(name, pods)| (name.to_string(), query(&[(parameter, name)]), *pods));
    affected(kind, most.count, named)
}

/// The `named` objects of `count` ones.
fn affected(
    kind: &'static str,
    count: usize,
    named: impl Iterator<Item = (String, String, usize)>,
) -> AffectedObjects {
    let named = named.map(|(name, page, pods)| (name, page, thousands(pods)));
    let named: Vec<_> = named.collect();
    let more = count.saturating_sub(named.len());
    AffectedObjects { kind, more: if more > 0 { thousands(more) } else { String::new() }, named }
}

fn workloads(group: &BreakdownGroup) -> AffectedObjects {
    let all = group.workloads.iter();
    let named = largest(all.map(|(key, workload)| (key, workload.pods))).take(NAMED);
    let named = named.map(|(key, pods)| {
        let (text, page) = workload(key);
        (text, page, pods)
    });
    affected("Workloads", group.all_workloads, named)
}

/// The objects with the most pods first; equals keep their order.
pub(super) fn largest<T>(
    counted: impl Iterator<Item = (T, usize)>,
) -> impl Iterator<Item = (T, usize)> {
    let mut all: Vec<_> = counted.collect();
    all.sort_by_key(|(_, pods)| std::cmp::Reverse(*pods));
    all.into_iter()
}
