//! Sinks of a tracker that keep the records of startups that have ended.

use podinit_core::lifecycle::{EndedStartup, LabelHold, Observation, Observer};
use podinit_core::pod::PodInfo;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::Recorder;
use podinit_oncall::records::RecordStore;

/// The records alone.
#[derive(Default)]
pub struct Kept(pub RecordStore);

impl Observer for Kept {
    fn ended(&mut self, startup: EndedStartup) {
        self.0.add(startup);
    }
}

/// What was counted, and the records.
pub struct Counted {
    pub recorder: Recorder,
    pub records: RecordStore,
}

impl Observer for Counted {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }

    fn ended(&mut self, startup: EndedStartup) {
        self.records.add(startup);
    }

    fn hold(&mut self, now: Timestamp, pod: &PodInfo) -> LabelHold {
        self.recorder.hold(now, pod)
    }

    fn release(&mut self, now: Timestamp, hold: LabelHold) {
        self.recorder.release(now, hold);
    }
}
