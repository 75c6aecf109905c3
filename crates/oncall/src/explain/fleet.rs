//! The durations of other pods, with which one is compared.

use podinit_core::lifecycle::{Interval, Latency, Record};
use podinit_core::pod::PodUid;
use podinit_core::quantile::CountedDurations;

/// Durations are counted in milliseconds.
const NANOS_PER_UNIT: u64 = 1_000_000;

/// The durations of all pods that are known, by interval, in bounded memory.
#[derive(Clone, Debug)]
pub struct FleetDurations([CountedDurations; Interval::ALL.len()]);

impl Default for FleetDurations {
    /// No pods.
    fn default() -> Self {
        Self(std::array::from_fn(|_| CountedDurations::new(NANOS_PER_UNIT)))
    }
}

impl FleetDurations {
    /// The durations of `records`, without those of the pod `compared`.
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
        self.0[interval.index()].add(latency);
    }

    /// Takes out the durations of a record, which were counted.
    pub fn remove(&mut self, record: &Record) {
        for interval in Interval::ALL {
            if let Some(latency) = record.duration(interval) {
                self.0[interval.index()].remove(latency);
            }
        }
    }

    /// The median of an interval in seconds; `None` if none was observed.
    pub fn median(&self, interval: Interval) -> Option<f64> {
        self.0[interval.index()].at(50)
    }

    /// The number of pods that became ready.
    pub fn pods(&self) -> u64 {
        self.0[Interval::CreatedToReady.index()].count()
    }
}
