//! The state of a histogram at one moment, as a scrape shows it: classic buckets, native buckets and exemplars.

use super::exemplar::Exemplar;
use podinit_core::timestamp::Timestamp;
use podinit_histogram::cells::CellCount;
use podinit_histogram::layout::{ClassicBuckets, LAYOUT};

/// Since when the series of a histogram counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesStart {
    /// Since its family does
    #[default]
    OfFamily,
    /// Since another time, where that is known
    Own(Option<Timestamp>),
}

/// The state of a histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramSnapshot {
    /// The cells that are not empty, ascending.
    pub(super) counts: Vec<CellCount>,
    /// Nanoseconds.
    pub(super) sum: u128,
    pub(super) exemplars: Vec<Option<Exemplar>>,
    pub(super) buckets: ClassicBuckets,
    /// Its owner says so.
    pub start: SeriesStart,
}

/// The native view: buckets of schema [`NATIVE_SCHEMA`](podinit_histogram::layout::NATIVE_SCHEMA) in the sparse
/// form of Prometheus' `metrics.proto`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeHistogram {
    /// The count of the zero bucket.
    pub zero_count: u64,
    /// Runs of buckets that are not empty: the gap since the last run (for the first one the index
    /// it starts at), and the length.
    pub spans: Vec<(i32, u32)>,
    /// The count of each bucket in the spans less that of the one before it.
    pub deltas: Vec<i64>,
}

impl HistogramSnapshot {
    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.exemplars.is_empty()
    }

    /// Since when the histogram counts, where its family counts since `family` and that is known.
    pub const fn start(&self, family: Option<Timestamp>) -> Option<Timestamp> {
        match self.start {
            SeriesStart::OfFamily => family,
            SeriesStart::Own(start) => start,
        }
    }

    /// How many latencies were observed.
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// The cells that are not empty, ascending, and what they count.
    pub fn cells(&self) -> &[CellCount] {
        &self.counts
    }

    /// The sum of all latencies, in seconds.
    pub fn sum(&self) -> f64 {
        self.sum as f64 / 1e9
    }

    /// Which classic buckets it has.
    pub const fn buckets(&self) -> ClassicBuckets {
        self.buckets
    }

    /// The cumulative counts of the classic buckets, `+Inf` last.
    pub fn classic(&self) -> impl Iterator<Item = u64> {
        let (cells, mut counts) = (LAYOUT.cells(), self.counts.iter().peekable());
        let mut total = 0;
        (0..self.buckets.count()).map(move |bucket| {
            let is_within =
                |(cell, _): &&CellCount| cells[usize::from(*cell)].classic(self.buckets) <= bucket;
            while let Some((_, count)) = counts.next_if(is_within) {
                total += count;
            }
            total
        })
    }

    /// The native buckets.
    pub fn native(&self) -> NativeHistogram {
        let mut native = NativeHistogram::default();
        self.native_into(&mut native);
        native
    }

    /// The native buckets, into `native`, whose buffers are used again.
    pub fn native_into(&self, native: &mut NativeHistogram) {
        native.zero_count = 0;
        native.spans.clear();
        native.deltas.clear();
        let mut last: Option<(i32, u64)> = None;
        for (index, count) in self.native_counts() {
            let Some(index) = index else {
                native.zero_count = count;
                continue;
            };
            match (last, native.spans.last_mut()) {
                (Some((before, _)), Some(span)) if index == before + 1 => span.1 += 1,
                (Some((before, _)), _) => native.spans.push((index - before - 1, 1)),
                (None, _) => native.spans.push((index, 1)),
            }
            let before = last.map_or(0, |(_, count)| count);
            native.deltas.push(count.cast_signed() - before.cast_signed());
            last = Some((index, count));
        }
    }

    /// The exemplar of the classic bucket at this position, if there is one.
    pub fn exemplar(&self, bucket: usize) -> Option<&Exemplar> {
        self.exemplars.get(bucket)?.as_ref()
    }

    /// The native buckets that are not empty, in ascending order.
    fn native_counts(&self) -> impl Iterator<Item = (Option<i32>, u64)> {
        let cells = LAYOUT.cells();
        let counts = self.counts.iter();
        let mut counts =
            counts.map(|(cell, count)| (cells[usize::from(*cell)].native, *count)).peekable();
        std::iter::from_fn(move || {
            let (bucket, mut total) = counts.next()?;
            while let Some((_, count)) = counts.next_if(|(next, _)| *next == bucket) {
                total += count;
            }
            Some((bucket, total))
        })
    }
}
