//! What remembering pods costs, counted allocation by allocation: the limits that a large cluster
//! relies on. `cargo bench --bench memory` prints the figures.

use super::failing::{self, Have};
use super::measure::{self, Burden};

/// One pod more than fits: the index has just doubled, and a chunk of records has just been begun.
/// No larger number of pods has a larger share.
const JUST_GROWN: usize = 14 * 1024 + 1;

/// What is kept besides of the newest 1,000 pods that became ready, however many there are.
const READY_LATELY: f64 = 240.0 * 1024.0;

#[test]
fn a_finished_pod_takes_at_most_72_bytes() {
    let bytes = measure::per_finished_pod(JUST_GROWN, 0) - READY_LATELY / JUST_GROWN as f64;
    assert!(bytes <= 72.0, "{bytes}");
}

#[test]
fn a_deleted_pod_takes_little_more_than_a_finished_one() {
    let bytes = measure::per_deleted_pod(JUST_GROWN);
    assert!(bytes <= 128.0, "{bytes}");
}

#[test]
fn eight_gates_of_each_kind_of_its_own_take_a_pod_at_most_1_kb() {
    let bytes = measure::per_pod_of_own_gates(JUST_GROWN, 8, 32);
    println!("{bytes:.0} bytes");
    assert!(bytes <= 1_000.0, "{bytes}");
}

#[test]
fn a_label_set_takes_what_its_thirteen_histograms_take() {
    let bytes = measure::per_label_set(1000, 10);
    assert!(bytes <= 70.0 * 1024.0, "{bytes}");
}

#[test]
fn a_node_takes_at_most_2_kib() {
    let bytes = measure::per_node(5 * 1024);
    println!("{bytes:.0} bytes");
    assert!(bytes <= 2048.0, "{bytes}");
}

#[test]
fn traces_that_no_collector_takes_take_at_most_8_mib() {
    let pods = 2 * podinit_traces::MOST_QUEUED;
    let (bytes, waiting) = measure::of_waiting_traces(pods);
    println!("{waiting} waiting traces: {bytes} bytes");
    assert_eq!(waiting, podinit_traces::MOST_QUEUED);
    assert!(bytes <= 8 << 20, "{bytes}");
}

#[test]
fn the_problems_of_a_failing_pod_take_little_beside_the_pod() {
    for (have, found, most) in [(Have::Common, 112.0, 340.0), (Have::Own, 160.0, 600.0)] {
        let bytes = failing::per_failing_pod(JUST_GROWN, have);
        println!("{have:?}: {bytes:.0?}");
        assert!(bytes.found <= found && bytes.most <= most, "{have:?}: {bytes:.0?}");
        // What is kept of usual ones all the time, and what is kept of their texts where each has its own.
        let all = bytes.remembered + bytes.found;
        assert!(
            all <= if have == Have::Common { 1_060.0 } else { 1_860.0 },
            "{have:?}: {bytes:.0?}"
        );
    }
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn deadlines_of_pods_that_have_finished_take_next_to_nothing() {
        let without = measure::per_finished_pod(JUST_GROWN, 0);
        let with = measure::per_finished_pod(JUST_GROWN, 5);
        assert!(with - without <= 2.0, "{without} {with}");
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_pod_in_flight_takes_about_1_kib() {
        for (slos, all_labels, events) in
            [(0, false, false), (1, false, true), (5, true, false), (5, true, true)]
        {
            let burden = Burden { slos, all_labels, events };
            let bytes = measure::per_pod_in_flight(JUST_GROWN, burden);
            println!("{slos} SLOs, all labels: {all_labels}, Events: {events}: {bytes:.0} bytes");
            // 1 KiB, and 16 bytes for what autoscalers and nodes say.
            assert!(bytes <= 1040.0, "{slos} SLOs, Events: {events}: {bytes}");
        }
    }
}
