//! Quantiles that ranks do not show ([§15.3](crate::specification#s15-3)): a slow tail, and a tail against the middle.

use super::sides::{Pod, side};
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_reports::comparison::{
    Comparison, ComparisonConfig, Moved, Threshold, ThresholdResult, Verdict, compare,
};

/// Pods of nine nodes over many minutes. `seconds` is how long one takes of a number from 0 to 1, on a node.
fn pods(seed: u64, image: &str, seconds: impl Fn(usize, f64) -> f64) -> Vec<Pod> {
    let mut random = fastrand::Rng::with_seed(seed);
    let pod = |number: usize| {
        let node = random.usize(..9);
        Pod {
            created: 1_770_000_000 + 2 * number as i64,
            node: format!("node-{node}"),
            images: vec![image.to_owned()],
            durations: vec![(Interval::CreatedToReady, (seconds(node, random.f64()) * 1e9) as u64)],
            ..Pod::default()
        }
    };
    (0..600).map(pod).collect()
}

fn compared(before: &[Pod], after: &[Pod]) -> Comparison {
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    compare(&side(before), &side(after), config)
}

/// From 8 to 48 s: most are fast, and the ranks of a fifth weigh little.
fn usual(number: f64) -> f64 {
    8.0 + 40.0 * number.powi(3)
}

/// Pods as usual, times `slow` on two nodes of nine and times `others` elsewhere.
fn with_two_slow_nodes(seed: u64, slow: f64, others: f64) -> Vec<Pod> {
    pods(seed, "app", |node, number| match node {
        0 | 1 => slow * usual(number),
        _ => others * usual(number),
    })
}

#[test]
fn two_slow_nodes_of_nine_are_a_slow_tenth_whatever_the_ranks_say() {
    let before = pods(1, "app", |_, number| usual(number));
    // The others are a little faster, so that the ranks are about equal.
    let after = with_two_slow_nodes(2, 5.0, 0.9);
    let found = compared(&before, &after);
    let row = &found.rows[0];
    assert!(row.corrected_p_value > 0.05, "{row:?}");
    assert_eq!((row.verdict, row.p90.proven), (Verdict::Slower, Some(Moved::Slower)));
    let text = &found.answer.text;
    assert!(
        text.starts_with("The slowest tenth of startups is slower: created to ready p90 "),
        "{text}"
    );
    assert!(!text.contains("p50"), "{text}");
    let rule: Threshold = "created_to_ready:p90>+20%".parse().unwrap();
    assert_eq!(rule.check(&found).result, ThresholdResult::Exceeded, "{row:?}");
}

#[test]
fn the_middle_and_the_slowest_tenth_may_go_different_ways() {
    let before = pods(3, "app", |_, number| usual(number));
    let after = with_two_slow_nodes(4, 3.0, 0.6);
    let found = compared(&before, &after);
    assert_eq!(found.answer.verdict, Verdict::Mixed, "{:?}", found.rows[0]);
    let begin = "The middle of startups is faster, the slowest tenth is slower. The middle: ";
    assert!(found.answer.text.starts_with(begin), "{}", found.answer.text);
    let rule: Threshold = "created_to_ready:p90>+20%".parse().unwrap();
    assert_eq!(rule.check(&found).result, ThresholdResult::Exceeded);
}

#[test]
fn where_the_mix_changed_the_matched_pods_answer() {
    let before = pods(5, "app", |_, number| 10.0 + number);
    let mut after = pods(6, "app", |_, number| 17.0 + number);
    after.extend(pods(7, "model", |_, number| 90.0 + number).into_iter().step_by(2));
    let found = compared(&before, &after);
    assert!(found.answer.matched);
    let text = &found.answer.text;
    let begin = "Startups are slower, of pods that have a match: created to ready p50 10.5s → 17.";
    assert!(text.starts_with(begin), "{text}");
    assert!(
        text.contains(" These are 100 % of the pods before and 67 % of those after; "),
        "{text}"
    );
    assert!(text.contains(" All pods together: +"), "{text}");
    // A rule is about the pods that answer: the new workload is not slower than it was.
    let kept: Threshold = "created_to_ready:p90>+10s".parse().unwrap();
    assert_eq!(kept.check(&found).result, ThresholdResult::Kept);
}

#[test]
fn what_it_would_need_is_left_out_where_more_pods_cannot_tell() {
    // A few hundred pods more would show that the slowest tenth is about as slow.
    let before = pods(8, "app", |_, number| usual(number));
    let after = pods(9, "app", |_, number| usual(number));
    let (few, others) = (&before[..60], &after[..60]);
    let found = compared(few, others);
    assert_eq!(found.answer.verdict, Verdict::Unclear);
    let needed = found.answer.needed.as_deref();
    assert!(needed.is_none_or(|needed| needed.contains(" times as many pods on each side")));
    // Of another application no number of pods tells.
    let other = pods(10, "model", |_, number| usual(number));
    let needed = compared(&before, &other).answer.needed.unwrap();
    assert!(needed.starts_with("The same workloads"), "{needed}");
}
