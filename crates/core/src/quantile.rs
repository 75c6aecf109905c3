//! Quantiles by nearest rank: exact ones of values that are all at hand, and those of very many durations in bounded
//! memory.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::lifecycle::Latency;

/// The 99th percentile needs so many durations: of fewer it is the longest one.
pub const LEAST_OF_P99: u64 = 100;

/// The smallest of the sorted values that at least `percent` % of them do not exceed; the first for 0, `None` without
/// values.
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Durations that are all at hand, each counted: those that the API states are whole seconds, of which there are few.
/// Each quantile is one that occurred.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactDistribution {
    counts: BTreeMap<Latency, u64>,
    count: u64,
}

impl FromIterator<Latency> for ExactDistribution {
    fn from_iter<I: IntoIterator<Item = Latency>>(durations: I) -> Self {
        let mut all = Self::default();
        durations.into_iter().for_each(|latency| all.add(latency));
        all
    }
}

/// Of durations, each with how often it is there.
impl FromIterator<(Latency, u64)> for ExactDistribution {
    fn from_iter<I: IntoIterator<Item = (Latency, u64)>>(counted: I) -> Self {
        let mut all = Self::default();
        counted.into_iter().for_each(|(latency, count)| all.add_times(latency, count));
        all
    }
}

impl ExactDistribution {
    /// Adds a duration.
    pub fn add(&mut self, latency: Latency) {
        self.add_times(latency, 1);
    }

    fn add_times(&mut self, latency: Latency, count: u64) {
        *self.counts.entry(latency).or_default() += count;
        self.count += count;
    }

    /// The number of durations.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The `percent`th percentile in seconds; `None` without durations.
    pub fn at(&self, percent: usize) -> Option<f64> {
        let rank = (self.count * percent as u64).div_ceil(100).max(1);
        let mut until = 0;
        let mut counts = self.counts.iter();
        let found = counts.find(|(_, count)| {
            until += **count;
            until >= rank
        });
        found.map(|(latency, _)| latency.as_seconds_f64())
    }

    /// The 99th percentile in seconds; `None` of fewer than [`LEAST_OF_P99`] durations.
    pub fn p99(&self) -> Option<f64> {
        self.at(99).filter(|_| self.count >= LEAST_OF_P99)
    }

    /// The shortest of the `slowest` longest durations, and how many of them take as long; `None` of none.
    pub fn least_of_slowest(&self, slowest: u64) -> Option<(Latency, u64)> {
        let mut left = slowest.min(self.count);
        for (latency, count) in self.counts.iter().rev() {
            if left <= *count {
                return Some((*latency, left)).filter(|_| left > 0);
            }
            left -= count;
        }
        None
    }
}

/// Very many durations, counted. Each quantile is right to a thousandth.
#[derive(Clone, Debug)]
pub struct CountedDurations {
    counts: Histogram<u32>,
    nanos_per_unit: u64,
}

impl CountedDurations {
    /// An empty set. It counts durations in units of `nanos_per_unit` nanoseconds.
    pub fn new(nanos_per_unit: u64) -> Self {
        // The crate accepts three digits.
        let counts = Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are valid"));
        Self { counts, nanos_per_unit }
    }

    /// Counts a duration.
    pub fn add(&mut self, latency: Latency) {
        // A histogram that grows takes every duration that is observed, at most 30 days.
        let _ = self.counts.record(latency.as_nanos() / self.nanos_per_unit);
    }

    /// Takes out a duration that was counted.
    pub fn remove(&mut self, latency: Latency) {
        let mut one = Self::new(self.nanos_per_unit);
        one.add(latency);
        // It is among them, so that no count falls below zero.
        let _ = self.counts.subtract(&one.counts);
    }

    /// Counts all durations of another set with the same unit.
    pub fn merge(&mut self, other: &Self) {
        // A histogram that grows takes all that another holds.
        let _ = self.counts.add(&other.counts);
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// The `percent`th percentile in seconds; `None` without durations.
    pub fn at(&self, percent: u8) -> Option<f64> {
        let value = self.counts.value_at_quantile(f64::from(percent) / 100.0);
        let units = self.counts.median_equivalent(value) as f64;
        let units_per_second = 1e9 / self.nanos_per_unit as f64;
        (!self.counts.is_empty()).then(|| units / units_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_occurred() {
        let seconds = [3, 1, 2, 10].map(|seconds| Latency::from_nanos(seconds * 1_000_000_000));
        let values: ExactDistribution = seconds.into_iter().collect();
        assert_eq!(
            [0, 50, 51, 100].map(|percent| values.at(percent)),
            [1.0, 2.0, 3.0, 10.0].map(Some)
        );
        assert_eq!(values.p99(), None);
        assert_eq!(nearest_rank::<f64>(&[], 50), None);
    }

    #[test]
    fn what_was_counted_can_be_taken_out() {
        let mut counted = CountedDurations::new(1_000_000);
        assert_eq!((counted.count(), counted.at(50)), (0, None));
        let millis = |millis: u64| Latency::from_nanos(millis * 1_000_000);
        [1_000, 2_000, 1_500].into_iter().for_each(|latency| counted.add(millis(latency)));
        counted.remove(millis(1_500));
        let mut all = CountedDurations::new(1_000_000);
        all.merge(&counted);
        assert_eq!((all.count(), all.at(50), all.at(90)), (2, Some(1.0), Some(2.0)));
    }
}
