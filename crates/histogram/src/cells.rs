//! The counters of one histogram: an array of cells and the sum, read together.

use std::sync::OnceLock;

use crate::sequence_lock::{SequenceLock, SequenceRead};
use crate::sync::{AtomicU64, Ordering};

/// How many cells have their bits in one word.
const WORD: usize = u64::BITS as usize;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Cells, one of which each observation increments, and the exact sum of what was observed.
///
/// Few of the cells of a series are ever used. A bit for each one that is says where to look, so that
/// a scrape reads those alone.
///
/// The array is allocated with the first observation, since most series stay at zero. `OnceLock`
/// makes that a wait only where two writers meet at the very first observation of one series, which
/// the single recorder excludes.
#[derive(Debug)]
pub struct HistogramCells {
    lock: SequenceLock,
    /// Whole seconds of all observations, and what each had beyond them, in nanoseconds: two plain
    /// additions need no carry, and neither part overflows within 10^10 observations.
    seconds: AtomicU64,
    nanos: AtomicU64,
    /// The bits of the cells in use, and then the cells
    counts: OnceLock<Box<[AtomicU64]>>,
    len: usize,
}

/// A cell that is not empty, and what it counts.
pub type CellCount = (u16, u64);

impl HistogramCells {
    /// `len` cells at zero, 65,536 at most.
    pub fn new(len: usize) -> Self {
        Self {
            lock: SequenceLock::default(),
            seconds: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            counts: OnceLock::new(),
            len,
        }
    }

    /// Counts one observation of `nanos` nanoseconds in `cell`.
    pub fn record(&self, cell: usize, nanos: u64) {
        let counts = self.counts.get_or_init(|| self.allocate());
        let _writing = self.lock.write();
        let (used, cells) = counts.split_at(self.words());
        mark(used, cell);
        cells[cell].fetch_add(1, Ordering::Relaxed);
        self.seconds.fetch_add(nanos / NANOS_PER_SECOND, Ordering::Relaxed);
        self.nanos.fetch_add(nanos % NANOS_PER_SECOND, Ordering::Relaxed);
    }

    /// Whether anything was counted in `cell`.
    pub fn is_counted(&self, cell: usize) -> bool {
        let counts = self.counts.get();
        counts.is_some_and(|counts| counts[self.words() + cell].load(Ordering::Relaxed) > 0)
    }

    /// Whether anything was counted.
    pub fn is_used(&self) -> bool {
        self.counts.get().is_some()
    }

    /// Adds what was counted before: so much in each of these cells, and `sum` nanoseconds in all.
    pub fn add(&self, cells: impl IntoIterator<Item = (usize, u64)>, sum: u128) {
        let counts = self.counts.get_or_init(|| self.allocate());
        let _writing = self.lock.write();
        let (used, counters) = counts.split_at(self.words());
        for (cell, count) in cells {
            if let Some(counter) = counters.get(cell) {
                mark(used, cell);
                counter.fetch_add(count, Ordering::Relaxed);
            }
        }
        let seconds = u64::try_from(sum / u128::from(NANOS_PER_SECOND)).unwrap_or(u64::MAX);
        let nanos = u64::try_from(sum % u128::from(NANOS_PER_SECOND)).unwrap_or(0);
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Copies the cells that are not empty into `counts`, in their order, and returns the sum in
    /// nanoseconds.
    ///
    /// After a torn read (see [`SequenceLock`]) the sum may differ from the cells by the observations that
    /// were under way; the cells themselves are a count that was or will be true of each.
    pub fn read_into(&self, counts: &mut Vec<CellCount>) -> u128 {
        let Some(cells) = self.counts.get() else {
            counts.clear();
            return 0;
        };
        match self.lock.read(|| self.load(cells, counts)) {
            SequenceRead::Consistent(sum) | SequenceRead::Torn(sum) => sum,
        }
    }

    /// As [`HistogramCells::read_into`], in one attempt.
    #[cfg(podinit_loom)]
    pub(super) fn try_read(&self) -> Option<(Vec<CellCount>, u128)> {
        let Some(cells) = self.counts.get() else {
            return Some((Vec::new(), 0));
        };
        let mut counts = Vec::new();
        let sum = self.lock.try_read(|| self.load(cells, &mut counts))?;
        Some((counts, sum))
    }

    fn load(&self, counted: &[AtomicU64], counts: &mut Vec<CellCount>) -> u128 {
        counts.clear();
        let (used, cells) = counted.split_at(self.words());
        for (word, used) in used.iter().enumerate() {
            let mut bits = used.load(Ordering::Relaxed);
            while bits != 0 {
                let cell = word * WORD + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                // A torn read may find the bit of a cell that is still empty.
                let count = cells[cell].load(Ordering::Relaxed);
                if count > 0 {
                    counts.push((cell as u16, count));
                }
            }
        }
        let seconds = self.seconds.load(Ordering::Relaxed);
        let nanos = self.nanos.load(Ordering::Relaxed);
        u128::from(seconds) * u128::from(NANOS_PER_SECOND) + u128::from(nanos)
    }

    fn allocate(&self) -> Box<[AtomicU64]> {
        let atomics = self.words() + self.len;
        (0..atomics).map(|_| AtomicU64::new(0)).collect()
    }

    /// How many words have the bits of the cells.
    const fn words(&self) -> usize {
        self.len.div_ceil(WORD)
    }
}

/// Marks `cell` as used. Reads first: it is, all but once.
fn mark(used: &[AtomicU64], cell: usize) {
    let (word, bit) = (&used[cell / WORD], 1 << (cell % WORD));
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}
