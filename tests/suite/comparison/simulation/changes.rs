//! Pairs of which the truth is known ([§15.4](crate::specification#s15-4)): a stage changes, or none does. What is named is
//! the stage that changed, whatever startups of ten minutes there are on both sides.

use super::normal;
use crate::comparison::sides::{Pod, node_labels, side};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Interval, Stage, TimestampMode};
use podinit_reports::comparison::{ComparisonConfig, compare};

/// Each stage that all pods have, and its median in seconds.
const STAGES: [(Stage, f64); 5] = [
    (Stage::Scheduling, 1.0),
    (Stage::Network, 3.0),
    (Stage::Init, 5.0),
    (Stage::Containers, 8.0),
    (Stage::Readiness, 2.0),
];
/// Stages that may come or go, and how long they take
const MORE: [(Stage, f64); 2] = [(Stage::Gated, 12.0), (Stage::Init, 12.0)];
/// How many pods a side has
const PODS: usize = 300;
/// A startup of ten minutes
const OUTLIER: f64 = 600.0;

/// What is different after.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    /// A stage takes 30 % longer
    Slower(Stage),
    /// It takes 3 s longer
    Later(Stage),
    Comes(Stage),
    Goes(Stage),
    /// Two stages take 3 s longer
    Two([Stage; 2]),
    /// A stage takes 6 s longer on the nodes of one pool
    Pool(Stage),
    /// Three more startups of ten minutes in a hundred, by chance in any stage
    Outliers,
    Nothing,
}

impl Change {
    /// One of each kind, of another stage for each number.
    fn all(number: usize) -> [Self; 8] {
        let stage = |add: usize| STAGES[(number + add) % STAGES.len()].0;
        let more = MORE[number % MORE.len()].0;
        [
            Self::Slower(stage(0)),
            Self::Later(stage(1)),
            Self::Comes(more),
            Self::Goes(more),
            Self::Two([stage(0), stage(2)]),
            Self::Pool(stage(3)),
            Self::Outliers,
            Self::Nothing,
        ]
    }

    /// The stages that it is about.
    fn stages(self) -> Vec<Stage> {
        match self {
            Self::Slower(stage)
            | Self::Later(stage)
            | Self::Comes(stage)
            | Self::Goes(stage)
            | Self::Pool(stage) => {
                vec![stage]
            }
            Self::Two(stages) => stages.to_vec(),
            Self::Outliers | Self::Nothing => Vec::new(),
        }
    }

    /// How many seconds a stage takes after, that takes so many by itself; `None` where it is not there.
    fn seconds(self, stage: Stage, pool: &str, usual: f64) -> f64 {
        match self {
            Self::Slower(own) if own == stage => 1.3 * usual,
            Self::Later(own) if own == stage => usual + 3.0,
            Self::Two(own) if own.contains(&stage) => usual + 3.0,
            Self::Pool(own) if own == stage && pool == "b" => usual + 6.0,
            _ => usual,
        }
    }
}

/// 300 pods within half an hour. Those of a minute have something in common. This share of them takes ten minutes more in
/// some stage.
fn pods(random: &mut fastrand::Rng, change: Change, is_after: bool, outliers: f64) -> Vec<Pod> {
    let (mut shared, mut minute) = (1.0, -1);
    let pod = |number: usize| {
        let second = (1_800 * number / PODS) as i64;
        if second / 60 != minute {
            (shared, minute) = ((0.1 * normal(random)).exp(), second / 60);
        }
        let node = random.usize(..8);
        let pool = ["a", "b"][node % 2];
        let mut seconds: Vec<(Stage, f64)> = STAGES.to_vec();
        match change {
            Change::Comes(stage) | Change::Goes(stage) => {
                seconds.retain(|(own, _)| *own != stage);
                let is_there = is_after == matches!(change, Change::Comes(_));
                seconds.extend(MORE.into_iter().filter(|(own, _)| *own == stage && is_there));
            }
            _ => {}
        }
        for (stage, seconds) in &mut seconds {
            *seconds *= shared * (0.3 * normal(random)).exp();
            if is_after {
                *seconds = change.seconds(*stage, pool, *seconds);
            }
        }
        if random.f64() < outliers {
            let slowest = random.usize(..seconds.len());
            seconds[slowest].1 += OUTLIER;
        }
        let whole = seconds.iter().map(|(_, seconds)| seconds).sum();
        let durations =
            seconds.into_iter().map(|(stage, seconds)| (Interval::Stage(stage), seconds));
        let durations = durations.chain([(Interval::CreatedToReady, whole)]);
        Pod {
            created: 1_770_000_000 + second,
            workload: Some((
                "shop".to_owned(),
                "Deployment".to_owned(),
                format!("web-{}", number % 7),
            )),
            node: format!("node-{node}"),
            labels: Some(node_labels(pool, "z1")),
            images: vec!["app".to_owned()],
            durations: durations
                .map(|(interval, seconds)| (interval, (seconds * 1e9) as u64))
                .collect(),
            ..Pod::default()
        }
    };
    (0..PODS).map(pod).collect()
}

/// How many pairs were called slower or faster, how many of these named the right stage, and how many a wrong one. How many
/// said that few pods are slower alone.
#[derive(Clone, Copy, Debug, Default)]
struct Named {
    called: usize,
    right: usize,
    wrong: usize,
    alone: usize,
}

/// The stages that the answer names.
fn named(text: &str) -> Vec<Stage> {
    let Some((_, rest)) = text.split_once(" It is the stage") else { return Vec::new() };
    let names = rest.trim_start_matches('s').split(':').next().unwrap();
    let names = names.split(['.', ',']).next().unwrap();
    names.split(" and ").map(|name| Stage::from_text(name.trim()).unwrap()).collect()
}

fn pair(seed: u64, change: Change, outliers: f64) -> Named {
    let mut random = fastrand::Rng::with_seed(seed);
    let more = if change == Change::Outliers { 0.03 } else { 0.0 };
    let before = pods(&mut random, change, false, outliers);
    let after = pods(&mut random, change, true, outliers + more);
    let config = ComparisonConfig { timestamps: TimestampMode::Fused, margin_percent: 5.0 };
    let found = compare(&side(&before), &side(&after), config);
    let (named, truth) = (named(&found.answer.text), change.stages());
    let is_called = found.answer.verdict.is_different();
    let is_wrong = named.iter().any(|stage| !truth.contains(stage));
    if is_wrong {
        println!("{seed} {change:?}: {}", found.answer.text);
    }
    Named {
        called: usize::from(is_called),
        right: usize::from(is_called && !named.is_empty() && !is_wrong),
        wrong: usize::from(is_wrong),
        alone: usize::from(found.answer.text.contains(", of all pods together")),
    }
}

/// Of so many pairs of each change, with these shares of startups of ten minutes on both sides.
fn check(pairs: u64, shares: &[f64]) {
    for outliers in shares.iter().copied() {
        let mut sums = [Named::default(); 8];
        for seed in 0..pairs {
            for (sum, change) in sums.iter_mut().zip(Change::all(seed as usize)) {
                let found = pair(seed, change, outliers);
                sum.called += found.called;
                sum.right += found.right;
                sum.wrong += found.wrong;
                sum.alone += found.alone;
            }
        }
        let [changes @ .., of_outliers, nothing] = sums;
        for (sum, change) in sums.iter().zip(Change::all(0)) {
            println!("{outliers}: {change:?} {sum:?} of {pairs}");
        }
        for sum in changes {
            assert!(sum.right * 10 >= sum.called * 9, "{sum:?}");
            assert!(sum.wrong * 100 <= sum.called * 3, "{sum:?}");
        }
        for sum in [of_outliers, nothing] {
            assert!((sum.wrong + sum.alone) * 20 <= pairs as usize, "{sum:?}");
        }
    }
}

#[test]
fn the_stage_that_changed_is_named() {
    check(1, &[0.02]);
}

/// `cargo test --test suite comparison::simulation::changes -- --ignored --nocapture`
#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn the_stage_that_changed_is_named_in_200_pairs_of_each_change() {
    check(200, &[0.0, 0.01, 0.02]);
}
