//! The message with which the scheduler says why a pod fits no node.
//!
//! It counts nodes by reason: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated
//! taint(s). preemption: 0/5 nodes are available: …`. `docs/causes.md` lists the reasons of each
//! version of Kubernetes with their source.

use super::Cause;

/// What the messages of a pod group contain, in any case.
const POD_GROUP: [&str; 3] = ["pod group", "podgroup", "gang"];

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

/// The cause that `message` states: that of the clause with the most nodes.
pub(super) fn cause(message: &str) -> Cause {
    let clause = decisive_clause(message);
    let row = CLAUSES
        .iter()
        .find(|(_, words)| contains_any(clause, words));
    row.map_or(Cause::Other, |(cause, _)| *cause)
}

/// The clause with the most nodes, on a tie the first. A clause without a number counts for all nodes,
/// and a message of another form is one clause.
fn decisive_clause(message: &str) -> &str {
    let message = message.split(" preemption:").next().unwrap_or_default();
    let Some((nodes, clauses)) = counted_clauses(message) else {
        return message;
    };
    let mut most: Option<(u64, &str)> = None;
    for clause in clauses.split(", ") {
        let counted = leading_number(clause);
        let (count, clause) = counted.unwrap_or((nodes, clause));
        if most.is_none_or(|(most, _)| count > most) {
            most = Some((count, clause));
        }
    }
    most.map_or(clauses, |(_, clause)| clause)
}

/// The number of all nodes and the clauses of `0/N nodes are available: CLAUSES`.
fn counted_clauses(message: &str) -> Option<(u64, &str)> {
    let rest = message.trim_start().strip_prefix("0/")?;
    let (nodes, clauses) = rest.split_once(" nodes are available:")?;
    Some((nodes.parse().ok()?, clauses.trim_start()))
}

/// The number with which a clause begins, and the rest of it.
fn leading_number(clause: &str) -> Option<(u64, &str)> {
    let (number, rest) = clause.trim_start().split_once(' ')?;
    let decimal = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = decimal.then(|| number.parse().unwrap_or(u64::MAX))?;
    Some((number, rest))
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
