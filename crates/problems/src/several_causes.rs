//! A place where pods fail in many ways ([§13.15](crate::specification#s13-15)): a full disk is one problem, whatever it
//! keeps from working.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::affected_pods::AffectedPods;
use super::kind::ProblemKind;
use super::over_time::RankedProblem;
use super::problem::FoundProblem;
use super::since;
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::Cause;
use podinit_core::timestamp::Timestamp;

/// So many causes of one place are one problem ...
const LEAST_CAUSES: usize = 3;
/// ... if so many of their problems state it.
const LEAST_STATING: usize = 2;
/// Each of these causes has so many pods there, and so has a problem that states something else.
const LEAST_PODS: usize = 3;

/// One of the causes that affect pods of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseAtPlace {
    pub cause: Cause,
    /// How many pods it affects
    pub pods: usize,
    /// What Kubernetes says of most of them
    pub message: Option<Arc<str>>,
}

/// The same problems, where those of three causes or more at one node or zone are one.
pub(super) fn joined(mut problems: Vec<RankedProblem>, pods: &AffectedPods) -> Vec<RankedProblem> {
    let mut places: Vec<(Dimension, Arc<str>)> = Vec::new();
    for (dimension, value) in problems.iter().filter_map(|one| one.problem.shared.as_ref()) {
        let place = (*dimension, Arc::clone(value));
        if matches!(dimension, Dimension::Node | Dimension::Zone) && !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable();
    for place in places {
        let (parts, others): (Vec<RankedProblem>, Vec<RankedProblem>) =
            problems.into_iter().partition(|one| is_at(one, &place, pods));
        let states = |one: &&RankedProblem| one.problem.shared.as_ref() == Some(&place);
        let stating = parts.iter().filter(states).count();
        let mut by_cause: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &parts {
            *by_cause.entry(one.problem.cause.as_str()).or_default() += one.problem.pods;
        }
        let causes = by_cause.into_values().filter(|pods| *pods >= LEAST_PODS).count();
        let is_one = stating >= LEAST_STATING && causes >= LEAST_CAUSES;
        problems = others;
        match is_one {
            true => problems.push(one_of(parts, place, pods)),
            false => problems.extend(parts),
        }
    }
    problems
}

/// Whether a problem states the place; or, of a node, another thing than a workload or an image, and at least nine tenths
/// of its pods are on it.
fn is_at(one: &RankedProblem, place: &(Dimension, Arc<str>), pods: &AffectedPods) -> bool {
    match &one.problem.shared {
        Some(shared) if shared == place => return true,
        Some((Dimension::Registry | Dimension::Namespace, _)) | None => {}
        Some(_) => return false,
    }
    let (dimension, node) = place;
    let is_there = |rank: &&u32| pods.found.node(pods.get(**rank).place) == Some(node);
    let there = one.ranks.iter().filter(is_there).count();
    *dimension == Dimension::Node && 10 * there >= 9 * one.ranks.len() && there >= LEAST_PODS
}

/// The problem of the place that these are together.
fn one_of(
    mut parts: Vec<RankedProblem>,
    place: (Dimension, Arc<str>),
    pods: &AffectedPods,
) -> RankedProblem {
    parts.sort_by_key(|one| {
        (Reverse(one.problem.pods), one.problem.since, one.problem.cause.as_str())
    });
    let is_still = parts.iter().all(|one| one.is_still);
    let mut ranks: Vec<u32> = parts.iter().flat_map(|one| one.ranks.iter().copied()).collect();
    ranks.sort_unstable();
    let times: Vec<Timestamp> = ranks.iter().map(|rank| pods.get(*rank).since).collect();
    let (mut since, earlier) = since::since(&times);
    if earlier.is_none() {
        // Each of them lasts.
        since = parts.iter().fold(since, |since, one| since.min(one.problem.since));
    }
    // Of a cause with several problems the text of the one with most pods.
    let mut causes: Vec<CauseAtPlace> = Vec::new();
    for RankedProblem { problem, .. } in &parts {
        match causes.iter_mut().find(|one| one.cause == problem.cause) {
            Some(same) => same.pods += problem.pods,
            None => causes.push(CauseAtPlace {
                cause: problem.cause,
                pods: problem.pods,
                message: problem.message.clone(),
            }),
        }
    }
    causes.sort_by_key(|one| Reverse(one.pods));
    let kind = ProblemKind::SeveralCauses(causes);
    let most = parts.swap_remove(0).problem;
    let places = ranks.iter().map(|rank| pods.get(*rank).place);
    let of_all = FoundProblem::of_places((most.cause, Some(place)), since, places, &pods.found);
    let FoundProblem { message, message_pods, oldest, .. } = most;
    let problem =
        FoundProblem { kind, earlier, told: of_all.pods, message, message_pods, oldest, ..of_all };
    RankedProblem { is_still, problem, ranks }
}
