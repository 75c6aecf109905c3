//! Sinks of a tracker that keep the records of startups that have ended.

use podinit_core::lifecycle::{EndedRollout, EndedStartup, LabelObserver, Observation, Observer};
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

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.0.add_rollout(rollout);
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

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(&mut self.recorder)
    }
}
