//! The records that running exporters have kept, which a report takes instead of a recording.

use std::collections::HashSet;

use podinit_core::lifecycle::Record;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

/// What running exporters have kept.
#[derive(Clone, Debug, Default)]
pub struct ExporterRecords {
    /// The newest startups that have ended, 1,000 of each exporter at most
    pub ended: Vec<Record>,
    /// The pods in flight
    pub in_flight: Vec<Record>,
    /// The slowest of the last hour. They are named and no more: figures of startups that are kept because they
    /// were slow would be too high
    pub slow: Vec<Record>,
    /// Up to which instant everything was accounted for
    pub time: Option<Timestamp>,
}

impl ExporterRecords {
    /// Leaves each startup in one place alone: two exporters may know one pod, and a pod may end between two questions.
    pub fn make_unique(&mut self) {
        let mut known: HashSet<PodUid> = HashSet::new();
        for records in [&mut self.ended, &mut self.in_flight, &mut self.slow] {
            records.retain(|record| known.insert(record.uid));
        }
    }

    /// The startups that figures are made of.
    pub fn in_account(&self) -> impl Iterator<Item = &Record> {
        self.ended.iter().chain(&self.in_flight)
    }
}
