//! Clauses about nodes that do not become schedulable ([§13.13](crate::specification#s13-13)).

use podinit_core::dimension::Dimension;
use podinit_core::node::NO_POOL;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};
use podinit_problems::{FoundLateNodes, FoundProblem};
use podinit_text::human_time::at_least;
use podinit_text::words::count;

/// What holds the nodes, how long, and how many pods wait for them:
/// `6 nodes of pool-a have kept the startup taint node.cilium.io/agent-not-ready for up to 19m; 118 pods wait for them`.
pub(super) fn clause(problem: &FoundProblem, nodes: &FoundLateNodes, until: Timestamp) -> String {
    let is_one = nodes.nodes == 1;
    let which = which(problem, nodes);
    let what = match is_one {
        true => what(nodes, "has kept", "has not been"),
        false => what(nodes, "have kept", "have not been"),
    };
    let comma = if nodes.held == nodes.nodes { "" } else { "," };
    let seconds = until.nanos_since(nodes.created) / NANOS_PER_SECOND;
    let minutes = u32::try_from(seconds / 60 * 60).unwrap_or_default();
    let long = at_least(minutes);
    let long = long.strip_suffix("m0s").map_or(long.clone(), |minutes| format!("{minutes}m"));
    let long = if is_one { long } else { format!("up to {long}") };
    let wait = match problem.pods {
        1 => "1 pod waits".to_owned(),
        pods => format!("{} wait", count(pods, "pod", "pods")),
    };
    format!("{which} {what}{comma} for {long}; {wait} for {}", if is_one { "it" } else { "them" })
}

/// What holds the nodes, without times and pods: `6 nodes of pool-a keep the startup taint
/// node.cilium.io/agent-not-ready`.
pub(super) fn headline(problem: &FoundProblem, nodes: &FoundLateNodes) -> String {
    let what = match nodes.nodes {
        1 => what(nodes, "keeps", "is not"),
        _ => what(nodes, "keep", "are not"),
    };
    format!("{} {what}", which(problem, nodes))
}

/// What holds them, with the verbs for a taint and for a state: `keep the startup taint …`, `are not Ready`.
fn what(nodes: &FoundLateNodes, keep: &str, are_not: &str) -> String {
    let held = nodes.held;
    match (&nodes.taint, held == nodes.nodes) {
        (Some(taint), true) => format!("{keep} the startup taint {taint}"),
        (None, true) => format!("{are_not} Ready"),
        (Some(taint), false) => {
            format!("{are_not} schedulable, {held} for the startup taint {taint}")
        }
        (None, false) => format!("{are_not} schedulable, {held} because they are not Ready"),
    }
}

fn which(problem: &FoundProblem, nodes: &FoundLateNodes) -> String {
    match &problem.shared {
        Some((Dimension::Node, name)) => format!("Node {name}"),
        Some((_, pool)) if **pool == *NO_POOL => format!("{} without a pool", subject(nodes.nodes)),
        Some((_, pool)) => format!("{} of {pool}", subject(nodes.nodes)),
        None => subject(nodes.nodes),
    }
}

fn subject(nodes: usize) -> String {
    count(nodes, "node", "nodes")
}
