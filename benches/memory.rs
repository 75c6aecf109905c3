//! The memory of a remembered pod, of a node and of a label set. Counts allocations, so it is exact on any machine;
//! fails if a limit is exceeded.
//!
//! ```text
//! cargo bench --bench memory
//! ```
//!
//! The figures include the overhead of glibc's malloc for each allocation.

#![deny(unsafe_code)]
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used)]

#[allow(unsafe_code)]
#[path = "../tests/suite/memory/counting.rs"]
mod counting;
#[path = "../tests/suite/memory/measure.rs"]
mod measure;
#[path = "../tests/suite/memory/node_object.rs"]
mod node_object;

use std::process::ExitCode;

use measure::Burden;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// The number of pods that fills a hash table; with one more it has just grown.
const FULL: usize = 224 * 1024;

fn per_waiting_trace() -> f64 {
    let (bytes, waiting) = measure::of_waiting_traces(2 * podinit_traces::MOST_QUEUED);
    bytes as f64 / waiting as f64
}

fn main() -> ExitCode {
    let in_flight = |slos, all_labels, events| {
        measure::per_pod_in_flight(FULL + 1, Burden { slos, all_labels, events })
    };
    let rows = [
        ("finished pod, table full", measure::per_finished_pod(FULL, 0), Some(64.0)),
        ("finished pod, table just grown", measure::per_finished_pod(FULL + 1, 0), Some(64.0)),
        ("deleted pod, table just grown", measure::per_deleted_pod(FULL + 1), None),
        ("pod in flight, no SLO", in_flight(0, false, false), Some(1024.0)),
        ("pod in flight, 1 SLO", in_flight(1, false, false), Some(1024.0)),
        ("pod in flight, 1 SLO, Events", in_flight(1, false, true), Some(1024.0)),
        ("pod in flight, 5 SLOs, all labels", in_flight(5, true, false), Some(1024.0)),
        ("pod in flight, 5 SLOs, all labels, Events", in_flight(5, true, true), Some(1024.0)),
        (
            "8 + 8 gates of a pod, names of 32 bytes",
            measure::per_pod_of_own_gates(FULL / 16, 8, 32),
            Some(1000.0),
        ),
        ("node, starting, with every label", measure::per_node(5 * 1024), Some(2048.0)),
        ("waiting trace, with Events and every label", per_waiting_trace(), Some(4096.0)),
        ("label set, nothing observed yet", measure::per_label_set(1000, 0), None),
        ("label set, 9 histograms in use", measure::per_label_set(1000, 10), None),
    ];
    let mut broken = false;
    for (what, bytes, limit) in rows {
        let verdict = match limit {
            None => String::new(),
            Some(limit) if bytes <= limit => format!("of at most {limit}"),
            Some(limit) => {
                broken = true;
                format!("EXCEEDED: at most {limit}")
            }
        };
        println!("{what:42} {bytes:10.1} bytes  {verdict}");
    }
    ExitCode::from(u8::from(broken))
}
