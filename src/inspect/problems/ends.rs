//! The newest startups that have ended, which affected pods are compared with.

use crate::inspect::records::Newest;
use podinit_core::lifecycle::{EndedStartup, Observation, Observer, Record, Sink, Tracker};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

/// The newest startups that have ended.
#[derive(Default)]
pub(super) struct Ends(Newest<EndedStartup>);

impl Ends {
    /// Their records, as a finding takes them.
    pub(super) fn records(&self, tracker: &Tracker) -> Vec<Record> {
        let records = self.0.iter();
        records.map(|startup| tracker.record_of(startup)).collect()
    }

    /// Whether there is a record of the pod.
    pub(super) fn has(&self, uid: PodUid) -> bool {
        self.0.iter().any(|startup| startup.uid() == uid)
    }
}

impl Observer for Ends {
    fn observe(&mut self, _now: Timestamp, _observation: Observation<'_>) {}
}

impl Sink for Ends {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.push(startup.outcome(), startup);
    }
}
