//! The message with which the scheduler says why a pod fits no node.
//!
//! It counts nodes by reason: `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated
//! taint(s). preemption: 0/5 nodes are available: …`. `docs/causes.md` lists the reasons of each
//! version of Kubernetes with their source.

use std::cmp::Reverse;

use super::Cause;
use crate::node::is_startup_taint;
use crate::reason::scheduler::{PREEMPTION, clauses, own, with_clauses};
use crate::reason::{MOST_CHARACTERS, shorten};

/// Texts of a message whose scheduler keeps the node that it has nominated.
const KEEPS_NODE: [&str; 3] =
    ["terminating pod on the nominated node", "workload aware preemption", "pod group preemption"];

/// What the messages about a group of pods contain, in any case. Volcano says that a pod "can possibly be assigned" to a
/// node once enough others can; before 1.10 it spells that otherwise.
const POD_GROUP: [&str; 10] = [
    "pod group",
    "podgroup",
    "gang",
    "sibling pods",
    "mincount",
    "minavailable",
    "minmember",
    "mintaskmember",
    "can possibly be assigned",
    "can possibly be assgined",
];

/// Taints of control planes, which few pods tolerate: the present name, that of Kubernetes before 1.25, and those of RKE.
const CONTROL_PLANE: [&str; 4] = ["control-plane", "master", "controlplane", "etcd"];

/// Stands for the clauses that are left out.
const LEFT_OUT: &str = ", …";

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

/// Whether `message` is about a pod group, and does not count nodes that lack resources.
pub(super) fn is_of_pod_group(message: &str) -> bool {
    let lacks = |own: &str| {
        let mut clauses = message_clauses(message);
        contains_any(own, &POD_GROUP) && clauses.any(|clause| clause.cause == Cause::Resources)
    };
    contains_any(message, &POD_GROUP) && !own(message).is_some_and(lacks)
}

/// Whether the `message` of a failed attempt is about binding volumes.
pub(super) fn is_of_volumes(message: &str) -> bool {
    contains_any(message, &VOLUMES)
}

/// Whether `message` says that no preemption makes room, so that it nominates no node.
pub(super) fn tells_of_failed_preemption(message: &str) -> bool {
    message.contains(PREEMPTION) && !KEEPS_NODE.iter().any(|words| message.contains(words))
}

/// The cause that `message` states: that of the most nodes, on a tie the one that is named first. `others_are_bound` says
/// whether another pod of the revision is or was bound.
pub(super) fn cause(message: &str, others_are_bound: bool) -> Cause {
    let counted = counted_clauses(message, others_are_bound);
    if are_of_several_faults(&counted) {
        return most_nodes_first(counted)[0].cause;
    }
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

/// Whether the cause of a pod with `message` may be another if another pod of its revision is bound.
pub(super) fn depends_on_others(message: &str) -> bool {
    leaves_out_for_others(&counted_clauses(message, false))
}

/// The message of a pod of whose revision others are bound, without the clauses that this leaves out. `None` if there are
/// none.
pub(super) fn of_meant_nodes(message: &str) -> Option<String> {
    let mut counted = counted_clauses(message, false);
    if !leaves_out_for_others(&counted) {
        return None;
    }
    counted.retain(|clause| clause.failed != NodeFilter::Purpose);
    let clauses: Vec<String> = counted.iter().map(MessageClause::said).collect();
    with_clauses(message, &(clauses.join(", ") + LEFT_OUT))
}

/// Whether taints keep pods from nodes, and selectors or node affinity from others, and both count: neither alone is why
/// a pod fits on no node.
pub fn names_several_faults(message: &str) -> bool {
    are_of_several_faults(&counted_clauses(message, false))
}

/// The clauses of `message` that decide `cause`, then the others as far as they fit, without nodes that were not meant
/// for the pod. `None` where a message has no clauses.
pub fn said_of_nodes(message: &str, cause: Cause) -> Option<String> {
    own(message)?;
    let mut counted = most_nodes_first(counted_clauses(message, false));
    if !are_of_several_faults(&counted) {
        counted.sort_by_key(|clause| clause.cause != cause);
    }
    let mut said = String::new();
    for clause in counted {
        let clause = clause.said();
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
#[derive(Clone, Copy, Debug)]
struct MessageClause<'a> {
    cause: Cause,
    nodes: u64,
    text: &'a str,
    failed: NodeFilter,
}

impl MessageClause<'_> {
    /// The clause with its number, if it has one.
    fn said(&self) -> String {
        let text = self.text.trim().trim_end_matches('.');
        let text = text.strip_suffix(LEFT_OUT).unwrap_or(text);
        match self.nodes {
            0 => text.to_owned(),
            nodes => format!("{nodes} {text}"),
        }
    }
}

/// What a node failed of what the scheduler asks, in this order. A node states the first that it fails (the order of the
/// default plugins: `pkg/scheduler/apis/config/v1/default_plugins.go` of Kubernetes 1.37.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeFilter {
    /// A plugin named other nodes before any was asked: for a pod of a DaemonSet, its own
    Named,
    /// The taint of a control plane
    ControlPlane,
    /// A cordon, or the taint of a node that is not well or has not started
    Fault,
    /// Any other taint, a selector or node affinity: perhaps it was not meant for the pod
    Purpose,
    /// Ports, resources, devices, volumes, topology, affinity between pods, or what is said of all nodes
    Later,
}

/// The clauses of `message`.
fn message_clauses(message: &str) -> impl Iterator<Item = MessageClause<'_>> {
    clauses(message).map(|(nodes, text)| {
        let cause = cause_of_clause(text);
        MessageClause { cause, nodes, text, failed: NodeFilter::of_clause(cause, text) }
    })
}

/// The clauses of `message` that count: those of nodes that were not meant for the pod only where there are no others.
fn counted_clauses(message: &str, others_are_bound: bool) -> Vec<MessageClause<'_>> {
    let mut counted: Vec<MessageClause<'_>> = message_clauses(message).collect();
    for never_meant in [NodeFilter::Named, NodeFilter::ControlPlane] {
        if counted.iter().any(|clause| clause.failed != never_meant) {
            counted.retain(|clause| clause.failed != never_meant);
        }
    }
    let has_later = counted.iter().any(|clause| clause.failed == NodeFilter::Later);
    if has_later || others_are_bound && leaves_out_for_others(&counted) {
        counted.retain(|clause| clause.failed != NodeFilter::Purpose);
    }
    counted
}

/// Whether a bound pod of the revision leaves out some of these clauses, which count without one.
fn leaves_out_for_others(counted: &[MessageClause<'_>]) -> bool {
    let has = |failed| counted.iter().any(|clause| clause.failed == failed);
    has(NodeFilter::Fault) && has(NodeFilter::Purpose)
}

/// Whether these clauses, of those that count, are of taints and of selectors or node affinity.
fn are_of_several_faults(counted: &[MessageClause<'_>]) -> bool {
    let has = |cause| counted.iter().any(|clause| clause.cause == cause);
    let are_early = counted.iter().all(|clause| clause.failed != NodeFilter::Later);
    are_early && has(Cause::Taint) && has(Cause::Affinity)
}

/// The clauses, that of the most nodes first, on a tie that of a taint.
fn most_nodes_first(mut clauses: Vec<MessageClause<'_>>) -> Vec<MessageClause<'_>> {
    clauses.sort_by_key(|clause| (Reverse(clause.nodes), clause.cause != Cause::Taint));
    clauses
}

impl NodeFilter {
    /// What the nodes of a clause about `cause` failed.
    fn of_clause(cause: Cause, clause: &str) -> Self {
        match cause {
            _ if contains(clause, "didn't satisfy plugin(s) [") => Self::Named,
            Cause::Affinity
                if contains_any(clause, &["node affinity", "nodeaffinity", "selector"]) =>
            {
                Self::Purpose
            }
            Cause::Taint if !contains(clause, "taint") => Self::Fault,
            Cause::Taint => named_taint(clause).map_or(Self::Purpose, Self::of_taint),
            _ => Self::Later,
        }
    }

    /// What nodes failed whose taint has this key.
    fn of_taint(key: &str) -> Self {
        let role = key.strip_prefix("node-role.kubernetes.io/");
        if key.starts_with("node.kubernetes.io/") || is_startup_taint(key) {
            Self::Fault
        } else if role.is_some_and(|role| CONTROL_PLANE.contains(&role)) {
            Self::ControlPlane
        } else {
            Self::Purpose
        }
    }
}

/// The key of the taint that a clause names.
fn named_taint(clause: &str) -> Option<&str> {
    clause.split_once('{').and_then(|(_, rest)| rest.split([':', '}']).next()).map(str::trim)
}

/// For each clause of `message` about taints: the key that it names, or `None` where it names none, as in newer
/// schedulers.
pub fn taints_said(message: &str) -> impl Iterator<Item = Option<&str>> {
    let of_taints = clauses(message).filter(|(_, clause)| contains(clause, "taint"));
    of_taints.map(|(_, clause)| named_taint(clause))
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
