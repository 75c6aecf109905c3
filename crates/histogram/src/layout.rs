//! Which cell a latency belongs to, and what each cell means to the classic and to the native view.
//!
//! The bounds of the cells are the sorted union of the bounds of all views, so that each view is a sum of
//! whole cells and all count the same observations. All bounds are whole nanoseconds: a bucket
//! holds what lies above its lower and up to its upper bound, decided on integers.

use std::sync::LazyLock;

/// The classic buckets of a histogram (specification, 7.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClassicBuckets {
    /// Those of the kubelet's histograms of pod startups
    #[default]
    Startups,
    /// Those of the kubelet's histogram of image pulls
    ImagePulls,
    /// From 5 ms to a minute, for the delay of a watch
    WatchDelivery,
    /// From 10 s to a day, for rollouts
    Rollouts,
}

impl ClassicBuckets {
    /// All of them, in the order of [`HistogramCell::classic`].
    pub const ALL: [Self; 4] =
        [Self::Startups, Self::ImagePulls, Self::WatchDelivery, Self::Rollouts];

    /// The upper bounds in seconds, `+Inf` aside.
    pub const fn bounds(self) -> &'static [f64] {
        match self {
            Self::Startups => &[
                0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 30.0, 45.0, 60.0, 120.0, 180.0,
                240.0, 300.0, 360.0, 480.0, 600.0, 900.0, 1200.0, 1800.0, 2700.0, 3600.0,
            ],
            Self::ImagePulls => &[
                1.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 240.0, 300.0, 360.0, 480.0, 600.0,
                900.0, 1200.0, 1800.0, 2700.0, 3600.0,
            ],
            Self::WatchDelivery => {
                &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0]
            }
            Self::Rollouts => &[
                10.0, 20.0, 30.0, 60.0, 120.0, 180.0, 300.0, 450.0, 600.0, 900.0, 1200.0, 1800.0,
                2700.0, 3600.0, 7200.0, 14400.0, 28800.0, 86400.0,
            ],
        }
    }

    /// How many buckets these are, `+Inf` included.
    pub const fn count(self) -> usize {
        self.bounds().len() + 1
    }

    /// How many series a histogram has in the classic formats: the buckets, the sum and the count.
    pub const fn series(self) -> usize {
        self.count() + 2
    }

    /// The bounds as they are shown: `+Inf` last.
    pub fn shown(self) -> impl ExactSizeIterator<Item = f64> {
        (0..self.count()).map(move |bucket| *self.bounds().get(bucket).unwrap_or(&f64::INFINITY))
    }
}

/// The schema of the native buckets: bounds are powers of 2^(1/8), a factor of 1.0905.
pub const NATIVE_SCHEMA: i32 = 3;

/// Everything up to 2^-10 s counts as zero in the native view.
pub const ZERO_THRESHOLD: f64 = 1.0 / 1024.0;

/// The native buckets above the zero bucket have the indices -79 to 176; the upper bound of the
/// last, 2^22 s (48 days), lies beyond the longest latency, thirty days (specification, 4.6).
const ZERO_INDEX: i32 = -80;
const LAST_INDEX: i32 = 176;

/// 2^(n/8) for n = 0..8, the nearest doubles.
const EIGHTHS: [f64; 8] = [
    1.0,
    1.090_507_732_665_257_7,
    1.189_207_115_002_721,
    1.296_839_554_651_009_6,
    std::f64::consts::SQRT_2,
    1.542_210_825_407_940_7,
    1.681_792_830_507_429,
    1.834_008_086_409_342_4,
];

/// The meaning of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramCell {
    /// For each of [`ClassicBuckets::ALL`], the position of the smallest bound that is not below the cell;
    /// their number for `+Inf`
    classic: [u8; ClassicBuckets::ALL.len()],
    /// The index of the native bucket; `None` for the zero bucket.
    pub native: Option<i32>,
}

/// The cells that all histograms share.
#[derive(Debug)]
pub struct CellLayout {
    bounds: Box<[u64]>,
    cells: Box<[HistogramCell]>,
}

/// The one layout.
pub static LAYOUT: LazyLock<CellLayout> = LazyLock::new(CellLayout::new);

impl CellLayout {
    fn new() -> Self {
        let natives = (ZERO_INDEX..=LAST_INDEX).map(native_bound);
        let classics = ClassicBuckets::ALL.into_iter().flat_map(ClassicBuckets::bounds);
        let classics = classics.map(|bound| whole_nanos(*bound));
        let mut bounds: Vec<u64> = natives.chain(classics).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let cells = bounds.iter().map(|bound| HistogramCell::ending_at(*bound)).collect();
        Self { bounds: bounds.into(), cells }
    }

    /// The upper bounds of the cells, in nanoseconds, ascending.
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// For each of the cells that end at `bounds` the one that holds its bound here.
    pub fn cells_of(&self, bounds: &[u64]) -> Vec<usize> {
        bounds.iter().map(|bound| self.cell_of(*bound)).collect()
    }

    /// The cell for a latency. What lies above all bounds, which no latency does, goes
    /// into the last one.
    pub fn cell_of(&self, nanos: u64) -> usize {
        self.bounds.partition_point(|bound| *bound < nanos).min(self.cells.len() - 1)
    }

    /// What `cell` means.
    pub fn cell(&self, cell: usize) -> HistogramCell {
        self.cells[cell]
    }

    /// All cells, in ascending order.
    pub fn cells(&self) -> &[HistogramCell] {
        &self.cells
    }
}

impl HistogramCell {
    /// The position of the one of `buckets` that holds the cell, from 0; the last one is `+Inf`.
    pub const fn classic(&self, buckets: ClassicBuckets) -> usize {
        self.classic[buckets as usize] as usize
    }

    /// The cell whose upper bound is `bound` nanoseconds.
    fn ending_at(bound: u64) -> Self {
        let classic = ClassicBuckets::ALL.map(|buckets| {
            let below = |seconds: &f64| whole_nanos(*seconds) < bound;
            // There are 26 buckets at most.
            buckets.bounds().partition_point(below) as u8
        });
        let native = (ZERO_INDEX..LAST_INDEX)
            .find(|index| bound <= native_bound(*index))
            .unwrap_or(LAST_INDEX);
        Self { classic, native: (native != ZERO_INDEX).then_some(native) }
    }
}

/// The greatest whole nanosecond in the native bucket `index`, whose upper bound is 2^(index/8) s.
/// Exact at powers of two; the others are irrational, and rounding them down loses nothing, since
/// latencies are whole nanoseconds.
fn native_bound(index: i32) -> u64 {
    let power = f64::exp2(f64::from(index.div_euclid(8)));
    whole_nanos(EIGHTHS[index.rem_euclid(8) as usize] * power)
}

fn whole_nanos(seconds: f64) -> u64 {
    (seconds * 1e9).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_factor_between_native_bounds_is_at_most_one_tenth() {
        for eighths in EIGHTHS.windows(2) {
            assert!(eighths[1] / eighths[0] < 1.1);
        }
        for (n, eighth) in EIGHTHS.into_iter().enumerate() {
            assert!((eighth - (n as f64 / 8.0).exp2()).abs() < 1e-15);
        }
    }

    #[test]
    fn cells_are_few_and_ascend_in_both_views() {
        assert_eq!(LAYOUT.cells().len(), 288);
        for pair in LAYOUT.cells().windows(2) {
            assert!(pair[0].native <= pair[1].native);
            for buckets in ClassicBuckets::ALL {
                assert!(pair[0].classic(buckets) <= pair[1].classic(buckets));
            }
        }
    }

    #[test]
    fn a_bound_belongs_to_the_bucket_that_it_ends() {
        let at = |nanos| LAYOUT.cell(LAYOUT.cell_of(nanos));
        for buckets in ClassicBuckets::ALL {
            for (index, bound) in buckets.bounds().iter().enumerate() {
                let nanos = whole_nanos(*bound);
                assert_eq!(at(nanos).classic(buckets), index);
                assert_eq!(at(nanos + 1).classic(buckets), index + 1);
            }
        }
        assert_eq!(at(SECOND).native, Some(0));
        assert_eq!(at(SECOND + 1).native, Some(1));
        assert_eq!(at(2 * SECOND).native, Some(8));
        assert_eq!(at(2 * SECOND + 1).native, Some(9));
    }

    #[test]
    fn the_ends_are_covered() {
        let at = |nanos| LAYOUT.cell(LAYOUT.cell_of(nanos));
        assert_eq!(at(0).native, None);
        assert_eq!(at(976_562).native, None);
        assert_eq!(at(976_563).native, Some(-79));
        let thirty_days = 30 * 86_400 * SECOND;
        for buckets in ClassicBuckets::ALL {
            assert_eq!(at(thirty_days).classic(buckets), buckets.bounds().len());
        }
        assert!(at(thirty_days).native < Some(LAST_INDEX));
        assert_eq!(at(u64::MAX).native, Some(LAST_INDEX));
    }
}
