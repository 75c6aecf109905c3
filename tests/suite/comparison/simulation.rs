//! Simulated pairs with bursts: pods that are created in one minute have something in common, such as a busy
//! registry. So pods are not independent, and only minutes are.

mod changes;
mod clusters;
mod starts;

use super::sides::{Pod, node_labels, side};
use podinit_core::dimension::Dimension;
use podinit_core::lifecycle::{Interval, TimestampMode};
use podinit_reports::comparison::{ComparisonConfig, Row, Verdict, compare};

const INTERVAL: Interval = Interval::CreatedToReady;
/// The median before, in seconds
const MEDIAN: f64 = 8.0;
/// The deviations of the logarithm: of what the pods of a minute share, and of each pod
const SHARED: f64 = 0.25;
const OWN: f64 = 0.35;
/// The 90th percentile of the normal distribution
const Z90: f64 = 1.281_551_565_545;

/// A number of the normal distribution (Box and Muller).
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

/// Pods whose median is `factor` times the one before.
fn burst(random: &mut fastrand::Rng, minutes: i64, factor: f64) -> Vec<Pod> {
    let mut pods = Vec::new();
    for minute in 0..minutes {
        let shared = SHARED * normal(random);
        for _ in 0..random.u32(1..12) {
            let seconds = MEDIAN * factor * (shared + OWN * normal(random)).exp();
            pods.push(Pod {
                created: 1_770_000_000 + 60 * minute,
                durations: vec![(INTERVAL, (seconds * 1e9) as u64)],
                ..Pod::default()
            });
        }
    }
    pods
}

fn compared(random: &mut fastrand::Rng, factor: f64) -> Row {
    let (before, after) = (burst(random, 60, 1.0), burst(random, 60, factor));
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    let found = compare(&side(&before), &side(&after), config);
    found.rows[0].clone()
}

/// In how many of `pairs` the intervals of the median and of the 90th percentile hold the true difference.
fn covered(pairs: u64, factor: f64) -> [usize; 2] {
    let p90 = (Z90 * SHARED.hypot(OWN)).exp();
    let mut covered = [0, 0];
    for seed in 0..pairs {
        let row = compared(&mut fastrand::Rng::with_seed(seed), factor);
        let difference = MEDIAN * (factor - 1.0);
        let holds = |[low, high]: [f64; 2], truth: f64| usize::from(low <= truth && truth <= high);
        covered[0] += holds(row.p50.interval, difference);
        covered[1] += holds(row.p90.interval, difference * p90);
    }
    covered
}

/// How many of `pairs` without a difference are `slower`.
fn false_alarms(pairs: u64) -> usize {
    let rows = (0..pairs).map(|seed| compared(&mut fastrand::Rng::with_seed(seed), 1.0));
    rows.filter(|row| row.verdict == Verdict::Slower).count()
}

/// The pods of a burst on 12 nodes of two pools and three zones, each chosen by chance; those in pool `b` are slower.
fn in_pools(random: &mut fastrand::Rng, factor: f64) -> Vec<Pod> {
    let mut pods = burst(random, 90, 1.0);
    for pod in &mut pods {
        let number = random.usize(..12);
        let pool = ["a", "b"][number % 2];
        pod.node = format!("node-{number}");
        pod.labels = Some(node_labels(pool, ["z1", "z2", "z3"][number / 2 % 3]));
        if pool == "b" {
            for (_, nanos) in &mut pod.durations {
                *nanos = (*nanos as f64 * factor) as u64;
            }
        }
    }
    pods
}

/// Of so many pairs: how often what is slow is said to be pool `b` only, and how often another place only.
fn named(pairs: u64, of: impl Fn(&mut fastrand::Rng) -> [Vec<Pod>; 2]) -> [usize; 2] {
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    let mut named = [0, 0];
    for seed in 0..pairs {
        let [before, after] = of(&mut fastrand::Rng::with_seed(seed));
        let found = compare(&side(&before), &side(&after), config);
        let only = found.breakdown.and_then(|found| found.only);
        if let Some(only) = only {
            let is_pool = only.place.dimension == Dimension::Nodepool && only.place.values == ["b"];
            named[usize::from(!is_pool)] += 1;
        }
    }
    named
}

/// A slow pool is found in noise, and none where all are slow.
fn pools_of(pairs: u64) {
    let slow_pool = |random: &mut fastrand::Rng| [in_pools(random, 1.0), in_pools(random, 1.6)];
    let [pool, other] = named(pairs, slow_pool);
    println!("pool b is named in {pool}, another place in {other} of {pairs} pairs");
    assert!(pool as u64 >= pairs / 2 && other == 0, "{pool} and {other} of {pairs}");
    let all_slow = |random: &mut fastrand::Rng| {
        let [before, mut after] = [in_pools(random, 1.0), in_pools(random, 1.0)];
        for (_, nanos) in after.iter_mut().flat_map(|pod| &mut pod.durations) {
            *nanos = (*nanos as f64 * 1.4) as u64;
        }
        [before, after]
    };
    let [pool, other] = named(pairs, all_slow);
    println!(
        "where all are slow, pool b is named in {pool}, another place in {other} of {pairs} pairs"
    );
    assert!(pool + other <= 1, "{pool} and {other} of {pairs}");
}

#[test]
fn a_slow_pool_is_found_in_noise_and_none_where_all_are_slow() {
    pools_of(3);
}

#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn a_slow_pool_is_found_in_the_noise_of_thirty_pairs() {
    pools_of(30);
}

#[test]
fn intervals_hold_the_true_difference_and_nothing_is_slower_by_chance() {
    let [median, p90] = covered(20, 1.3);
    assert!(median >= 17 && p90 >= 17, "{median} and {p90} of 20");
    assert!(false_alarms(20) <= 1);
}

/// Takes a minute and a half: `cargo test --test suite comparison::simulation -- --ignored`.
#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn of_a_thousand_pairs_the_intervals_hold_95_percent() {
    let [median, p90] = covered(1_000, 1.3);
    println!(
        "the interval holds the true difference of the median in {median}, of p90 in {p90} of 1000 pairs"
    );
    assert!((930..=970).contains(&median), "{median}");
    assert!((930..=970).contains(&p90), "{p90}");
    let alarms = false_alarms(1_000);
    println!("{alarms} of 1000 pairs without a difference are slower");
    assert!(alarms <= 50, "{alarms}");
}
