//! Where a difference lies ([§15.6](crate::specification#s15-6)).

use super::sides::{Pod, side};
use podinit_core::lifecycle::{Interval, Stage, TimestampMode};
use podinit_reports::comparison::{ComparisonConfig, Verdict, compare};

/// Pods of so many nodes and of four images, workloads and namespaces, each value with each other one. The network of
/// those that `is_slow` chooses takes 5 s more.
pub fn pods(nodes: usize, is_slow: impl Fn([usize; 4]) -> bool) -> Vec<Pod> {
    let mut random = fastrand::Rng::with_seed(7);
    let pod = |number: usize| {
        let place =
            [number % nodes, number / nodes % 4, number / nodes / 4 % 4, number / nodes / 16 % 4];
        let [node, image, workload, namespace] = place;
        let more = if is_slow(place) { 5.0 } else { 0.0 };
        let network = 2.0 + random.f64() + more;
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        Pod {
            // In another order, so that no minute has pods of one place alone.
            created: 1_770_000_000 + (number * 7_919 % (nodes * 64 * 3)) as i64,
            workload: Some((
                format!("team-{namespace}"),
                "Deployment".to_owned(),
                format!("web-{workload}"),
            )),
            node: format!("node-{node}"),
            images: vec![format!("app-{image}:v1")],
            durations: vec![
                (Interval::Stage(Stage::Network), nanos(network)),
                (Interval::CreatedToReady, nanos(network + 4.0)),
            ],
            ..Pod::default()
        }
    };
    (0..nodes * 64 * 3).map(pod).collect()
}

fn answer(nodes: usize, is_slow: impl Fn([usize; 4]) -> bool) -> String {
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    let (before, after) = (pods(nodes, |_| false), pods(nodes, is_slow));
    let found = compare(&side(&before), &side(&after), config);
    assert_eq!(found.answer.verdict, Verdict::Slower, "{:?}", found.answer);
    assert_eq!(found.answer.stage, Some("network"));
    found.answer.text
}

#[test]
fn the_dimension_of_which_few_values_are_slow_is_named() {
    for (dimension, place) in [
        ", on node node-1 only (+5s there).",
        ", with image app-1 only (+5s there).",
        ", of workloads team-",
        ", in namespace team-1 only (+5s there).",
    ]
    .into_iter()
    .enumerate()
    {
        let text = answer(4, |place| place[dimension] == 1);
        assert!(text.contains(place), "{text}");
    }
    let text = answer(4, |[node, ..]| node < 2);
    assert!(
        text.contains(", on nodes node-0 and node-1 only.")
            || text.contains(", on nodes node-1 and node-0 only."),
        "{text}"
    );
}

#[test]
fn all_nodes_are_said_only_of_all_nodes() {
    assert!(answer(4, |_| true).contains(", on all nodes."));
    // More are slow than are stated, and others are not.
    let text = answer(50, |[node, ..]| node % 2 == 0);
    assert!(!text.contains("on all nodes"), "{text}");
    assert!(!text.contains("only"), "{text}");
}
