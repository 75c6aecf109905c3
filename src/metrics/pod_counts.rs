//! How many pods there are, by state: `discovered = Σ finished + in flight` at every scrape
//! ([§5.7](crate::specification#s5-7)).

use std::sync::{Mutex, PoisonError};

use super::sequence_lock::{Read, SequenceLock};
use super::sync::{AtomicU64, Ordering};
use crate::lifecycle::{Outcome, PodState, Stage};

const STAGES: usize = Stage::ALL.len();
const OUTCOMES: usize = Outcome::ALL.len();

/// Counts pods by state.
#[derive(Debug)]
pub(super) struct PodCounts {
    lock: SequenceLock,
    discovered: AtomicU64,
    in_flight: [AtomicU64; STAGES],
    finished: [AtomicU64; OUTCOMES],
    /// Taken by scrapes only.
    last: Mutex<PodCountsSnapshot>,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PodCountsSnapshot {
    pub(super) discovered: u64,
    pub(super) in_flight: [u64; STAGES],
    pub(super) finished: [u64; OUTCOMES],
}

impl PodCounts {
    pub(super) fn new() -> Self {
        Self {
            lock: SequenceLock::new(),
            discovered: AtomicU64::new(0),
            in_flight: std::array::from_fn(|_| AtomicU64::new(0)),
            finished: std::array::from_fn(|_| AtomicU64::new(0)),
            last: Mutex::default(),
        }
    }

    /// Moves one pod from `from` to `to`, as a whole.
    pub(super) fn move_pod(&self, from: PodState, to: PodState) {
        let _writing = self.lock.write();
        self.leave(from);
        self.enter(to);
    }

    /// Adds the pods of an earlier process.
    pub(super) fn restore(&self, in_flight: [u64; STAGES], finished: [u64; OUTCOMES]) {
        let _writing = self.lock.write();
        let cells = self.in_flight.iter().chain(&self.finished);
        for (cell, pods) in cells.zip(in_flight.into_iter().chain(finished)) {
            cell.fetch_add(pods, Ordering::Relaxed);
            self.discovered.fetch_add(pods, Ordering::Relaxed);
        }
    }

    /// Counts that add up. Where moves interrupt every attempt within the bound of
    /// [`SequenceLock::read`], they are those of the last scrape: a little old, but true of one moment.
    pub(super) fn snapshot(&self) -> PodCountsSnapshot {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Read::Consistent(counts) = self.lock.read(|| self.load()) {
            *last = counts;
        }
        *last
    }

    fn leave(&self, from: PodState) {
        match from {
            PodState::Undiscovered => self.discovered.fetch_add(1, Ordering::Relaxed),
            PodState::InFlight(stage) => {
                self.in_flight[stage as usize].fetch_sub(1, Ordering::Relaxed)
            }
            PodState::Finished(outcome) => {
                self.finished[outcome as usize].fetch_sub(1, Ordering::Relaxed)
            }
        };
    }

    fn enter(&self, to: PodState) {
        match to {
            PodState::Undiscovered => self.discovered.fetch_sub(1, Ordering::Relaxed),
            PodState::InFlight(stage) => {
                self.in_flight[stage as usize].fetch_add(1, Ordering::Relaxed)
            }
            PodState::Finished(outcome) => {
                self.finished[outcome as usize].fetch_add(1, Ordering::Relaxed)
            }
        };
    }

    fn load(&self) -> PodCountsSnapshot {
        let load = |atomic: &AtomicU64| atomic.load(Ordering::Relaxed);
        PodCountsSnapshot {
            discovered: load(&self.discovered),
            in_flight: std::array::from_fn(|stage| load(&self.in_flight[stage])),
            finished: std::array::from_fn(|outcome| load(&self.finished[outcome])),
        }
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_torn_read_gives_the_last_snapshot() {
        let counts = PodCounts::new();
        let scheduling = PodState::InFlight(Stage::Scheduling);
        counts.move_pod(PodState::Undiscovered, scheduling);
        let before = counts.snapshot();
        let writing = counts.lock.write();
        counts.leave(scheduling);
        assert_eq!(counts.snapshot(), before);
        counts.enter(PodState::Finished(Outcome::Ready));
        drop(writing);
        let after = counts.snapshot();
        assert_eq!((after.discovered, after.in_flight), (1, [0; STAGES]));
        assert_eq!(after.finished[Outcome::Ready as usize], 1);
    }

    #[test]
    fn every_snapshot_adds_up_while_pods_move() {
        let counts = PodCounts::new();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let network = PodState::InFlight(Stage::Network);
                    counts.move_pod(PodState::Undiscovered, network);
                    counts.move_pod(network, PodState::Finished(Outcome::Ready));
                }
            });
            while counts.snapshot().discovered == 0 {
                std::thread::yield_now();
            }
            let adds_up = (0..100_000).all(|_| {
                let snapshot = counts.snapshot();
                let finished: u64 = snapshot.finished.iter().sum();
                snapshot.discovered == finished + snapshot.in_flight.iter().sum::<u64>()
            });
            done.store(true, Ordering::Relaxed);
            assert!(adds_up);
        });
    }
}
