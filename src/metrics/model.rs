//! Model checks with loom: every interleaving, and every stale value that the memory model allows.
//!
//! ```text
//! RUSTFLAGS="--cfg podinit_loom" cargo test --release --lib --target-dir target/loom metrics::model
//! ```

#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicBool, Ordering as StdOrdering};

use loom::sync::Arc;
use loom::thread;

use super::cells::Cells;
use super::epoch::Epoch;
use super::sync::{AtomicU64, Ordering};

/// Two writers move one unit each from one atomic to another; a reader that calls its snapshot
/// consistent must find the total unchanged. This is the accounting of pods (§5 rule 7).
#[test]
fn a_consistent_read_shows_every_move_whole() {
    static CONSISTENT: AtomicBool = AtomicBool::new(false);
    static TORN: AtomicBool = AtomicBool::new(false);
    loom::model(|| {
        let state = Arc::new((Epoch::new(), AtomicU64::new(2), AtomicU64::new(0)));
        let writers: Vec<_> = (0..2)
            .map(|_| {
                let state = state.clone();
                thread::spawn(move || {
                    let _writing = state.0.write();
                    state.1.fetch_sub(1, Ordering::Relaxed);
                    state.2.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        let read = state.0.try_read(|| {
            (
                state.1.load(Ordering::Relaxed),
                state.2.load(Ordering::Relaxed),
            )
        });
        match read {
            Some((from, to)) => {
                assert_eq!(from + to, 2, "a snapshot called consistent was torn");
                CONSISTENT.store(true, StdOrdering::Relaxed);
            }
            None => TORN.store(true, StdOrdering::Relaxed),
        }
        for writer in writers {
            writer.join().unwrap();
        }
        assert!(state.0.try_read(|| ()).is_some(), "all writes have ended");
    });
    assert!(CONSISTENT.load(StdOrdering::Relaxed) && TORN.load(StdOrdering::Relaxed));
}

/// Two observers and a scrape: count and sum of a consistent snapshot belong together, and both
/// are complete once the observers are done.
#[test]
fn a_histogram_snapshot_has_the_sum_of_what_it_counts() {
    loom::model(|| {
        let cells = Arc::new(Cells::new(2));
        cells.record(0, 3);
        let observers: Vec<_> = (0..2)
            .map(|cell| {
                let cells = cells.clone();
                thread::spawn(move || cells.record(cell, 3))
            })
            .collect();
        if let Some((counts, sum)) = cells.try_read() {
            assert_eq!(u128::from(counts.iter().sum::<u64>()) * 3, sum);
        }
        for observer in observers {
            observer.join().unwrap();
        }
        assert_eq!(cells.try_read(), Some((vec![2, 1], 9)));
    });
}
