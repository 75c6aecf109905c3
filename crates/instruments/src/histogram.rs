//! A histogram that is classic and native at once. Observing never waits.
//!
//! Each observation increments exactly one cell; classic buckets, native buckets and the count are
//! sums of the same cells (see `layout`), taken from one consistent copy (see `sequence_lock`), so that
//! they agree at every scrape. An observation takes no lock and does not wait; the exemplar, which
//! does need one, is skipped where a scrape holds it.
//!
//! **Memory.** A series that was never observed takes 104 bytes. With the first observation come
//! 283 cells of 8 bytes and a bit for each, and with exemplars 56 bytes and a pod name for each classic
//! bucket up to the highest one used: 2.3 KiB, at most 3.7 KiB and 26 names.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::encoder::{LabelText, MetricType};
use super::exemplar::{BucketExemplars, SpanRef};
use super::family::FamilyType;
use super::histogram_snapshot::HistogramSnapshot;
use super::instrument::{Instrument, PersistentInstrument, SampleValue};
use super::saved_families::SavedSeries;
use podinit_core::lifecycle::Latency;
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_histogram::cells::HistogramCells;
use podinit_histogram::layout::{ClassicBuckets, LAYOUT};

/// Latencies of one series.
#[derive(Debug)]
pub struct Histogram {
    cells: HistogramCells,
    exemplars: BucketExemplars,
    buckets: ClassicBuckets,
}

/// With the buckets of startups.
impl Default for Histogram {
    fn default() -> Self {
        Self::new(ClassicBuckets::default())
    }
}

impl Histogram {
    /// Nothing counted yet, with these classic buckets.
    pub fn new(buckets: ClassicBuckets) -> Self {
        let cells = HistogramCells::new(LAYOUT.cells().len());
        Self { cells, exemplars: BucketExemplars::default(), buckets }
    }

    /// Counts `latency`.
    pub fn observe(&self, latency: Latency) {
        let nanos = latency.as_nanos();
        self.cells.record(LAYOUT.cell_of(nanos), nanos);
    }

    /// Counts `latency`, observed at `at`, and keeps `pod` as the exemplar of its bucket.
    pub fn observe_pod(&self, latency: Latency, pod: &PodInfo, at: Timestamp) {
        let nanos = latency.as_nanos();
        let cell = LAYOUT.cell_of(nanos);
        self.cells.record(cell, nanos);
        self.exemplars.offer(LAYOUT.cell(cell).classic(self.buckets), pod, latency, at);
    }

    /// Makes `pod` the exemplar of the bucket of `latency`, which was counted before, with the span that
    /// shows it. Does nothing where nothing was counted there: the pod's label set may have changed since.
    pub fn link_trace(&self, latency: Latency, pod: &PodInfo, at: Timestamp, span: SpanRef) {
        let cell = LAYOUT.cell_of(latency.as_nanos());
        if self.cells.is_counted(cell) {
            let bucket = LAYOUT.cell(cell).classic(self.buckets);
            self.exemplars.offer_traced(bucket, pod, latency, at, span);
        }
    }

    /// Reads the state into `snapshot`, whose buffers are used again, and shows it to `show`. Exemplars
    /// are read only where they are wanted. They are lent to `snapshot` until `show` returns, so that
    /// none is copied; an observation meanwhile is counted, and brings no exemplar.
    ///
    /// Should observations interrupt every one of some hundred attempts over 32 ms, the sum may
    /// differ from the count by those under way; classic buckets, native buckets and count agree
    /// even then.
    pub fn read(
        &self,
        snapshot: &mut HistogramSnapshot,
        with_exemplars: bool,
        show: impl FnOnce(&HistogramSnapshot),
    ) {
        // Exemplars first: an observation is counted before it becomes an exemplar, so the bucket
        // of every exemplar read here is found to have counted it.
        let lent = with_exemplars.then(|| self.exemplars.lend());
        snapshot.buckets = self.buckets;
        snapshot.exemplars.clear();
        let Some(mut lent) = lent else {
            snapshot.sum = self.cells.read_into(&mut snapshot.counts);
            return show(snapshot);
        };
        std::mem::swap(&mut *lent, &mut snapshot.exemplars);
        snapshot.sum = self.cells.read_into(&mut snapshot.counts);
        show(snapshot);
        std::mem::swap(&mut *lent, &mut snapshot.exemplars);
    }

    /// Whether anything was observed.
    pub fn is_used(&self) -> bool {
        self.cells.is_used()
    }

    /// Its values, to be saved.
    pub fn saved(&self) -> SavedHistogram {
        let mut cells = Vec::new();
        let sum = self.cells.read_into(&mut cells);
        SavedHistogram { cells, sum }
    }

    /// Adds what was saved, whose cells are those of now.
    pub fn add_saved(&self, saved: &SavedHistogram) {
        if !saved.is_empty() {
            let counts = saved.cells.iter().map(|(cell, count)| (usize::from(*cell), *count));
            self.cells.add(counts, saved.sum);
        }
    }

    /// The state now.
    pub fn snapshot(&self) -> HistogramSnapshot {
        let (mut buffer, mut copy) = (HistogramSnapshot::default(), HistogramSnapshot::default());
        self.read(&mut buffer, true, |snapshot| copy.clone_from(snapshot));
        copy
    }
}

impl FamilyType for Histogram {
    const KIND: MetricType = MetricType::Histogram;
    const LABELS: usize = 0;
}

impl Instrument for Histogram {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        show(&[], SampleValue::Histogram(self));
    }
}

impl PersistentInstrument for Histogram {
    fn restore(&self, _: &[LabelText], saved: &SavedSeries) {
        saved.histogram.iter().for_each(|saved| self.add_saved(saved));
    }
}

/// A histogram with the classic buckets at this position of [`ClassicBuckets::ALL`].
#[derive(Debug)]
pub struct HistogramWith<const BUCKETS: usize>(Histogram);

impl<const BUCKETS: usize> Default for HistogramWith<BUCKETS> {
    fn default() -> Self {
        Self(Histogram::new(ClassicBuckets::ALL[BUCKETS]))
    }
}

impl<const BUCKETS: usize> Deref for HistogramWith<BUCKETS> {
    type Target = Histogram;

    fn deref(&self) -> &Histogram {
        &self.0
    }
}

impl<const BUCKETS: usize> FamilyType for HistogramWith<BUCKETS> {
    const KIND: MetricType = MetricType::Histogram;
    const LABELS: usize = 0;
}

impl<const BUCKETS: usize> Instrument for HistogramWith<BUCKETS> {
    fn each(&self, show: &mut dyn FnMut(&[&str], SampleValue<'_>)) {
        self.0.each(show);
    }
}

impl<const BUCKETS: usize> PersistentInstrument for HistogramWith<BUCKETS> {
    fn restore(&self, labels: &[LabelText], saved: &SavedSeries) {
        self.0.restore(labels, saved);
    }
}

/// A histogram as plain values that outlive the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedHistogram {
    /// The cells that are not empty, by position among the bounds that are saved with them, ascending, and what
    /// they count
    pub cells: Vec<(u16, u64)>,
    /// The sum of what was observed, in nanoseconds
    pub sum: u128,
}

impl SavedHistogram {
    /// Whether it has counted nothing.
    pub const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Adds what another has counted, whose cells are the same.
    pub fn merge(&mut self, other: &Self) {
        self.cells = counted(self.cells.iter().chain(&other.cells).copied());
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Counts in these cells, of which there is one for each that was.
    pub fn move_to(&mut self, cells: &[usize]) {
        let counts = self.cells.iter().filter_map(|(cell, count)| {
            let cell = cells.get(usize::from(*cell))?;
            Some((u16::try_from(*cell).ok()?, *count))
        });
        self.cells = counted(counts);
    }

    /// Whether its cells are among the first `cells`.
    pub fn fits(&self, cells: usize) -> bool {
        let mut positions = self.cells.iter().map(|(position, _)| usize::from(*position));
        positions.clone().is_sorted_by(|one, next| one < next) && positions.all(|cell| cell < cells)
    }
}

/// The cells, ascending, each once with all that it counts. What a file says may be more than fits, and wraps as it does
/// where it is counted.
fn counted(counts: impl Iterator<Item = (u16, u64)>) -> Vec<(u16, u64)> {
    let mut cells: BTreeMap<u16, u64> = BTreeMap::new();
    for (cell, count) in counts {
        let counted = cells.entry(cell).or_default();
        *counted = counted.wrapping_add(count);
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::{Exemplar, NativeHistogram};

    const SECOND: u64 = 1_000_000_000;

    fn observed(latencies: &[u64]) -> HistogramSnapshot {
        observed_in(ClassicBuckets::default(), latencies)
    }

    fn observed_in(buckets: ClassicBuckets, latencies: &[u64]) -> HistogramSnapshot {
        let histogram = Histogram::new(buckets);
        for nanos in latencies {
            histogram.observe(Latency::from_nanos(*nanos));
        }
        histogram.snapshot()
    }

    /// Absolute counts by index, undone from spans and deltas.
    fn unpacked(native: &NativeHistogram) -> Vec<(i32, u64)> {
        let mut deltas = native.deltas.iter();
        let (mut index, mut count) = (0, 0_i64);
        let mut buckets = Vec::new();
        for (offset, length) in &native.spans {
            index += offset;
            for _ in 0..*length {
                count += deltas.next().unwrap();
                buckets.push((index, count.cast_unsigned()));
                index += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        buckets
    }

    #[test]
    fn an_unobserved_series_is_as_small_as_documented() {
        assert_eq!(size_of::<Histogram>(), 104);
        assert_eq!(size_of::<Option<Exemplar>>(), 56);
    }

    #[test]
    fn nothing_observed_is_all_zero() {
        let snapshot = observed(&[]);
        assert_eq!((snapshot.count(), snapshot.sum()), (0, 0.0));
        assert!(snapshot.classic().eq([0; 26]));
        assert_eq!(snapshot.native(), NativeHistogram::default());
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(observed(&[2 * SECOND, 3 * SECOND]).sum(), 5.0);
        assert_eq!(observed(&[SECOND / 10; 10]).sum(), 1.0);
    }

    #[test]
    fn native_buckets_are_sparse() {
        let snapshot = observed(&[0, SECOND, SECOND, SECOND + 1, 8 * SECOND]);
        let native = snapshot.native();
        assert_eq!(native.zero_count, 1);
        assert_eq!(native.spans, vec![(0, 2), (22, 1)]);
        assert_eq!(native.deltas, vec![2, -1, 0]);
    }

    proptest! {
        #[test]
        fn both_views_agree_with_counting_one_by_one(
            latencies in proptest::collection::vec(
                prop_oneof![
                    0..30 * 86_400 * SECOND,
                    0..20 * SECOND,
                    0..2_000_000_u64,
                    (0..3700_u64).prop_map(|seconds| seconds * SECOND),
                ],
                0..200,
            )
        ) {
            let snapshot = observed(&latencies);
            prop_assert_eq!(snapshot.count(), latencies.len() as u64);
            let total: u128 = latencies.iter().map(|nanos| u128::from(*nanos)).sum();
            prop_assert_eq!(snapshot.sum, total);

            let seconds: Vec<f64> = latencies.iter().map(|nanos| *nanos as f64 / 1e9).collect();
            for buckets in ClassicBuckets::ALL {
                let snapshot = observed_in(buckets, &latencies);
                let counted: Vec<_> = snapshot.classic().collect();
                let below = |bound| seconds.iter().filter(|value| **value <= bound).count() as u64;
                prop_assert_eq!(counted, buckets.shown().map(below).collect::<Vec<_>>());
            }

            let native = snapshot.native();
            let zero = seconds.iter().filter(|value| **value <= 2_f64.powi(-10)).count();
            prop_assert_eq!(native.zero_count, zero as u64);
            let mut expected = std::collections::BTreeMap::new();
            for value in seconds.iter().filter(|value| **value > 2_f64.powi(-10)) {
                *expected.entry((value.log2() * 8.0).ceil() as i32).or_insert(0_u64) += 1;
            }
            prop_assert_eq!(unpacked(&native), expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn cells_that_are_one_now_count_together() {
        let mut saved = SavedHistogram { cells: vec![(0, 1), (1, 2), (3, 4)], sum: 5 };
        saved.move_to(&[7, 7, 8, 9]);
        assert_eq!(saved, SavedHistogram { cells: vec![(7, 3), (9, 4)], sum: 5 });
    }

    #[test]
    fn what_a_file_says_is_added_whatever_it_is() {
        let most = SavedHistogram { cells: vec![(1, u64::MAX)], sum: u128::MAX };
        let mut saved = SavedHistogram { cells: vec![(0, 1), (1, 2)], sum: 3 };
        saved.merge(&most);
        assert_eq!(saved, SavedHistogram { cells: vec![(0, 1), (1, 1)], sum: 2 });
    }
}
