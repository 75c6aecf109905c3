//! Which cell a latency belongs to, and what each cell means to the classic and to the native view.
//!
//! The bounds of the cells are the sorted union of both views' bounds, so that each view is a sum of
//! whole cells and both count the same observations. All bounds are whole nanoseconds: a bucket
//! holds what lies above its lower and up to its upper bound, decided on integers.

use std::sync::LazyLock;

/// The upper bounds of the classic buckets, in seconds, `+Inf` aside. They are the kubelet's own (specification, 7.7).
pub const CLASSIC_BOUNDS: [f64; 25] = [
    0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 30.0, 45.0, 60.0, 120.0, 180.0, 240.0,
    300.0, 360.0, 480.0, 600.0, 900.0, 1200.0, 1800.0, 2700.0, 3600.0,
];

/// The number of classic buckets, `+Inf` included.
pub const CLASSIC_BUCKETS: usize = CLASSIC_BOUNDS.len() + 1;

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
pub struct Cell {
    /// The position in [`CLASSIC_BOUNDS`] of the smallest bound that is not below the cell;
    /// `CLASSIC_BOUNDS.len()` for `+Inf`.
    pub classic: usize,
    /// The index of the native bucket; `None` for the zero bucket.
    pub native: Option<i32>,
}

/// The cells that all histograms share.
#[derive(Debug)]
pub struct Layout {
    bounds: Box<[u64]>,
    cells: Box<[Cell]>,
}

/// The one layout.
pub static LAYOUT: LazyLock<Layout> = LazyLock::new(Layout::new);

impl Layout {
    fn new() -> Self {
        let natives = (ZERO_INDEX..=LAST_INDEX).map(native_bound);
        let classics = CLASSIC_BOUNDS.into_iter().map(whole_nanos);
        let mut bounds: Vec<u64> = natives.chain(classics).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let cells = bounds.iter().map(|bound| Cell::ending_at(*bound)).collect();
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
    pub fn cell(&self, cell: usize) -> Cell {
        self.cells[cell]
    }

    /// All cells, in ascending order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

impl Cell {
    /// The cell whose upper bound is `bound` nanoseconds.
    fn ending_at(bound: u64) -> Self {
        let classic = CLASSIC_BOUNDS.partition_point(|seconds| whole_nanos(*seconds) < bound);
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
        assert_eq!(LAYOUT.cells().len(), 277);
        for pair in LAYOUT.cells().windows(2) {
            assert!(pair[0].classic <= pair[1].classic && pair[0].native <= pair[1].native);
        }
    }

    #[test]
    fn a_bound_belongs_to_the_bucket_that_it_ends() {
        let at = |nanos| LAYOUT.cell(LAYOUT.cell_of(nanos));
        for (index, bound) in CLASSIC_BOUNDS.into_iter().enumerate() {
            let nanos = whole_nanos(bound);
            assert_eq!(at(nanos).classic, index);
            assert_eq!(at(nanos + 1).classic, index + 1);
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
        assert_eq!(at(thirty_days).classic, CLASSIC_BOUNDS.len());
        assert!(at(thirty_days).native < Some(LAST_INDEX));
        assert_eq!(at(u64::MAX).native, Some(LAST_INDEX));
    }
}
