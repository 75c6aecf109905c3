//! Pods that do not start ([§15.7](crate::specification#s15-7)): the row finds what is broken, and a whole table rarely
//! differs by chance.

use crate::comparison::sides::{End, Pod, side};
use podinit_core::lifecycle::{Interval, Stage, TimestampMode};
use podinit_reports::comparison::{
    Comparison, ComparisonConfig, StartVerdict, Threshold, ThresholdResult, Together, Verdict,
    compare,
};

/// Pods within half an hour, each with a few stages; those of a minute have something in common. This share
/// of them, and all of those on broken nodes, never start.
fn pods(random: &mut fastrand::Rng, count: usize, broken: f64, nodes: &[&str]) -> Vec<Pod> {
    let (mut shared, mut minute) = (1.0, -1);
    let pod = |number: usize| {
        let second = (1_800 * number / count) as i64;
        if second / 60 != minute {
            (shared, minute) = (0.8 + 0.4 * random.f64(), second / 60);
        }
        // Where no node is broken there is one, of which there is little to break down.
        let number = if nodes.is_empty() { 0 } else { random.usize(..6) };
        let node = format!("node-{number}");
        let mut seconds = |most: f64| shared * most * (0.2 + random.f64() * random.f64());
        let stages = [
            (Interval::Stage(Stage::Network), seconds(3.0)),
            (Interval::Stage(Stage::Init), seconds(5.0)),
            (Interval::Stage(Stage::Containers), seconds(8.0)),
        ];
        let whole = stages.iter().map(|(_, seconds)| seconds).sum();
        let is_broken = random.f64() < broken || nodes.contains(&&*node);
        let all = [(Interval::ScheduledToReady, whole), (Interval::CreatedToReady, whole + 0.1)];
        let durations = stages.into_iter().chain(all).filter(|_| !is_broken);
        Pod {
            created: 1_770_000_000 + second,
            node,
            durations: durations.map(|(name, seconds)| (name, (seconds * 1e9) as u64)).collect(),
            end: if is_broken { End::InFlight } else { End::Ready },
            ..Pod::default()
        }
    };
    (0..count).map(pod).collect()
}

pub(super) fn compared(before: &[Pod], after: &[Pod]) -> Comparison {
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    compare(&side(before), &side(after), config)
}

/// In how many of `pairs` any row of a table differs where nothing does, and how often more pods do not start.
fn false_differences(pairs: u64) -> [usize; 2] {
    let mut differing = [0, 0];
    for seed in 0..pairs {
        let mut random = fastrand::Rng::with_seed(seed);
        // From none to many that never start, and from few to many pods.
        let (broken, count) = (0.03 * (seed % 4) as f64, 200 + 100 * (seed % 3) as usize);
        let [before, after] = [(); 2].map(|()| pods(&mut random, count, broken, &[]));
        let found = compared(&before, &after);
        let starts = found.not_started.as_ref().unwrap().verdict;
        let is_of_starts = matches!(starts, StartVerdict::Worse | StartVerdict::Better);
        let is_of_rows = found.rows.iter().any(|row| row.verdict.is_different());
        differing[0] += usize::from(is_of_starts || is_of_rows);
        differing[1] += usize::from(is_of_starts);
    }
    differing
}

/// In how many of `pairs` it is found that a tenth of `count` pods does not start.
fn found(pairs: u64, count: usize) -> usize {
    let worse = (0..pairs).filter(|seed| {
        let mut random = fastrand::Rng::with_seed(*seed);
        let (before, after) =
            (pods(&mut random, count, 0.0, &[]), pods(&mut random, count, 0.1, &[]));
        let found = compared(&before, &after);
        found.is_worse_to_start() && found.answer.text.starts_with("More pods do not start: ")
    });
    worse.count()
}

#[test]
fn tables_without_a_difference_differ_in_few_of_twenty_pairs() {
    let [any, of_starts] = false_differences(20);
    assert!(any <= 1 && of_starts <= 1, "{any} and {of_starts}");
}

#[test]
fn a_tenth_of_broken_pods_is_found_in_twenty_pairs() {
    assert!(found(20, 200) >= 19);
}

/// `cargo test --test suite comparison::simulation::starts -- --ignored --nocapture`
#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn of_500_tables_without_a_difference_at_most_5_percent_differ() {
    let [any, of_starts] = false_differences(500);
    println!("{any} of 500 tables differ, {of_starts} of them in how many pods do not start");
    assert!(any <= 25, "{any}");
}

#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn a_tenth_of_broken_pods_is_found_in_95_percent_of_500_pairs() {
    for count in [200, 400] {
        let found = found(500, count);
        println!("{found} of 500 pairs with {count} pods are worse");
        assert!(found >= 475, "{found}");
    }
}

#[test]
fn the_first_sentence_says_how_many_why_and_where() {
    let mut random = fastrand::Rng::with_seed(1);
    let before = pods(&mut random, 300, 0.02, &[]);
    let after = pods(&mut random, 300, 0.02, &["node-1"]);
    let found = compared(&before, &after);
    let starts = found.not_started.as_ref().unwrap();
    let text = &found.answer.text;
    assert!(text.starts_with(&starts.text), "{text}");
    assert!(starts.text.contains(", on node node-1 only; "), "{text}");
    let waits = format!("{} of these wait for cni (network), before ", starts.after.pods.count);
    assert!(starts.text.contains(&waits), "{text}");
    let checked = |rule: &str| rule.parse::<Threshold>().unwrap().check(&found).result;
    assert_eq!(checked("not_started>+5%"), ThresholdResult::Exceeded);
    assert_eq!(checked("not_started>+40%"), ThresholdResult::Kept);
}

#[test]
fn the_same_pods_are_no_difference_with_what_could_have_been_seen() {
    let pods = pods(&mut fastrand::Rng::with_seed(2), 300, 0.05, &[]);
    let found = compared(&pods, &pods);
    assert!(found.answer.text.starts_with("No difference"), "{}", found.answer.text);
    assert!(found.answer.text.contains(" on it would have been seen."));
    let starts = found.not_started.as_ref().unwrap();
    assert_eq!(starts.difference, 0.0);
    let from = starts.worse_from.unwrap();
    // Each of these pods is a cluster of its own.
    assert_eq!(starts.together, Together::Workloads);
    let more = format!("From about {from} after on (");
    assert!(starts.text.starts_with("No difference in how many pods do not start: "));
    assert!(starts.text.contains(&more), "{}", starts.text);
    let rule: Threshold = "not_started>+10%".parse().unwrap();
    assert_eq!(rule.check(&found).result, ThresholdResult::Kept);
}

/// Where nothing becomes ready after, that is what is said, and not that too few pods became ready.
#[test]
fn an_outage_of_all_pods_is_found() {
    let mut random = fastrand::Rng::with_seed(3);
    let before = pods(&mut random, 200, 0.0, &[]);
    let after = pods(&mut random, 200, 1.0, &[]);
    let found = compared(&before, &after);
    assert!(found.answer.text.starts_with("More pods do not start: 0 of "), "{:?}", found.answer);
    assert!(found.answer.text.contains("too few pods became ready"), "{:?}", found.answer);
    assert_eq!(found.answer.verdict, Verdict::Unclear);
}

/// A pod that was there before the recording began says nothing of how many start since.
#[test]
fn old_pods_in_flight_do_not_count() {
    let mut random = fastrand::Rng::with_seed(4);
    let before = pods(&mut random, 200, 0.0, &[]);
    let mut after = before.clone();
    for number in 0..100 {
        let created = before[0].created - 3_600 + number;
        after.push(Pod { created, durations: Vec::new(), end: End::InFlight, ..before[0].clone() });
    }
    let starts = compared(&before, &after).not_started.unwrap();
    assert_eq!((starts.after.earlier, starts.after.pods.count), (100, 0));
    assert_eq!(starts.verdict, StartVerdict::Unclear);
}
