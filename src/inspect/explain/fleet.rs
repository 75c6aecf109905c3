//! How long other pods took, to compare one with.

use hdrhistogram::Histogram;

use podinit_core::lifecycle::{Interval, Latency, Record};
use podinit_core::pod::PodUid;

/// The histograms count milliseconds.
const NANOS_PER_UNIT: u64 = 1_000_000;

/// The durations of all pods that are known, by interval, in bounded memory.
#[derive(Clone, Debug)]
pub struct Fleet([Histogram<u32>; Interval::ALL.len()]);

impl Default for Fleet {
    /// No pods.
    fn default() -> Self {
        // The crate accepts three digits.
        let empty = || Histogram::new(3).unwrap_or_else(|_| unreachable!("3 digits are valid"));
        Self(std::array::from_fn(|_| empty()))
    }
}

impl Fleet {
    /// The durations of these records, but for that of the pod that is compared with them.
    pub fn of_records(records: &[Record], compared: PodUid) -> Self {
        let mut fleet = Self::default();
        for record in records.iter().filter(|record| record.uid != compared) {
            for interval in Interval::ALL {
                if let Some(latency) = record.duration(interval) {
                    fleet.add(interval, latency);
                }
            }
        }
        fleet
    }

    /// Counts a duration.
    pub fn add(&mut self, interval: Interval, latency: Latency) {
        let millis = latency.as_nanos() / NANOS_PER_UNIT;
        // A histogram that grows takes every duration that is observed, at most 30 days.
        let _ = self.0[interval.index()].record(millis);
    }

    /// Takes out the durations of a record, which were counted.
    pub fn remove(&mut self, record: &Record) {
        for interval in Interval::ALL {
            if let Some(latency) = record.duration(interval) {
                let mut one = Self::default();
                one.add(interval, latency);
                let index = interval.index();
                // It is among them, so that no count falls below zero.
                let _ = self.0[index].subtract(&one.0[index]);
            }
        }
    }

    /// The median of an interval in seconds; `None` if none was observed.
    pub fn median(&self, interval: Interval) -> Option<f64> {
        let durations = &self.0[interval.index()];
        let median = durations.median_equivalent(durations.value_at_quantile(0.5));
        (!durations.is_empty()).then(|| median as f64 / 1e3)
    }

    /// How many pods were ready.
    pub fn pods(&self) -> u64 {
        self.0[Interval::CreatedToReady.index()].len()
    }
}
