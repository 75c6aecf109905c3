//! Model checks with loom: every interleaving, and every stale value that the memory model allows.
//!
//! ```text
//! RUSTFLAGS="--cfg podinit_loom" cargo test -p podinit-histogram --target-dir target/loom
//! ```
//!
//! With one writer beside the reader all executions are tried; with two of them all those with at
//! most [`PREEMPTIONS`] preemptions, since there are too many others.

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, Ordering as StdOrdering};

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use crate::cells::HistogramCells;
use crate::sequence_lock::SequenceLock;
use crate::sync::{AtomicU64, Ordering};

const PREEMPTIONS: usize = 3;

fn check(writers: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = (writers > 1).then_some(PREEMPTIONS);
    builder.check(model);
}

/// Writers move one unit each from one atomic to another; a reader that calls its snapshot
/// consistent must find the total unchanged. This is the accounting of pods (specification, 5.7).
fn moves_are_seen_whole(writers: usize) {
    let met = std::sync::Arc::new([const { AtomicBool::new(false) }; 2]);
    let (total, seen) = (writers as u64, met.clone());
    check(writers, move || {
        let state = Arc::new((SequenceLock::default(), AtomicU64::new(total), AtomicU64::new(0)));
        let moves: Vec<_> = (0..writers)
            .map(|_| {
                let state = state.clone();
                thread::spawn(move || {
                    let _writing = state.0.write();
                    state.1.fetch_sub(1, Ordering::Relaxed);
                    state.2.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        let load = |atomic: &AtomicU64| atomic.load(Ordering::Relaxed);
        let read = state.0.try_read(|| (load(&state.1), load(&state.2)));
        seen[usize::from(read.is_some())].store(true, StdOrdering::Relaxed);
        if let Some((from, to)) = read {
            assert_eq!(from + to, total, "a snapshot called consistent was torn");
        }
        for moved in moves {
            moved.join().unwrap();
        }
        let read = state.0.try_read(|| (load(&state.1), load(&state.2)));
        assert_eq!(read, Some((0, total)), "all writes have ended");
    });
    // Otherwise the model says nothing.
    assert!(met.iter().all(|met| met.load(StdOrdering::Relaxed)));
}

#[test]
fn every_move_of_one_writer_is_seen_whole() {
    moves_are_seen_whole(1);
}

#[test]
fn every_move_of_two_writers_is_seen_whole() {
    moves_are_seen_whole(2);
}

/// Observers beside a scrape: count and sum of a consistent snapshot belong together, and both are
/// complete once the observers are done.
fn sums_belong_to_counts(observers: u64) {
    check(observers as usize, move || {
        let cells = Arc::new(HistogramCells::new(2));
        // Allocates the cells: `OnceLock` is the standard library's, which loom does not see into.
        cells.record(0, 3);
        let threads: Vec<_> = (0..observers)
            .map(|_| {
                let cells = cells.clone();
                thread::spawn(move || cells.record(1, 3))
            })
            .collect();
        if let Some((counts, sum)) = cells.try_read() {
            assert_eq!(u128::from(counts.iter().map(|(_, count)| count).sum::<u64>()) * 3, sum);
        }
        for thread in threads {
            thread.join().unwrap();
        }
        let sum = u128::from(observers + 1) * 3;
        assert_eq!(cells.try_read(), Some((vec![(0, 1), (1, observers)], sum)));
    });
}

#[test]
fn a_scrape_beside_one_observer_has_the_sum_of_what_it_counts() {
    sums_belong_to_counts(1);
}

#[test]
fn a_scrape_beside_two_observers_has_the_sum_of_what_it_counts() {
    sums_belong_to_counts(2);
}
