//! The newest startups that have ended, which affected pods are compared with.

use std::collections::VecDeque;

use podinit_core::lifecycle::{EndedStartup, Observation, Observer, Record, Sink};
use podinit_core::problems::MOST_RECORDS;
use podinit_core::timestamp::Timestamp;

/// The newest startups that have ended, the oldest of them first.
#[derive(Default)]
pub(super) struct Newest(VecDeque<EndedStartup>);

impl Newest {
    /// Their records.
    pub(super) fn records(&self) -> Vec<Record> {
        self.0.iter().map(EndedStartup::record).collect()
    }
}

impl Observer for Newest {
    fn observe(&mut self, _now: Timestamp, _observation: Observation<'_>) {}
}

impl Sink for Newest {
    fn ended(&mut self, startup: EndedStartup) {
        if self.0.len() == MOST_RECORDS {
            self.0.pop_front();
        }
        self.0.push_back(startup);
    }
}
