//! Where a difference lies, where pools and zones are known: at a pool or a zone only if all of it moved
//! ([§15.6](crate::specification#s15-6)). The reference agrees in each case.

use super::figures::{assert_breakdown, compared};
use super::place::pods;
use super::sides::{Pod, node_labels};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::TimestampMode;
use podinit_reports::comparison::Comparison;

/// Pods of so many nodes, of which `place` says the pool and the zone, and `is_slow` which are slow after.
fn comparison(
    nodes: usize,
    place: impl Fn(usize) -> (&'static str, &'static str),
    is_slow: impl Fn(usize) -> bool,
) -> Comparison {
    let labelled = |pods: Vec<Pod>| {
        // The reference compares every pair.
        let mut pods: Vec<Pod> = pods.into_iter().step_by(5).collect();
        for pod in &mut pods {
            let number = pod.node.trim_start_matches("node-").parse().unwrap();
            let (pool, zone) = place(number);
            pod.labels = Some(node_labels(pool, zone));
        }
        pods
    };
    let before = labelled(pods(nodes, |_| false));
    let after = labelled(pods(nodes, |[node, ..]| is_slow(node)));
    let found = compared(&before, &after, TimestampMode::Fused);
    assert_breakdown(&found, &before, &after);
    found
}

/// Two pools in two zones: every second node is in pool `b`, every second pair of nodes in zone `z2`.
fn crossed(node: usize) -> (&'static str, &'static str) {
    (["a", "b"][node % 2], ["z1", "z2"][node / 2 % 2])
}

fn assert_says(found: &Comparison, place: &str) {
    let text = &found.answer.text;
    assert!(text.contains("It is the stage network: +"), "{text}");
    assert!(text.ends_with(place), "{text}");
}

#[test]
fn a_slow_pool_is_named_and_not_its_nodes() {
    let found = comparison(8, crossed, |node| node % 2 == 1);
    assert_says(&found, ", on nodes of pool b only (+5s there).");
}

#[test]
fn a_slow_zone_is_named_and_not_its_nodes() {
    let found = comparison(8, crossed, |node| node / 2 % 2 == 1);
    assert_says(&found, ", in zone z2 only (+5s there).");
}

#[test]
fn where_all_nodes_are_slow_no_pool_is_named() {
    let found = comparison(8, crossed, |_| true);
    assert_says(&found, ", on all nodes.");
}

#[test]
fn where_some_nodes_of_a_pool_are_slow_it_is_they() {
    let found = comparison(8, crossed, |node| node == 1 || node == 5);
    let text = &found.answer.text;
    assert!(text.contains(", on nodes node-"), "{text}");
    // More than are named together: a pool is not named for half of its nodes.
    let found = comparison(24, crossed, |node| node % 4 == 1);
    let text = &found.answer.text;
    assert!(!text.contains("only"), "{text}");
}

#[test]
fn a_pool_and_a_zone_of_the_same_pods_are_both_named() {
    let place = |node: usize| [("a", "z1"), ("b", "z2")][node % 2];
    let found = comparison(8, place, |node| node % 2 == 1);
    assert_says(
        &found,
        ", on nodes of pool b only (+5s there). The same pods are in zone z2, so it may be either.",
    );
}

#[test]
fn nodes_without_a_pool_are_named_beside_pools_only() {
    let place = |node: usize| [("a", ""), ("_none", "")][node % 2];
    let found = comparison(8, place, |node| node % 2 == 1);
    assert_says(&found, ", on nodes without a pool only (+5s there).");
    let found = comparison(8, |_| ("_none", ""), |node| node % 2 == 1);
    let parts = found.breakdown.unwrap().parts;
    let is_of_labels = |dimension| matches!(dimension, Dimension::Nodepool | Dimension::Zone);
    assert!(!parts.iter().any(|part| is_of_labels(part.dimension)));
}
