//! How long stages and whole startups took, for the live page: of all label sets together.

use super::exposition::Exposition;
use podinit_core::lifecycle::{Interval, Stage};
use podinit_histogram::cells::CellCount;
use podinit_histogram::layout::LAYOUT;
use podinit_instruments::HistogramSnapshot;

/// The 99th percentile is shown of at least so many durations.
pub const LEAST_OF_P99: u64 = 100;

/// The distributions of the stages, and after them of the time from creation to ready.
pub type StageDurations = [DurationDistribution; Stage::ALL.len() + 1];

/// What the durations are of: each stage, and the whole startup.
pub fn stages_and_startup() -> impl Iterator<Item = Interval> {
    let stages = Stage::ALL.into_iter().map(Interval::Stage);
    stages.chain([Interval::CreatedToReady])
}

/// The counts of a histogram whose buckets are at most a tenth wide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationDistribution {
    /// The cells that are not empty, ascending
    cells: Vec<CellCount>,
}

impl Exposition {
    /// The present distributions. Costs about a quarter of a scrape.
    pub fn durations(&self) -> StageDurations {
        let sets = self.store.sorted_sets();
        let mut buffer = HistogramSnapshot::default();
        let mut intervals = stages_and_startup();
        std::array::from_fn(|_| {
            let mut counts = vec![0; LAYOUT.cells().len()];
            if let Some(interval) = intervals.next() {
                for set in &sets {
                    set.interval(interval).read(&mut buffer, false, |snapshot| {
                        for (cell, count) in snapshot.cells() {
                            counts[usize::from(*cell)] += count;
                        }
                    });
                }
            }
            DurationDistribution::from_counts(&counts)
        })
    }
}

impl DurationDistribution {
    fn from_counts(counts: &[u64]) -> Self {
        let cells = counts.iter().zip(0..).filter(|(count, _)| **count > 0);
        Self { cells: cells.map(|(count, cell)| (cell, *count)).collect() }
    }

    /// The distribution of these durations in nanoseconds.
    pub fn of_nanos(durations: impl IntoIterator<Item = u64>) -> Self {
        let mut counts = vec![0; LAYOUT.cells().len()];
        for nanos in durations {
            counts[LAYOUT.cell_of(nanos)] += 1;
        }
        Self::from_counts(&counts)
    }

    /// What was counted after `earlier`, a copy of the same distribution.
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |cell: u16| {
            let found = earlier.cells.binary_search_by_key(&cell, |(cell, _)| *cell);
            found.map_or(0, |position| earlier.cells[position].1)
        };
        let cells = self.cells.iter();
        let cells = cells.map(|(cell, count)| (*cell, count.saturating_sub(before(*cell))));
        Self { cells: cells.filter(|(_, count)| *count > 0).collect() }
    }

    /// How many durations there are.
    pub fn count(&self) -> u64 {
        self.cells.iter().map(|(_, count)| count).sum()
    }

    /// The duration in seconds that so many percent of all do not exceed, within the width of a bucket;
    /// `None` of no durations.
    pub fn quantile(&self, percent: u64) -> Option<f64> {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        let mut before = 0;
        for (cell, count) in &self.cells {
            if before + count >= rank {
                let (from, to) = span(*cell);
                let share = (rank - before) as f64 / *count as f64;
                return Some(from + share * (to - from));
            }
            before += count;
        }
        None
    }

    /// The buckets that are not empty: from and to how many seconds, and how many durations they hold.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> {
        self.cells.iter().map(|(cell, count)| {
            let (from, to) = span(*cell);
            (from, to, *count)
        })
    }
}

/// The bounds of a cell in seconds.
fn span(cell: u16) -> (f64, f64) {
    let bounds = LAYOUT.bounds();
    let at = |cell: usize| bounds.get(cell).map_or(0.0, |nanos| *nanos as f64 / 1e9);
    let cell = usize::from(cell);
    (cell.checked_sub(1).map_or(0.0, at), at(cell))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use podinit_core::quantile::nearest_rank;

    #[test]
    fn what_came_later_is_the_difference() {
        let early = DurationDistribution::of_nanos([1_000_000_000, 5_000_000_000]);
        let late = DurationDistribution::of_nanos([1_000_000_000, 5_000_000_000, 5_000_000_000]);
        let found = late.since(&early);
        assert_eq!(found, DurationDistribution::of_nanos([5_000_000_000]));
        assert_eq!((found.count(), late.since(&late).quantile(50)), (1, None));
    }

    proptest! {
        /// Beside the nearest rank of the durations themselves.
        #[test]
        fn a_quantile_is_right_within_a_tenth(
            mut durations in prop::collection::vec(2_000_000_u64..4_000_000_000_000, 1..200),
            percent in 1_usize..=100,
        ) {
            let found = DurationDistribution::of_nanos(durations.iter().copied());
            durations.sort_unstable();
            let exact = nearest_rank(&durations, percent).unwrap() as f64 / 1e9;
            let quantile = found.quantile(percent as u64).unwrap();
            prop_assert!((quantile / exact - 1.0).abs() < 0.1, "{quantile} is not {exact}");
        }
    }
}
