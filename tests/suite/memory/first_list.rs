//! What a cold start on a large cluster costs: the resident memory of `podinit serve` while it
//! takes in a first list of 100,000 pods of 8 KiB each over HTTP, however it asks for the list.
//!
//! The pods are made as they are sent, so that only the exporter, a process of its own, has to
//! hold anything. Its peak is what Linux says it was (`VmHWM`), buffers and allocator included. `large_cluster`
//! measures the same with ten times as many pods.

#![cfg(target_os = "linux")]

use crate::support::large_cluster::{Cluster, Exporter, Form, Pods, State};

const MIB: u64 = 1 << 20;

const PODS: usize = 100_000;

/// The pages of a release build's own code that are resident. Those of the unoptimized build that the test
/// runs are twice as many, and grow with the code, not with the pods.
const PROGRAM: u64 = 12 * MIB;

/// What pods that were ready before anyone watched may cost at most; most pods of a cluster are. Measured: 9 to
/// 10 MiB besides the program in every mode; the rest is room for allocators with more arenas.
const LIMIT: u64 = 32 * MIB - PROGRAM;

/// The same where every pod is in flight, as in a cluster that has just been restored. Measured: 60 MiB besides
/// the program.
const LIMIT_IN_FLIGHT: u64 = 84 * MIB - PROGRAM;

fn assert_ready_pods_fit(list: &str, form: Form) {
    let series = "podinit_pods_finished_total{outcome=\"preexisting\"}";
    let peak = peak_of_first_list(list, form, State::Ready, series);
    assert!(peak < LIMIT, "{list}, {form:?}: {:.1} MiB", peak as f64 / MIB as f64);
}

/// The peak resident memory besides the program in bytes, once `series` accounts for every pod.
fn peak_of_first_list(list: &str, form: Form, state: State, series: &str) -> u64 {
    let pods = Pods { count: PODS, bytes: 8192, state };
    let cluster = Cluster::start(pods, form);
    let mut exporter = Exporter::start(&cluster, &["--list", list]);
    cluster.until_listed();
    // The list has been sent for accounting, which takes a moment more.
    exporter.until(series, PODS);
    let peak = exporter.peak_of_data();
    println!(
        "--list {list}, {form:?}, {state:?}: {:.1} MiB at the peak besides the program",
        peak as f64 / MIB as f64
    );
    peak
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_first_list_of_100_000_ready_pods_stays_below_32_mib() {
        assert_ready_pods_fit("whole", Form::Json);
        assert_ready_pods_fit("whole", Form::Protobuf);
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_first_list_in_pages_stays_below_32_mib() {
        assert_ready_pods_fit("pages", Form::Json);
        assert_ready_pods_fit("pages", Form::Protobuf);
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_streamed_first_list_stays_below_32_mib() {
        assert_ready_pods_fit("stream", Form::Json);
        assert_ready_pods_fit("stream", Form::Protobuf);
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn a_first_list_of_100_000_pods_in_flight_stays_in_proportion() {
        let series = "podinit_inflight_pods{stage=\"containers\"}";
        let peak = peak_of_first_list("whole", Form::Json, State::InFlight, series);
        assert!(peak < LIMIT_IN_FLIGHT, "{:.1} MiB", peak as f64 / MIB as f64);
    }
}
