//! Takes in what the tracker observes, for a report.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::model::{InFlight, IntervalSummary, Report};
use super::slowest::Slowest;
use crate::lifecycle::clock::TimestampMode;
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::observation::{
    AnomalyKind, Latency, Observation, Outcome, PodObservation, Position, Sink, TrackerObservation,
    UnobservedReason,
};
use crate::lifecycle::stage::{Interval, Stage};
use crate::metrics::layout::CLASSIC_BOUNDS;
use crate::pod::PodInfo;
use crate::timestamp::Timestamp;

/// Durations go into the histograms in microseconds.
const NANOS_PER_UNIT: u64 = 1_000;
const UNITS_PER_SECOND: f64 = 1e6;
/// Thirty days, the longest latency there is ([§4.6](crate::specification#s4-6)).
const LONGEST: u64 = 30 * 24 * 3600 * 1_000_000;

/// The durations of one interval.
struct Durations {
    quantiles: Histogram<u32>,
    range: Option<(Latency, Latency)>,
}

impl Durations {
    fn new() -> Self {
        // Three significant digits and these bounds are within what the crate accepts; the
        // histogram without bounds that stands in otherwise grows as needed.
        let quantiles = Histogram::new_with_max(LONGEST, 3)
            .or_else(|_| Histogram::new(3))
            .unwrap_or_else(|_| unreachable!("three significant digits are valid"));
        Self {
            quantiles,
            range: None,
        }
    }

    fn add(&mut self, latency: Latency) {
        self.quantiles
            .saturating_record(latency.as_nanos() / NANOS_PER_UNIT);
        let (min, max) = self.range.unwrap_or((latency, latency));
        self.range = Some((min.min(latency), max.max(latency)));
    }

    fn summary(&self, interval: Interval) -> IntervalSummary {
        let bounds = self
            .range
            .map(|(min, max)| (min.as_seconds_f64(), max.as_seconds_f64()));
        let quantile = |quantile: f64| {
            let (min, max) = bounds?;
            let value = self.quantiles.value_at_quantile(quantile);
            let value = self.quantiles.median_equivalent(value) as f64 / UNITS_PER_SECOND;
            Some(three_digits(value).clamp(min, max))
        };
        IntervalSummary {
            interval: interval.as_str(),
            count: self.quantiles.len(),
            min: bounds.map(|(min, _)| min),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: bounds.map(|(_, max)| max),
        }
    }
}

/// Rounds to the three significant digits that a quantile is exact to.
fn three_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let scale = 10f64.powf(2.0 - value.log10().floor());
    (value * scale).round() / scale
}

/// Everything that a report is made of.
pub(super) struct Collector {
    span: Option<(Timestamp, Timestamp)>,
    discovered: u64,
    finished: [u64; Outcome::ALL.len()],
    in_flight: [u64; Stage::ALL.len()],
    oldest: [Option<Timestamp>; Stage::ALL.len()],
    durations: [Durations; Interval::ALL.len()],
    buckets: [u64; CLASSIC_BOUNDS.len() + 1],
    unobserved: [[u64; UnobservedReason::ALL.len()]; Stage::ALL.len()],
    anomalies: [u64; AnomalyKind::ALL.len()],
    reentries: BTreeMap<&'static str, u64>,
    slowest: Slowest,
}

impl Collector {
    pub(super) fn new(top: usize) -> Self {
        Self {
            span: None,
            discovered: 0,
            finished: Default::default(),
            in_flight: Default::default(),
            oldest: Default::default(),
            durations: std::array::from_fn(|_| Durations::new()),
            buckets: [0; CLASSIC_BOUNDS.len() + 1],
            unobserved: Default::default(),
            anomalies: Default::default(),
            reentries: Milestone::REENTERABLE
                .map(|milestone| (milestone.as_str(), 0))
                .into(),
            slowest: Slowest::new(top),
        }
    }

    fn moved(&mut self, from: Position, to: Position) {
        match from {
            Position::Undiscovered => self.discovered += 1,
            Position::InFlight(stage) => self.in_flight[stage as usize] -= 1,
            Position::Finished(outcome) => self.finished[outcome as usize] -= 1,
        }
        match to {
            Position::Undiscovered => {}
            Position::InFlight(stage) => self.in_flight[stage as usize] += 1,
            Position::Finished(outcome) => self.finished[outcome as usize] += 1,
        }
    }

    fn measured(&mut self, pod: &PodInfo, interval: Interval, latency: Latency) {
        self.durations[interval.index()].add(latency);
        if interval == Interval::ScheduledToReady {
            let seconds = latency.as_seconds_f64();
            self.buckets[CLASSIC_BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
            self.slowest.add(pod, latency);
        }
    }

    pub(super) fn report(self, timestamps: TimestampMode) -> Report {
        let stages = Stage::ALL.into_iter();
        let in_flight = stages.zip(self.in_flight).zip(self.oldest);
        let in_flight =
            in_flight
                .filter(|((_, pods), _)| *pods > 0)
                .map(|((stage, pods), oldest)| {
                    (
                        stage.as_str(),
                        InFlight {
                            pods,
                            oldest_entered: oldest.map(rfc3339),
                        },
                    )
                });
        let intervals = Interval::ALL.into_iter().zip(&self.durations);
        let bounds = CLASSIC_BOUNDS.iter().copied().map(Some).chain([None]);
        let unobserved =
            Stage::ALL
                .into_iter()
                .zip(self.unobserved)
                .flat_map(|(stage, reasons)| {
                    let reasons = UnobservedReason::ALL.into_iter().zip(reasons);
                    reasons.map(move |(reason, count)| (stage.as_str(), reason.as_str(), count))
                });
        Report {
            from: self.span.map(|(from, _)| rfc3339(from)),
            to: self.span.map(|(_, to)| rfc3339(to)),
            timestamps: timestamps.as_str(),
            discovered: self.discovered,
            finished: Outcome::ALL
                .map(Outcome::as_str)
                .into_iter()
                .zip(self.finished)
                .collect(),
            in_flight: in_flight.collect(),
            intervals: intervals
                .map(|(interval, all)| all.summary(interval))
                .collect(),
            scheduled_to_ready: bounds.zip(self.buckets).collect(),
            unobserved: unobserved.filter(|(_, _, count)| *count > 0).collect(),
            clock_anomalies: AnomalyKind::ALL
                .map(AnomalyKind::as_str)
                .into_iter()
                .zip(self.anomalies)
                .collect(),
            reentries: self.reentries,
            slowest: self.slowest.into_pods(),
        }
    }
}

impl Sink for Collector {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(pod, observation) => self.observe_pod(pod, observation),
            Observation::Tracker(TrackerObservation::Advanced { .. }) => self.advanced(now),
            // A recording is read without a cap on pods, and a report says nothing of gaps.
            Observation::Tracker(
                TrackerObservation::GapClosed { .. } | TrackerObservation::Evicted(_),
            ) => {}
        }
    }
}

impl Collector {
    fn advanced(&mut self, now: Timestamp) {
        if now > Timestamp::EPOCH {
            let (from, _) = self.span.unwrap_or((now, now));
            self.span = Some((from, now));
        }
    }

    fn observe_pod(&mut self, pod: &PodInfo, observation: PodObservation) {
        match observation {
            PodObservation::Moved { from, to } => self.moved(from, to),
            PodObservation::OldestInFlight { stage, entered } => {
                self.oldest[stage as usize] = entered;
            }
            PodObservation::Measured { interval, latency } => self.measured(pod, interval, latency),
            PodObservation::Unobserved { stage, reason } => {
                self.unobserved[stage as usize][reason as usize] += 1;
            }
            PodObservation::Reentered(milestone) => {
                *self.reentries.entry(milestone.as_str()).or_default() += 1;
            }
            PodObservation::Anomaly(kind) => self.anomalies[kind as usize] += 1,
            PodObservation::Bound
            | PodObservation::Slo { .. }
            | PodObservation::Refused(_)
            | PodObservation::Delivered(_) => {}
        }
    }
}

fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(at.as_nanos()))
        .map_or_else(|_| String::from("unknown"), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_whole_seconds_are_whole_seconds() {
        let mut durations = Durations::new();
        for second in 1..=100 {
            durations.add(Latency::from_nanos(second * 1_000_000_000));
        }
        let summary = durations.summary(Interval::ScheduledToReady);
        assert_eq!(
            [
                summary.min,
                summary.p50,
                summary.p90,
                summary.p95,
                summary.p99,
                summary.max
            ],
            [1.0, 50.0, 90.0, 95.0, 99.0, 100.0].map(Some)
        );
    }

    #[test]
    fn an_interval_without_durations_has_no_quantiles() {
        let summary = Durations::new().summary(Interval::CreatedToReady);
        assert_eq!((summary.count, summary.p50, summary.max), (0, None, None));
    }

    #[test]
    fn three_digits_are_kept() {
        for (value, rounded) in [(0.0, 0.0), (12_345.0, 12_300.0), (0.012_345, 0.012_3)] {
            assert!((three_digits(value) - rounded).abs() < 1e-9);
        }
    }
}
