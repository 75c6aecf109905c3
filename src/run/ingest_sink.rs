//! Where the ingest task puts what the tracker reports.

use crate::lifecycle::{EndedStartup, Observation, Sink};
use crate::metrics::Recorder;
use crate::records::RecordStore;
use crate::timestamp::Timestamp;

/// Counts what the tracker observes, and keeps the startups that have ended.
pub(super) struct IngestSink {
    pub(super) recorder: Recorder,
    pub(super) records: RecordStore,
}

impl IngestSink {
    /// Keeps no record yet.
    pub(super) fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            records: RecordStore::default(),
        }
    }
}

impl Sink for IngestSink {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }

    fn ended(&mut self, startup: EndedStartup) {
        self.records.add(startup);
    }
}
