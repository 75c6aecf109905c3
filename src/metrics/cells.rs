//! The counters of one histogram: an array of cells and the sum, read together.

use std::sync::OnceLock;

use super::sequence_lock::{Read, SequenceLock};
use super::sync::{AtomicU64, Ordering};

const NANOS_PER_SECOND: u64 = crate::timestamp::NANOS_PER_SECOND.unsigned_abs();

/// Cells, one of which each observation increments, and the exact sum of what was observed.
///
/// The array is allocated with the first observation, since most series stay at zero. `OnceLock`
/// makes that a wait only where two writers meet at the very first observation of one series, which
/// the single recorder excludes.
#[derive(Debug)]
pub(super) struct Cells {
    lock: SequenceLock,
    /// Whole seconds of all observations, and what each had beyond them, in nanoseconds: two plain
    /// additions need no carry, and neither part overflows within 10^10 observations.
    seconds: AtomicU64,
    nanos: AtomicU64,
    counts: OnceLock<Box<[AtomicU64]>>,
    len: usize,
}

impl Cells {
    /// `len` cells at zero.
    pub(super) fn new(len: usize) -> Self {
        Self {
            lock: SequenceLock::new(),
            seconds: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            counts: OnceLock::new(),
            len,
        }
    }

    /// Counts one observation of `nanos` nanoseconds in `cell`.
    pub(super) fn record(&self, cell: usize, nanos: u64) {
        let counts = self.counts.get_or_init(|| self.allocate());
        let _writing = self.lock.write();
        counts[cell].fetch_add(1, Ordering::Relaxed);
        self.seconds
            .fetch_add(nanos / NANOS_PER_SECOND, Ordering::Relaxed);
        self.nanos
            .fetch_add(nanos % NANOS_PER_SECOND, Ordering::Relaxed);
    }

    /// Whether anything was counted in `cell`.
    pub(super) fn is_counted(&self, cell: usize) -> bool {
        let counts = self.counts.get();
        counts.is_some_and(|counts| counts[cell].load(Ordering::Relaxed) > 0)
    }

    /// Adds what was counted before: so much in each of these cells, and `sum` nanoseconds in all.
    pub(super) fn add(&self, cells: impl IntoIterator<Item = (usize, u64)>, sum: u128) {
        let counts = self.counts.get_or_init(|| self.allocate());
        let _writing = self.lock.write();
        for (cell, count) in cells {
            if let Some(counted) = counts.get(cell) {
                counted.fetch_add(count, Ordering::Relaxed);
            }
        }
        let seconds = u64::try_from(sum / u128::from(NANOS_PER_SECOND)).unwrap_or(u64::MAX);
        let nanos = u64::try_from(sum % u128::from(NANOS_PER_SECOND)).unwrap_or(0);
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Copies the cells into `counts` and returns the sum in nanoseconds. `counts` stays empty when
    /// nothing was ever observed.
    ///
    /// After a torn read (see [`SequenceLock`]) the sum may differ from the cells by the observations that
    /// were under way; the cells themselves are a count that was or will be true of each.
    pub(super) fn read_into(&self, counts: &mut Vec<u64>) -> u128 {
        let Some(cells) = self.counts.get() else {
            counts.clear();
            return 0;
        };
        match self.lock.read(|| self.load(cells, counts)) {
            Read::Consistent(sum) | Read::Torn(sum) => sum,
        }
    }

    /// As [`Cells::read_into`], in one attempt.
    #[cfg(podinit_loom)]
    pub(super) fn try_read(&self) -> Option<(Vec<u64>, u128)> {
        let Some(cells) = self.counts.get() else {
            return Some((Vec::new(), 0));
        };
        let mut counts = Vec::new();
        let sum = self.lock.try_read(|| self.load(cells, &mut counts))?;
        Some((counts, sum))
    }

    fn load(&self, cells: &[AtomicU64], counts: &mut Vec<u64>) -> u128 {
        counts.clear();
        counts.extend(cells.iter().map(|cell| cell.load(Ordering::Relaxed)));
        let seconds = self.seconds.load(Ordering::Relaxed);
        let nanos = self.nanos.load(Ordering::Relaxed);
        u128::from(seconds) * u128::from(NANOS_PER_SECOND) + u128::from(nanos)
    }

    fn allocate(&self) -> Box<[AtomicU64]> {
        (0..self.len).map(|_| AtomicU64::new(0)).collect()
    }
}
