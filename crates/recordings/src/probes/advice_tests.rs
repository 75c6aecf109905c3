//! Each example is computed by hand, with the rules of docs/recordings.md.

#![allow(clippy::unwrap_used)]

use super::advice::{Advice, ProbeDurations, advise};
use podinit_core::lifecycle::Latency;
use podinit_core::pod::{ContainerProbe, ContainerProbes};
use podinit_core::quantile::ExactDistribution;

/// `initialDelaySeconds`, `periodSeconds`, `failureThreshold`
fn probe(initial_delay: u32, period: u32, failure_threshold: u32) -> Option<ContainerProbe> {
    Some(ContainerProbe { initial_delay, period, failure_threshold, ..ContainerProbe::default() })
}

fn advice(
    [startup, readiness, liveness]: [Option<ContainerProbe>; 3],
    [p50, p99]: [f64; 2],
) -> Option<Advice> {
    let probes = ContainerProbes { container: "app".into(), startup, readiness, liveness };
    let pods = 5;
    advise(&probes, ProbeDurations { pods, p50, p99 })
}

/// What is wrong, and what to set, as text.
fn summary(probes: [Option<ContainerProbe>; 3], taken: [f64; 2]) -> (String, String) {
    let Some(advice) = advice(probes, taken) else {
        return Default::default();
    };
    let findings: Vec<_> = advice.findings.iter().map(|(finding, _)| *finding).collect();
    let pairs = advice.set.iter();
    let set: Vec<_> = pairs.map(|(field, value)| format!("{field}={value}")).collect();
    (findings.join(" "), set.join(" "))
}

fn is(findings: &str, set: &str) -> (String, String) {
    (findings.to_owned(), set.to_owned())
}

#[test]
fn a_delay_that_decides_goes_and_a_startup_probe_looks_often() {
    // 35 ≤ 30 + 10 + 1; half a period of 5 is more than a tenth of 35. A twentieth of 35 is 1.75, so the
    // period is 2; twice 40 are 40 periods of 2.
    let slow = [None, probe(30, 10, 3), None];
    let set = "readinessProbe.initialDelaySeconds=0 startupProbe.failureThreshold=40 \
               startupProbe.periodSeconds=2";
    assert_eq!(summary(slow, [35.0, 40.0]), is("initial_delay period", set));
    // At every second, it needs no startup probe.
    let eager = [None, probe(30, 1, 3), None];
    let set = "readinessProbe.initialDelaySeconds=0";
    assert_eq!(summary(eager, [31.0, 33.0]), is("initial_delay", set));
}

#[test]
fn a_delay_that_the_application_needs_anyway_may_stay() {
    // The limit is 5 + 10 + 1.
    let probes = [None, probe(5, 10, 3), None];
    assert_eq!(summary(probes, [16.0, 20.0]).0, "initial_delay period");
    assert_eq!(summary(probes, [16.1, 20.0]).0, "period");
    // The period no longer matters where half of it is a tenth of the median.
    assert_eq!(summary(probes, [49.9, 60.0]).0, "period");
    assert_eq!(summary(probes, [50.0, 60.0]), is("", ""));
}

#[test]
fn what_the_first_run_finds_ready_needs_no_shorter_period() {
    let probes = [None, probe(0, 10, 3), None];
    assert_eq!(summary(probes, [1.0, 2.0]), is("", ""));
    assert_eq!(summary(probes, [1.1, 2.0]).0, "period");
    assert_eq!(summary([None, None, None], [60.0, 90.0]), is("", ""));
}

#[test]
fn a_startup_probe_gets_twice_the_p99_and_keeps_a_larger_budget() {
    // 30 periods of 10 are 300, less than 400; 400 are 40 periods.
    let tight = [probe(0, 10, 30), None, None];
    let set = "startupProbe.failureThreshold=40";
    assert_eq!(summary(tight, [100.0, 200.0]), is("startup_budget", set));
    assert_eq!(summary(tight, [100.0, 150.0]), is("", ""));
    // Half a period of 5 is more than a tenth of 20; 300 are 300 periods of 1.
    let set = "startupProbe.failureThreshold=300 startupProbe.periodSeconds=1";
    assert_eq!(summary(tight, [20.0, 30.0]), is("period", set));
}

#[test]
fn the_longest_delay_counts_and_the_delay_is_part_of_the_budget() {
    // 23 ≤ 20 + 5 + 1. The budget is 20 + 10 × 5 = 70, which are 35 periods of 2.
    let both = [probe(20, 5, 10), probe(10, 5, 3), None];
    let set = "readinessProbe.initialDelaySeconds=0 startupProbe.failureThreshold=35 \
               startupProbe.initialDelaySeconds=0 startupProbe.periodSeconds=2";
    assert_eq!(summary(both, [23.0, 26.0]), is("initial_delay period", set));
}

#[test]
fn a_liveness_probe_that_restarts_slow_pods_is_held_back_by_a_startup_probe() {
    // 10 + 3 × 10 = 40, less than 90, which are 45 periods of 2.
    let probes = [None, probe(0, 2, 3), probe(10, 10, 3)];
    let set = "startupProbe.failureThreshold=45 startupProbe.periodSeconds=2";
    assert_eq!(summary(probes, [30.0, 45.0]), is("liveness", set));
    assert_eq!(summary(probes, [12.0, 20.0]), is("", ""));
    let alone = [None, None, probe(10, 10, 3)];
    assert_eq!(summary(alone, [0.0, 21.0]).0, "liveness");
}

#[test]
fn repeated_successes_count_by_the_period_of_the_readiness_probe() {
    let thrice = probe(0, 5, 3).map(|probe| ContainerProbe { success_threshold: 3, ..probe });
    // Two more periods of 5 are more than a tenth of 12; a twentieth of 12 is 0.6, and twice 15 are less
    // than 60.
    let set = "readinessProbe.successThreshold=1 startupProbe.failureThreshold=60 \
               startupProbe.periodSeconds=1";
    let expected = is("period success_threshold", set);
    assert_eq!(summary([None, thrice, None], [12.0, 15.0]), expected);
    assert_eq!(summary([None, thrice, None], [100.0, 150.0]), is("", ""));
}

#[test]
fn no_container_gets_less_than_a_minute_or_than_it_has() {
    // Twice 2 are 4, which would be four periods of 1.
    let set = |liveness| summary([None, probe(0, 10, 3), liveness], [2.0, 2.0]).1;
    let a_minute = "startupProbe.failureThreshold=60 startupProbe.periodSeconds=1";
    assert_eq!(set(None), a_minute);
    assert_eq!(set(probe(0, 10, 3)), a_minute);
    // 30 + 30 × 10 are 330.
    assert_eq!(
        set(probe(30, 10, 30)),
        "startupProbe.failureThreshold=330 startupProbe.periodSeconds=1"
    );
}

#[test]
fn four_startups_are_too_few_and_their_number_is_said() {
    let startups = |count| -> ExactDistribution {
        vec![Latency::from_nanos(35_000_000_000); count].into_iter().collect()
    };
    assert_eq!(ProbeDurations::from_distribution(&startups(4)), None);
    let taken = ProbeDurations::from_distribution(&startups(5)).unwrap();
    assert_eq!((taken.pods, taken.p50, taken.p99), (5, 35.0, 35.0));
    let all = [
        [None, probe(30, 10, 3), None],
        [probe(0, 10, 3), probe(0, 10, 3), None],
        [None, None, probe(0, 10, 3)],
    ];
    for [startup, readiness, liveness] in all {
        let readiness = readiness.map(|probe| ContainerProbe { success_threshold: 3, ..probe });
        let found = advice([startup, readiness, liveness], [35.0, 35.0]).unwrap();
        for (finding, sentence) in found.findings {
            assert!(sentence.contains("5 startups"), "{finding}: {sentence}");
        }
    }
}

#[test]
fn values_without_bounds_do_no_harm() {
    let endless = Some(ContainerProbe {
        initial_delay: u32::MAX,
        period: u32::MAX,
        success_threshold: u32::MAX,
        failure_threshold: u32::MAX,
    });
    for taken in [[0.0, 0.0], [2_592_000.0, 2_592_000.0]] {
        assert!(advice([endless, endless, endless], taken).is_some());
    }
}
