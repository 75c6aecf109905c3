//! Pods that fail together ([§15.7](crate::specification#s15-7)): a Job that tries again and again, and a release with many
//! bad pods. Two sides of one cluster do not differ by them, and an outage of some nodes is found beside them.

use super::starts::compared;
use crate::comparison::sides::{End, Pod};
use podinit_core::lifecycle::Interval;

/// What a cluster runs: so many workloads, each with so many pods on average.
#[derive(Clone, Copy)]
struct Fleet {
    workloads: usize,
    pods: f64,
}

/// Whole workloads are drawn of the one, pods of a minute of the other.
const FLEETS: [Fleet; 2] =
    [Fleet { workloads: 90, pods: 13.0 }, Fleet { workloads: 6, pods: 200.0 }];
/// How many pods fail together
const SIZES: [usize; 4] = [3, 7, 20, 30];
const MINUTES: i64 = 45;
/// One of them fails in an outage.
const NODES: usize = 10;

fn pod(random: &mut fastrand::Rng, (kind, name): (&str, usize), minute: i64) -> Pod {
    Pod {
        created: 1_770_000_000 + 60 * minute + random.i64(0..60),
        workload: Some(("shop".to_owned(), kind.to_owned(), format!("app-{name}"))),
        node: format!("node-{}", random.usize(..NODES)),
        durations: vec![(Interval::CreatedToReady, random.u64(5..15) * 1_000_000_000)],
        ..Pod::default()
    }
}

fn fail(pod: &mut Pod) {
    (pod.durations, pod.end) = (Vec::new(), End::Failed);
}

/// A side: on average 1.5 times so many pods fail together, in a Job of its own or in a burst of a workload.
fn cluster(random: &mut fastrand::Rng, fleet: Fleet, size: usize, has_outage: bool) -> Vec<Pod> {
    let mut pods = Vec::new();
    for name in 0..fleet.workloads {
        let count = 1.0 - (fleet.pods - 1.0) * (1.0 - random.f64()).ln();
        for _ in 0..count as usize {
            let minute = random.i64(0..MINUTES);
            pods.push(pod(random, ("Deployment", name), minute));
        }
    }
    if has_outage {
        pods.iter_mut().filter(|pod| pod.node == "node-0").for_each(fail);
    }
    let failures = (0..6).filter(|_| random.f64() < 0.25).count();
    for failure in 0..failures {
        let minute = random.i64(0..MINUTES);
        let (is_job, workload) = (random.bool(), random.usize(..fleet.workloads));
        for number in 0..size {
            let mut bad = match is_job {
                true => pod(random, ("Job", 1_000 + failure), minute + number as i64),
                false => pod(random, ("Deployment", workload), minute),
            };
            fail(&mut bad);
            pods.push(bad);
        }
    }
    pods
}

/// In how many of `pairs` more pods do not start.
fn worse(pairs: u64, fleet: Fleet, size: usize, has_outage: bool) -> usize {
    let found = (0..pairs).filter(|seed| {
        let mut random = fastrand::Rng::with_seed(*seed);
        let before = cluster(&mut random, fleet, size, false);
        let after = cluster(&mut random, fleet, size, has_outage);
        compared(&before, &after).is_worse_to_start()
    });
    found.count()
}

#[test]
fn what_fails_together_is_no_difference_and_an_outage_is_one() {
    for fleet in FLEETS {
        assert!(worse(8, fleet, 20, false) == 0);
        assert!(worse(8, fleet, 7, true) == 8);
    }
}

/// `cargo test --test suite comparison::simulation::clusters -- --ignored --nocapture`
#[test]
#[ignore = "takes long; .ci/run full runs it"]
fn of_400_equal_pairs_one_percent_is_worse_and_of_as_many_outages_99_percent_are() {
    const PAIRS: u64 = 400;
    for fleet in FLEETS {
        for size in SIZES {
            let [equal, outages] = [false, true].map(|is| worse(PAIRS, fleet, size, is));
            let workloads = fleet.workloads;
            println!(
                "{workloads} workloads, {size} fail together: {equal} and {outages} of {PAIRS}"
            );
            assert!(equal as u64 <= PAIRS / 100, "{equal}");
            assert!(outages as u64 >= PAIRS * 99 / 100, "{outages}");
        }
    }
}

/// One release with twenty bad pods may be chance, and says so first.
#[test]
fn one_workload_with_most_of_the_increase_is_named_first() {
    let mut random = fastrand::Rng::with_seed(1);
    let quiet = |random: &mut fastrand::Rng| {
        let mut pods = Vec::new();
        for name in 0..40 {
            pods.extend((0..10).map(|minute| pod(random, ("Deployment", name), minute)));
        }
        pods
    };
    let (before, mut after) = (quiet(&mut random), quiet(&mut random));
    for number in 0..20 {
        let mut bad = pod(&mut random, ("Deployment", 7), number % 3);
        fail(&mut bad);
        after.push(bad);
    }
    let found = compared(&before, &after);
    assert!(!found.is_worse_to_start());
    let first = "20 more pods do not start, all of shop/Deployment/app-7: 0 of 400 → 20 of 420 (";
    assert!(found.answer.text.starts_with(first), "{}", found.answer.text);
    assert!(found.answer.text.contains("That may be chance"), "{}", found.answer.text);
    // Ten more workloads have bad pods: that is none.
    for name in 10..20 {
        let mut bad = pod(&mut random, ("Deployment", name), 1);
        fail(&mut bad);
        after.push(bad);
    }
    let found = compared(&before, &after);
    assert!(found.is_worse_to_start());
    let first =
        "30 more pods do not start, 20 of them of shop/Deployment/app-7: 0 of 400 → 30 of 430 (";
    assert!(found.answer.text.starts_with(first), "{}", found.answer.text);
}
