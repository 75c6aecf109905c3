//! The accounting of pods (§5 rule 7): `discovered = Σ finished + in flight`, at every scrape.

use std::sync::{Mutex, PoisonError};

use super::epoch::{Epoch, Read};
use super::sync::{AtomicU64, Ordering};
use crate::lifecycle::{Outcome, PodState, Stage};

const STAGES: usize = Stage::ALL.len();
const OUTCOMES: usize = Outcome::ALL.len();

/// How many pods stand where.
#[derive(Debug)]
pub(super) struct Books {
    epoch: Epoch,
    discovered: AtomicU64,
    in_flight: [AtomicU64; STAGES],
    finished: [AtomicU64; OUTCOMES],
    /// Taken by scrapes only.
    last: Mutex<Balance>,
}

/// The books at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    pub(super) discovered: u64,
    pub(super) in_flight: [u64; STAGES],
    pub(super) finished: [u64; OUTCOMES],
}

impl Books {
    pub(super) fn new() -> Self {
        Self {
            epoch: Epoch::new(),
            discovered: AtomicU64::new(0),
            in_flight: std::array::from_fn(|_| AtomicU64::new(0)),
            finished: std::array::from_fn(|_| AtomicU64::new(0)),
            last: Mutex::default(),
        }
    }

    /// Books one pod from `from` to `to`, as a whole.
    pub(super) fn move_pod(&self, from: PodState, to: PodState) {
        let _writing = self.epoch.write();
        self.leave(from);
        self.enter(to);
    }

    /// Goes on with so many pods in each place; before, there were none.
    pub(super) fn restore(&self, in_flight: [u64; STAGES], finished: [u64; OUTCOMES]) {
        let _writing = self.epoch.write();
        let places = self.in_flight.iter().chain(&self.finished);
        for (place, pods) in places.zip(in_flight.into_iter().chain(finished)) {
            place.fetch_add(pods, Ordering::Relaxed);
            self.discovered.fetch_add(pods, Ordering::Relaxed);
        }
    }

    /// How many pods have finished, by outcome.
    pub(super) fn finished(&self) -> [u64; OUTCOMES] {
        self.balance().finished
    }

    /// A balance that adds up. Where moves interrupt every attempt within the bound of
    /// [`Epoch::read`], it is the one of the last scrape: a little old, but true of one moment.
    pub(super) fn balance(&self) -> Balance {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Read::Consistent(balance) = self.epoch.read(|| self.load()) {
            *last = balance;
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

    fn load(&self) -> Balance {
        let load = |atomic: &AtomicU64| atomic.load(Ordering::Relaxed);
        Balance {
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
    fn a_torn_read_gives_the_last_balance() {
        let books = Books::new();
        let scheduling = PodState::InFlight(Stage::Scheduling);
        books.move_pod(PodState::Undiscovered, scheduling);
        let before = books.balance();
        let writing = books.epoch.write();
        books.leave(scheduling);
        assert_eq!(books.balance(), before);
        books.enter(PodState::Finished(Outcome::Ready));
        drop(writing);
        let after = books.balance();
        assert_eq!((after.discovered, after.in_flight), (1, [0; STAGES]));
        assert_eq!(after.finished[Outcome::Ready as usize], 1);
    }

    #[test]
    fn every_balance_adds_up_while_pods_move() {
        let books = Books::new();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let network = PodState::InFlight(Stage::Network);
                    books.move_pod(PodState::Undiscovered, network);
                    books.move_pod(network, PodState::Finished(Outcome::Ready));
                }
            });
            while books.balance().discovered == 0 {
                std::thread::yield_now();
            }
            let adds_up = (0..100_000).all(|_| {
                let balance = books.balance();
                let finished: u64 = balance.finished.iter().sum();
                balance.discovered == finished + balance.in_flight.iter().sum::<u64>()
            });
            done.store(true, Ordering::Relaxed);
            assert!(adds_up);
        });
    }
}
