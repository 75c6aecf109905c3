//! How many pods there are, by state: `discovered = Σ finished + in flight` at every scrape
//! ([§5.7](crate::specification#s5-7)), and the pods of a stage are those of its causes
//! ([§10.1](crate::specification#s10-1)).

use std::sync::{Mutex, PoisonError};

use super::sequence_lock::{Read, SequenceLock};
use super::sync::{AtomicU64, Ordering};
use crate::lifecycle::{Outcome, PodState, Stage, Waiting};

const STAGES: usize = Stage::ALL.len();
const OUTCOMES: usize = Outcome::ALL.len();

/// Counts pods by state.
#[derive(Debug)]
pub(super) struct PodCounts {
    lock: SequenceLock,
    discovered: AtomicU64,
    waiting: [AtomicU64; Waiting::COUNT],
    finished: [AtomicU64; OUTCOMES],
    /// Taken by scrapes only.
    last: Mutex<PodCountsSnapshot>,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PodCountsSnapshot {
    pub(super) discovered: u64,
    /// Those in flight, by stage and cause
    pub(super) waiting: [u64; Waiting::COUNT],
    pub(super) finished: [u64; OUTCOMES],
}

impl Default for PodCountsSnapshot {
    /// Of no pods.
    fn default() -> Self {
        Self {
            discovered: 0,
            waiting: [0; Waiting::COUNT],
            finished: [0; OUTCOMES],
        }
    }
}

impl PodCountsSnapshot {
    /// Those in flight, by stage.
    pub(super) fn in_flight(&self) -> [u64; STAGES] {
        let mut stages = [0; STAGES];
        for (waiting, pods) in Waiting::ALL.into_iter().zip(self.waiting) {
            stages[waiting.stage() as usize] += pods;
        }
        stages
    }
}

impl PodCounts {
    pub(super) fn new() -> Self {
        Self {
            lock: SequenceLock::new(),
            discovered: AtomicU64::new(0),
            waiting: std::array::from_fn(|_| AtomicU64::new(0)),
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
    pub(super) fn restore(&self, waiting: [u64; Waiting::COUNT], finished: [u64; OUTCOMES]) {
        let _writing = self.lock.write();
        let cells = self.waiting.iter().chain(&self.finished);
        for (cell, pods) in cells.zip(waiting.into_iter().chain(finished)) {
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
            PodState::InFlight(waiting) => {
                self.waiting[waiting.index()].fetch_sub(1, Ordering::Relaxed)
            }
            PodState::Finished(outcome) => {
                self.finished[outcome as usize].fetch_sub(1, Ordering::Relaxed)
            }
        };
    }

    fn enter(&self, to: PodState) {
        match to {
            PodState::Undiscovered => self.discovered.fetch_sub(1, Ordering::Relaxed),
            PodState::InFlight(waiting) => {
                self.waiting[waiting.index()].fetch_add(1, Ordering::Relaxed)
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
            waiting: std::array::from_fn(|index| load(&self.waiting[index])),
            finished: std::array::from_fn(|outcome| load(&self.finished[outcome])),
        }
    }
}

#[cfg(all(test, not(podinit_loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::lifecycle::Cause;

    #[test]
    fn a_torn_read_gives_the_last_snapshot() {
        let counts = PodCounts::new();
        let queued = Waiting::new(Stage::Scheduling, Cause::Queue).unwrap();
        let scheduling = PodState::InFlight(queued);
        counts.move_pod(PodState::Undiscovered, scheduling);
        let before = counts.snapshot();
        let writing = counts.lock.write();
        counts.leave(scheduling);
        assert_eq!(counts.snapshot(), before);
        counts.enter(PodState::Finished(Outcome::Ready));
        drop(writing);
        let after = counts.snapshot();
        assert_eq!((after.discovered, after.in_flight()), (1, [0; STAGES]));
        assert_eq!(after.finished[Outcome::Ready as usize], 1);
    }

    #[test]
    fn every_snapshot_adds_up_while_pods_move() {
        let counts = PodCounts::new();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let unknown = Waiting::new(Stage::Network, Cause::Unknown).unwrap();
                    let network = PodState::InFlight(unknown);
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
                snapshot.discovered == finished + snapshot.in_flight().iter().sum::<u64>()
            });
            done.store(true, Ordering::Relaxed);
            assert!(adds_up);
        });
    }
}
