//! How many pods there are, by state: `discovered = Σ finished + in flight` at every scrape
//! ([§5.7](crate::specification#s5-7)), the pods of a stage are those of its causes
//! ([§10.1](crate::specification#s10-1)), and those of `unschedulable` are those of its states of capacity
//! ([§10.4](crate::specification#s10-4)).

use std::sync::OnceLock;

use parking_lot::Mutex;

use super::namespaces::NamespaceSlot;

use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{Outcome, PodState, Stage, WaitReason};
use podinit_histogram::sequence_lock::{SequenceLock, SequenceRead};
use podinit_histogram::sync::{AtomicU64, Ordering};

const STAGES: usize = Stage::ALL.len();
const OUTCOMES: usize = Outcome::ALL.len();
const CAPACITY_STATES: usize = CapacityState::ALL.len();

/// The pods in flight of one namespace, by stage and cause.
type InFlightCells = [AtomicU64; WaitReason::COUNT];

/// [`InFlightCells`] by place of the namespace. A place has them from its first pod on.
#[derive(Debug)]
struct CellsByPlace(Box<[OnceLock<Box<InFlightCells>>]>);

impl CellsByPlace {
    fn new(places: usize) -> Self {
        Self((0..places).map(|_| OnceLock::new()).collect())
    }

    /// Moves so many pods, by stage and cause, from one place to another.
    fn transfer(&self, from: NamespaceSlot, to: NamespaceSlot, pods: &[(WaitReason, u64)]) {
        for (waiting, pods) in pods {
            self.at(from)[waiting.index()].fetch_sub(*pods, Ordering::Relaxed);
            self.at(to)[waiting.index()].fetch_add(*pods, Ordering::Relaxed);
        }
    }

    fn at(&self, place: NamespaceSlot) -> &InFlightCells {
        let zeros = || Box::new(std::array::from_fn(|_| AtomicU64::new(0)));
        self.0[place].get_or_init(zeros)
    }

    /// The counts at `place`; `None` where there never was a pod.
    fn load(&self, place: NamespaceSlot) -> Option<[u64; WaitReason::COUNT]> {
        let cells = self.0.get(place)?.get()?;
        Some(cells.each_ref().map(|cell| cell.load(Ordering::Relaxed)))
    }
}

/// Counts pods by state.
#[derive(Debug)]
pub(super) struct PodCounts {
    lock: SequenceLock,
    discovered: AtomicU64,
    /// Those in flight
    waiting: CellsByPlace,
    /// Those in the stage `unschedulable`, by state of capacity
    unschedulable: [AtomicU64; CAPACITY_STATES],
    finished: [AtomicU64; OUTCOMES],
    /// Taken by scrapes only.
    last: Mutex<PodCountsSnapshot>,
}

/// The counts at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodCountsSnapshot {
    pub(super) discovered: u64,
    /// Those in flight, by place of their namespace, and by stage and cause; none for a place in which
    /// there never was a pod
    pub(super) waiting: Vec<Option<[u64; WaitReason::COUNT]>>,
    /// Those in the stage `unschedulable`, by state of capacity
    pub(super) unschedulable: [u64; CAPACITY_STATES],
    pub(super) finished: [u64; OUTCOMES],
}

impl PodCountsSnapshot {
    /// Those in flight at `place`, by stage and cause.
    pub(super) fn waiting_at(&self, place: NamespaceSlot) -> [u64; WaitReason::COUNT] {
        let cells = self.waiting.get(place).copied().flatten();
        cells.unwrap_or([0; WaitReason::COUNT])
    }

    /// Those in flight, by stage.
    pub(super) fn in_flight(&self) -> [u64; STAGES] {
        let mut stages = [0; STAGES];
        for cells in self.waiting.iter().flatten() {
            for (waiting, pods) in WaitReason::ALL.into_iter().zip(cells) {
                stages[waiting.stage() as usize] += pods;
            }
        }
        stages
    }
}

/// The counts of stuck pods by place of their namespace, and by stage and cause. They add up to nothing
/// else, so each is read by itself.
#[derive(Debug)]
pub(super) struct StuckCounts(CellsByPlace);

impl StuckCounts {
    /// No stuck pods yet, in at most so many namespaces.
    pub(super) fn new(places: usize) -> Self {
        Self(CellsByPlace::new(places))
    }

    /// Moves a pod of the namespace at `place` from one stage and cause to another; `None` where it is
    /// not stuck.
    pub(super) fn move_pod(
        &self,
        place: NamespaceSlot,
        from: Option<WaitReason>,
        to: Option<WaitReason>,
    ) {
        let cells = self.0.at(place);
        if let Some(from) = from {
            cells[from.index()].fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(to) = to {
            cells[to.index()].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Moves so many stuck pods, by stage and cause, from one place to another: their namespace has got it.
    pub(super) fn transfer(
        &self,
        from: NamespaceSlot,
        to: NamespaceSlot,
        pods: &[(WaitReason, u64)],
    ) {
        self.0.transfer(from, to, pods);
    }

    /// The stuck pods of the namespace at `place`, of each stage and cause.
    pub(super) fn snapshot_at(&self, place: NamespaceSlot) -> [u64; WaitReason::COUNT] {
        self.0.load(place).unwrap_or([0; WaitReason::COUNT])
    }
}

impl PodCounts {
    /// No pods yet, in at most so many namespaces.
    pub(super) fn new(places: usize) -> Self {
        Self {
            lock: SequenceLock::default(),
            discovered: AtomicU64::new(0),
            waiting: CellsByPlace::new(places),
            unschedulable: std::array::from_fn(|_| AtomicU64::new(0)),
            finished: std::array::from_fn(|_| AtomicU64::new(0)),
            last: Mutex::default(),
        }
    }

    /// Moves one pod of the namespace at `place` from `from` to `to`, as a whole.
    pub(super) fn move_pod(&self, place: NamespaceSlot, from: PodState, to: PodState) {
        let _writing = self.lock.write();
        self.leave(place, from);
        self.enter(place, to);
    }

    /// Moves so many pods in flight, by stage and cause, from one place to another, as a whole: their namespace has
    /// got it.
    pub(super) fn transfer(
        &self,
        from: NamespaceSlot,
        to: NamespaceSlot,
        pods: &[(WaitReason, u64)],
    ) {
        let _writing = self.lock.write();
        self.waiting.transfer(from, to, pods);
    }

    /// Adds the pods of an earlier process.
    pub(super) fn restore(
        &self,
        in_flight: impl IntoIterator<Item = (NamespaceSlot, WaitReason, CapacityState)>,
        finished: [u64; OUTCOMES],
    ) {
        let _writing = self.lock.write();
        for (place, waiting, capacity) in in_flight {
            self.enter(place, PodState::InFlight(waiting, capacity));
            self.discovered.fetch_add(1, Ordering::Relaxed);
        }
        for (cell, pods) in self.finished.iter().zip(finished) {
            cell.fetch_add(pods, Ordering::Relaxed);
            self.discovered.fetch_add(pods, Ordering::Relaxed);
        }
    }

    /// Counts that add up. Where moves interrupt every attempt within the bound of
    /// [`SequenceLock::read`], they are those of the last scrape: a little old, but true of one moment.
    pub(super) fn snapshot(&self) -> PodCountsSnapshot {
        let mut last = self.last.lock();
        if let SequenceRead::Consistent(counts) = self.lock.read(|| self.load()) {
            *last = counts;
        }
        last.clone()
    }

    fn leave(&self, place: NamespaceSlot, from: PodState) {
        match from {
            PodState::Undiscovered => self.discovered.fetch_add(1, Ordering::Relaxed),
            PodState::InFlight(waiting, capacity) => {
                if let Some(pods) = self.unschedulable(waiting, capacity) {
                    pods.fetch_sub(1, Ordering::Relaxed);
                }
                self.waiting.at(place)[waiting.index()].fetch_sub(1, Ordering::Relaxed)
            }
            PodState::Finished(outcome) => {
                self.finished[outcome as usize].fetch_sub(1, Ordering::Relaxed)
            }
        };
    }

    fn enter(&self, place: NamespaceSlot, to: PodState) {
        match to {
            PodState::Undiscovered => self.discovered.fetch_sub(1, Ordering::Relaxed),
            PodState::InFlight(waiting, capacity) => {
                if let Some(pods) = self.unschedulable(waiting, capacity) {
                    pods.fetch_add(1, Ordering::Relaxed);
                }
                self.waiting.at(place)[waiting.index()].fetch_add(1, Ordering::Relaxed)
            }
            PodState::Finished(outcome) => {
                self.finished[outcome as usize].fetch_add(1, Ordering::Relaxed)
            }
        };
    }

    /// Where a pod is counted by its state of capacity, if it is.
    fn unschedulable(&self, waiting: WaitReason, capacity: CapacityState) -> Option<&AtomicU64> {
        let is_counted = waiting.stage() == Stage::Unschedulable;
        is_counted.then(|| &self.unschedulable[capacity as usize])
    }

    fn load(&self) -> PodCountsSnapshot {
        let load = |atomic: &AtomicU64| atomic.load(Ordering::Relaxed);
        PodCountsSnapshot {
            discovered: load(&self.discovered),
            waiting: (0..self.waiting.0.len()).map(|place| self.waiting.load(place)).collect(),
            unschedulable: self.unschedulable.each_ref().map(load),
            finished: std::array::from_fn(|outcome| load(&self.finished[outcome])),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::metrics::namespaces::UNNAMED;
    use podinit_core::lifecycle::Cause;

    #[test]
    fn a_torn_read_gives_the_last_snapshot() {
        let counts = PodCounts::new(1);
        let queued = WaitReason::new(Stage::Scheduling, Cause::Queue).unwrap();
        let scheduling = PodState::InFlight(queued, CapacityState::Unknown);
        counts.move_pod(UNNAMED, PodState::Undiscovered, scheduling);
        let before = counts.snapshot();
        let writing = counts.lock.write();
        counts.leave(UNNAMED, scheduling);
        assert_eq!(counts.snapshot(), before);
        counts.enter(UNNAMED, PodState::Finished(Outcome::Ready));
        drop(writing);
        let after = counts.snapshot();
        assert_eq!((after.discovered, after.in_flight()), (1, [0; STAGES]));
        assert_eq!(after.finished[Outcome::Ready as usize], 1);
    }

    #[test]
    fn every_snapshot_adds_up_while_pods_move() {
        let counts = PodCounts::new(1);
        let full = WaitReason::new(Stage::Unschedulable, Cause::Resources).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let unknown = WaitReason::new(Stage::Network, Cause::Unknown).unwrap();
                    let network = PodState::InFlight(unknown, CapacityState::Unknown);
                    counts.move_pod(UNNAMED, PodState::Undiscovered, network);
                    counts.move_pod(UNNAMED, network, PodState::Finished(Outcome::Ready));
                    let mut from = PodState::Undiscovered;
                    let states = CapacityState::ALL.map(|state| PodState::InFlight(full, state));
                    for to in states.into_iter().chain([PodState::Finished(Outcome::Deleted)]) {
                        counts.move_pod(UNNAMED, from, to);
                        from = to;
                    }
                }
            });
            while counts.snapshot().discovered == 0 {
                std::thread::yield_now();
            }
            let adds_up = (0..2_000).all(|_| {
                let snapshot = counts.snapshot();
                let finished: u64 = snapshot.finished.iter().sum();
                let in_flight = snapshot.in_flight();
                let unschedulable: u64 = snapshot.unschedulable.iter().sum();
                snapshot.discovered == finished + in_flight.iter().sum::<u64>()
                    && unschedulable == in_flight[Stage::Unschedulable as usize]
            });
            done.store(true, Ordering::Relaxed);
            assert!(adds_up);
        });
    }
}
