//! The message with which the scheduler says why a pod fits no node.
//!
//! It counts nodes by reason: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated
//! taint(s). preemption: 0/5 nodes are available: …`. `docs/causes.md` lists the reasons of each
//! version of Kubernetes with their source.

use super::Cause;

/// What follows the first of these is what PostFilter plugins say, and no reason why a node does not fit.
const ENDS: [&str; 5] = [
    PREEMPTION,
    " no new claims to deallocate",
    " still not schedulable",
    " deallocation of ResourceClaim",
    " deletion of ResourceClaim",
];

/// Begins what the plugin says that preempts pods.
const PREEMPTION: &str = " preemption:";

/// What it says where the scheduler keeps the node that it has nominated.
const KEEPS_NODE: [&str; 3] = [
    "terminating pod on the nominated node",
    "workload aware preemption",
    "pod group preemption",
];

/// What the clauses come after; the second is of Volcano.
const BEFORE_CLAUSES: [&str; 2] = [" nodes are available: ", " nodes are unavailable: "];

/// What the messages about a group of pods contain, in any case.
const POD_GROUP: [&str; 5] = ["pod group", "podgroup", "gang", "sibling pods", "mincount"];

/// What the messages about a failed binding of volumes contain, in any case.
const VOLUMES: [&str; 2] = ["volumebinding", "binding volumes"];

/// What a clause contains, in any case, and what it means; the first row that fits counts.
const CLAUSES: [(Cause, &[&str]); 6] = [
    (Cause::Resources, &["insufficient", "too many pods"]),
    (Cause::Taint, &["taint", "unschedulable"]),
    (Cause::Topology, &["topology spread"]),
    (Cause::Volume, &["volume", "pvc", "storage", "disk"]),
    (Cause::Claim, &["claim", "device"]),
    (Cause::Affinity, &["affinity", "selector"]),
];

/// Whether `message` names a pod group.
pub(super) fn names_pod_group(message: &str) -> bool {
    contains_any(message, &POD_GROUP)
}

/// Whether the `message` of a failed attempt is about binding volumes.
pub(super) fn is_of_volumes(message: &str) -> bool {
    contains_any(message, &VOLUMES)
}

/// Whether `message` says that no preemption makes room, so that it nominates no node.
pub(super) fn tells_of_failed_preemption(message: &str) -> bool {
    message.contains(PREEMPTION) && !KEEPS_NODE.iter().any(|words| message.contains(words))
}

/// The cause that `message` states: that of the most nodes, on a tie the one that is named first.
pub(super) fn cause(message: &str) -> Cause {
    let mut sums: Vec<(Cause, u64)> = Vec::with_capacity(CLAUSES.len() + 1);
    for (nodes, clause) in clauses(message) {
        let cause = cause_of_clause(clause);
        match sums.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, sum)) => *sum = sum.saturating_add(nodes),
            None => sums.push((cause, nodes)),
        }
    }
    let mut most = (Cause::Other, None);
    for (cause, sum) in sums {
        if most.1.is_none_or(|most| sum > most) {
            most = (cause, Some(sum));
        }
    }
    most.0
}

/// The clauses of `message`, each with its number of nodes. What does not begin with a number is said of all
/// nodes, and is one clause; so is a message of another form.
fn clauses(message: &str) -> impl Iterator<Item = (u64, &str)> {
    let ends = ENDS.iter().filter_map(|end| message.find(end));
    let message = &message[..ends.min().unwrap_or(message.len())];
    let begins = BEFORE_CLAUSES
        .iter()
        .filter_map(|before| Some((message.find(before)?, before.len())));
    let begin = begins.min().map(|(place, length)| place + length);
    let counted = begin.map(|begin| &message[begin..]);
    let mut rest = Some(counted.unwrap_or(message));
    std::iter::from_fn(move || {
        let clause = rest.take()?;
        let number = counted.and_then(|_| leading_number(clause));
        let Some((nodes, clause)) = number else {
            return Some((0, clause));
        };
        let mut ends = clause.match_indices(", ").map(|(end, _)| end);
        let Some(end) = ends.find(|end| leading_number(&clause[end + 2..]).is_some()) else {
            return Some((nodes, clause));
        };
        rest = Some(&clause[end + 2..]);
        Some((nodes, &clause[..end]))
    })
}

/// The number with which `text` begins, digits and a space, and what follows it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.split_once(' ')?;
    let decimal = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = decimal.then(|| number.parse().unwrap_or(u64::MAX))?;
    Some((number, rest))
}

fn cause_of_clause(clause: &str) -> Cause {
    let mut rows = CLAUSES.iter();
    let row = rows.find(|(_, words)| contains_any(clause, words));
    row.map_or(Cause::Other, |(cause, _)| *cause)
}

/// Whether `text` contains one of `words`, which are in lower case, in any case.
fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| contains(text, word))
}

fn contains(text: &str, word: &str) -> bool {
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
#[path = "scheduler_message_tests.rs"]
mod tests;
