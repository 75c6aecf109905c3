//! Where the ingest task puts what the tracker reports.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::records::{NoRecords, RecordKeeper};
use crate::traces::TraceSink;
use podinit_core::lifecycle::{
    EndedRollout, EndedStartup, LabelObserver, Observation, Observer, PodObservation, PodState,
    RecordAmendment, TrackerObservation,
};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::Recorder;
use podinit_kube::watch::stats::WatchStats;

/// Counts what the tracker observes, keeps the startups that have ended, and has them sent as traces.
pub struct IngestSink {
    pub(crate) recorder: Recorder,
    pub(crate) records: Box<dyn RecordKeeper>,
    /// Only if there is a collector of traces
    pub(crate) traces: Option<TraceSink>,
    /// The list-watches, which are told of deletions that they have not delivered
    pub(crate) watch: Option<Arc<WatchStats>>,
    /// Whether a list is being accounted for, and not an event
    pub(crate) lists: bool,
    /// Whether a pod was seen to start from its beginning
    pub(crate) saw_new: Arc<AtomicBool>,
}

impl IngestSink {
    /// Keeps no record yet.
    pub fn new(recorder: Recorder) -> Self {
        Self {
            recorder,
            records: Box::new(NoRecords),
            traces: None,
            watch: None,
            lists: false,
            saw_new: Arc::default(),
        }
    }

    /// Has `records` keep startups that have ended.
    pub(super) fn keeping(self, records: Option<Box<dyn RecordKeeper>>) -> Self {
        Self { records: records.unwrap_or(self.records), ..self }
    }

    /// Has startups sent as traces, if there is a collector, and tells the list-watches of deletions.
    pub fn telling(mut self, traces: Option<TraceSink>, watch: &Arc<WatchStats>) -> Self {
        self.traces = traces;
        self.watch = Some(Arc::clone(watch));
        self
    }
}

impl Observer for IngestSink {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        if let Observation::Pod(_, PodObservation::Moved { from, .. }) = observation
            && from == PodState::Undiscovered
            && !self.lists
        {
            self.saw_new.store(true, Relaxed);
        }
        if let Observation::Tracker(TrackerObservation::DeletionLost(source)) = observation
            && let Some(watch) = &self.watch
        {
            watch.lose_deletion(source);
        }
        self.recorder.observe(now, observation);
    }

    fn ended(&mut self, startup: EndedStartup) {
        let startup = Arc::new(startup);
        if let Some(traces) = self.traces.as_ref().filter(|traces| (traces.offer)(&startup)) {
            let uid = startup.uid();
            self.recorder.link_trace(&startup, |interval| (traces.span)(uid, interval));
        }
        self.records.add(startup);
    }

    fn amended(&mut self, uid: PodUid, amendment: &RecordAmendment) {
        self.records.amend(uid, amendment);
    }

    fn rollout_ended(&mut self, rollout: EndedRollout) {
        self.records.add_rollout(rollout);
    }

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(&mut self.recorder)
    }
}
