//! The durations of one interval, and their quantiles.

use std::borrow::Cow;

use super::summary::IntervalSummary;
use podinit_core::lifecycle::Latency;
use podinit_core::quantile::{CountedDurations, LEAST_OF_P99};
use podinit_text::human_time::seconds;

/// They are counted in microseconds.
const NANOS_PER_UNIT: u64 = 1_000;

/// The durations of one interval.
pub(super) struct IntervalDurations {
    counted: CountedDurations,
    range: Option<(Latency, Latency)>,
}

impl Default for IntervalDurations {
    fn default() -> Self {
        Self { counted: CountedDurations::new(NANOS_PER_UNIT), range: None }
    }
}

impl IntervalDurations {
    pub(super) fn add(&mut self, latency: Latency) {
        self.counted.add(latency);
        let (min, max) = self.range.unwrap_or((latency, latency));
        self.range = Some((min.min(latency), max.max(latency)));
    }

    /// Adds all durations of another set.
    pub(super) fn merge(&mut self, other: &Self) {
        self.counted.merge(&other.counted);
        let ranges = [self.range, other.range].into_iter().flatten();
        self.range = ranges.reduce(|(min, max), (least, most)| (min.min(least), max.max(most)));
    }

    /// The summary of what was added, under this name.
    pub(super) fn summary(&self, interval: impl Into<Cow<'static, str>>) -> IntervalSummary {
        let bounds = self.range.map(|(min, max)| (min.as_seconds_f64(), max.as_seconds_f64()));
        let quantile = |percent| {
            let (min, max) = bounds?;
            Some(three_digits(self.counted.at(percent)?, f64::round).clamp(min, max))
        };
        let count = self.counted.count();
        IntervalSummary {
            interval: interval.into(),
            count,
            min: bounds.map(|(min, _)| min),
            p50: quantile(50),
            p90: quantile(90),
            p95: quantile(95),
            p99: quantile(99).filter(|_| count >= LEAST_OF_P99),
            max: bounds.map(|(_, max)| max),
        }
    }
}

/// Seconds with three significant digits: `8.14s`, `2m5s`; `round` says which way.
pub(crate) fn three_digit_seconds(value: f64, round: fn(f64) -> f64) -> String {
    seconds(three_digits(value, round))
}

/// Three significant digits, the precision of the quantiles; `round` says which way.
fn three_digits(value: f64, round: fn(f64) -> f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let scale = 10f64.powf(2.0 - value.log10().floor());
    // What has three digits already stays what it is, although a binary fraction may lie beside it.
    let nearest = (value * scale).round();
    let is_exact = (value * scale - nearest).abs() < 1e-6;
    (if is_exact { nearest } else { round(value * scale) }) / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_whole_seconds_are_whole_seconds() {
        let mut durations = IntervalDurations::default();
        for second in 1..=100 {
            durations.add(Latency::from_nanos(second * 1_000_000_000));
        }
        let summary = durations.summary("scheduled_to_ready");
        assert_eq!(
            [summary.min, summary.p50, summary.p90, summary.p95, summary.p99, summary.max],
            [1.0, 50.0, 90.0, 95.0, 99.0, 100.0].map(Some)
        );
    }

    #[test]
    fn an_interval_without_durations_has_no_quantiles() {
        let summary = IntervalDurations::default().summary("created_to_ready");
        assert_eq!((summary.count, summary.p50, summary.max), (0, None, None));
    }

    #[test]
    fn the_99th_percentile_needs_a_hundred_durations() {
        let mut durations = IntervalDurations::default();
        for second in 1..100 {
            durations.add(Latency::from_nanos(second * 1_000_000_000));
        }
        let summary = durations.summary("scheduled_to_ready");
        assert_eq!((summary.p95, summary.p99), (Some(95.0), None));
        durations.add(Latency::from_nanos(100_000_000_000));
        assert_eq!(durations.summary("scheduled_to_ready").p99, Some(99.0));
    }

    #[test]
    fn three_digits_are_rounded_as_it_is_asked_for() {
        let both = |value| [f64::floor, f64::ceil].map(|round| three_digits(value, round));
        assert_eq!(both(1.338), [1.33, 1.34]);
        assert_eq!(both(1.34), [1.34, 1.34]);
        assert_eq!(both(0.3 - 0.1), [0.2, 0.2]);
    }

    #[test]
    fn three_digits_are_kept() {
        for (value, rounded) in [(0.0, 0.0), (12_345.0, 12_300.0), (0.012_345, 0.012_3)] {
            assert!((three_digits(value, f64::round) - rounded).abs() < 1e-9);
        }
    }
}
