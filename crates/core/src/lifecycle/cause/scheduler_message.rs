//! The message with which the scheduler says why a pod fits no node.
//!
//! It counts nodes by reason: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated
//! taint(s). preemption: 0/5 nodes are available: …`. `docs/causes.md` lists the reasons of each
//! version of Kubernetes with their source.

use super::Cause;
use crate::node::is_startup_taint;
use crate::reason::scheduler::{PREEMPTION, clauses, own};
use crate::reason::{MOST_CHARACTERS, shorten};

/// Texts of a message whose scheduler keeps the node that it has nominated.
const KEEPS_NODE: [&str; 3] =
    ["terminating pod on the nominated node", "workload aware preemption", "pod group preemption"];

/// What the messages about a group of pods contain, in any case.
const POD_GROUP: [&str; 6] =
    ["pod group", "podgroup", "gang", "sibling pods", "mincount", "minavailable"];

/// What the messages about a failed binding of volumes contain, in any case.
const VOLUMES: [&str; 2] = ["volumebinding", "binding volumes"];

/// What a clause contains, in any case, and what it means; the first row that fits counts. Before them comes what
/// queues and quotas refuse, which may say `insufficient`.
const CLAUSES: [(Cause, &[&str]); 6] = [
    (
        Cause::Resources,
        &[
            "insufficient",
            "too many pods",
            "resource fit failed",
            "pod number exceeded",
            "enough resources",
        ],
    ),
    (Cause::Taint, &["taint", "unschedulable"]),
    (Cause::Topology, &["topology spread"]),
    (Cause::Volume, &["volume", "pvc", "storage", "disk", "csi driver", "csinode"]),
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

/// The cause that `message` states: that of the most nodes, on a tie the one that is named first. Nodes that were not
/// meant for the pod do not count beside others.
pub(super) fn cause(message: &str) -> Cause {
    let counted = counted_clauses(message);
    let mut counts: Vec<(Cause, u64)> = Vec::with_capacity(counted.len());
    for MessageClause { cause, nodes, .. } in counted {
        match counts.iter_mut().find(|(known, _)| *known == cause) {
            // A node that lacks processor and memory is named twice.
            Some((Cause::Resources, most)) => *most = nodes.max(*most),
            Some((_, sum)) => *sum = sum.saturating_add(nodes),
            None => counts.push((cause, nodes)),
        }
    }
    let mut most = (Cause::Other, None);
    for (cause, count) in counts {
        if most.1.is_none_or(|most| count > most) {
            most = (cause, Some(count));
        }
    }
    most.0
}

/// The clauses of `message` that decide `cause`, then the others as far as they fit, without nodes that were not meant
/// for the pod. `None` where a message has no clauses.
pub fn said_of_nodes(message: &str, cause: Cause) -> Option<String> {
    own(message)?;
    let counted = counted_clauses(message).into_iter();
    let (deciding, others): (Vec<_>, Vec<_>) = counted.partition(|clause| clause.cause == cause);
    let mut said = String::new();
    for MessageClause { nodes, text, .. } in deciding.into_iter().chain(others) {
        let clause = text.trim().trim_end_matches('.');
        let clause = match nodes {
            0 => clause.to_owned(),
            nodes => format!("{nodes} {clause}"),
        };
        let room = MOST_CHARACTERS.saturating_sub(said.chars().count() + ", …".chars().count() * 2);
        if said.is_empty() {
            said = shorten(&clause, MOST_CHARACTERS).into_owned();
        } else if clause.chars().count() <= room {
            said = format!("{said}, {clause}");
        } else {
            said.push_str(", …");
            break;
        }
    }
    Some(said).filter(|said| !said.is_empty())
}

/// A clause, the cause that it states, and of how many nodes.
#[derive(Clone, Copy)]
struct MessageClause<'a> {
    cause: Cause,
    nodes: u64,
    text: &'a str,
}

/// The clauses of `message` that count: those of nodes that were not meant for the pod only where there are no others.
fn counted_clauses(message: &str) -> Vec<MessageClause<'_>> {
    let read = clauses(message).map(|(nodes, text)| {
        let cause = cause_of_clause(text);
        let is_of_others = is_of_other_nodes(cause, text);
        (MessageClause { cause, nodes, text }, is_of_others)
    });
    let (others, meant): (Vec<_>, Vec<_>) = read.partition(|(_, is_of_others)| *is_of_others);
    let counted = if meant.is_empty() { others } else { meant };
    counted.into_iter().map(|(clause, _)| clause).collect()
}

/// Whether a clause is about nodes that were not meant for the pod: the scheduler asks for taints and node affinity
/// first, and asks nothing else of a node that fails them.
fn is_of_other_nodes(cause: Cause, clause: &str) -> bool {
    match cause {
        Cause::Affinity => contains_any(clause, &["node affinity", "nodeaffinity", "selector"]),
        Cause::Taint => contains(clause, "taint") && !names_a_fault(clause),
        _ => false,
    }
}

/// Whether a clause names a taint of a node that is not well, or has not started.
fn names_a_fault(clause: &str) -> bool {
    let key = named_taint(clause);
    key.is_some_and(|key| key.starts_with("node.kubernetes.io/") || is_startup_taint(key))
}

/// The key of the taint that a clause names.
fn named_taint(clause: &str) -> Option<&str> {
    clause.split_once('{').and_then(|(_, rest)| rest.split([':', '}']).next())
}

/// For each clause of `message` about taints: the key that it names, or `None` where it names none, as in newer
/// schedulers.
pub fn taints_said(message: &str) -> impl Iterator<Item = Option<&str>> {
    let of_taints = clauses(message).filter(|(_, clause)| contains(clause, "taint"));
    of_taints.map(|(_, clause)| named_taint(clause).map(str::trim))
}

fn cause_of_clause(clause: &str) -> Cause {
    let is_of_queue = contains(clause, "queue") && !contains(clause, "scheduling queue");
    if contains(clause, "quota") || is_of_queue {
        return Cause::Quota;
    }
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
