//! The ingest task's part of the checkpoint: what it knows between two deliveries it writes down in steps, with
//! further deliveries between them.

use tokio::sync::{mpsc, oneshot};

use crate::CheckpointGauges;
use crate::ingest_sink::IngestSink;
use podinit_checkpoint::content::{CheckpointContent, SavedScope, UnsealedCheckpoint};
use podinit_core::lifecycle::Tracker;

/// What is known at one moment.
pub(crate) enum StateSnapshot {
    /// The same as in the snapshot before
    Unchanged,
    /// A checkpoint that is still to be finished and written
    Changed(Box<UnsealedCheckpoint>),
}

/// Asks for a snapshot.
pub(crate) struct SnapshotRequest {
    /// Also when nothing has changed since the one before, which was not written
    pub(super) again: bool,
    pub(super) answer: oneshot::Sender<StateSnapshot>,
}

/// Answers requests for snapshots. Each holds at least what any scrape had shown before the
/// request: what a scrape reads is written by the ingest task, whole deliveries at a time, and by
/// the list-watches, whose counters are read again here.
pub struct SnapshotService {
    requests: mpsc::Receiver<SnapshotRequest>,
    scope: SavedScope,
    /// Changes besides what the recorder has observed
    changes: u64,
    /// The state of the last snapshot
    last: Option<ComparedState>,
    /// The one that is being taken
    taken: Option<SnapshotInProgress>,
}

/// A snapshot whose pods are being added.
struct SnapshotInProgress {
    file: Box<UnsealedCheckpoint>,
    answer: oneshot::Sender<StateSnapshot>,
}

/// What is compared to find out whether a snapshot would differ from the last one.
#[derive(Clone, Copy, PartialEq)]
struct ComparedState {
    changes: u64,
    observations: u64,
    /// What all counters have counted together, but those of the checkpoint itself, which every
    /// snapshot that is written changes
    counted: u64,
}

impl SnapshotService {
    /// For a process without a checkpoint: there are never requests.
    pub(crate) fn none() -> Self {
        let (_, requests) = mpsc::channel(1);
        Self::new(requests)
    }

    pub(super) fn new(requests: mpsc::Receiver<SnapshotRequest>) -> Self {
        Self { requests, scope: SavedScope::default(), changes: 0, last: None, taken: None }
    }

    /// From now on the pods are those of `scope`.
    pub(super) fn begin(&mut self, scope: SavedScope) {
        self.scope = scope;
    }

    /// Something was accounted for.
    pub(crate) const fn changed(&mut self) {
        self.changes += 1;
    }

    /// The next request, once the one before is answered; `None` when there will be none any more.
    pub(crate) async fn requested(&mut self) -> Option<SnapshotRequest> {
        match self.taken {
            Some(_) => std::future::pending().await,
            None => self.requests.recv().await,
        }
    }

    /// Begins to answer a request. What is known at this moment is what is written.
    pub(crate) fn begin_answer(
        &mut self,
        request: SnapshotRequest,
        tracker: &mut Tracker,
        sink: &IngestSink,
    ) {
        let SnapshotRequest { again, answer } = request;
        let recorder = &sink.recorder;
        let families = recorder.saved_families();
        let state = ComparedState {
            changes: self.changes,
            observations: recorder.observations(),
            counted: families.total_without(&CheckpointGauges::FAMILIES),
        };
        if !again && self.last == Some(state) {
            // The requester may have given up.
            let _ = answer.send(StateSnapshot::Unchanged);
            return;
        }
        self.last = Some(state);
        let mut metrics = recorder.saved_with(families);
        CheckpointGauges::count_write_in(&mut metrics.families);
        let content = CheckpointContent {
            scope: self.scope.clone(),
            tracker: tracker.begin_saving(),
            metrics,
            records: sink.records.kept(),
        };
        let file = Box::new(UnsealedCheckpoint::begin(content, tracker.remembered()));
        self.taken = Some(SnapshotInProgress { file, answer });
    }

    /// Whether a snapshot is being taken.
    pub(crate) const fn is_taking(&self) -> bool {
        self.taken.is_some()
    }

    /// Adds some of the pods to the snapshot that is being taken: a thousand, which take a tenth of a millisecond,
    /// or two milliseconds if all of them are in flight.
    pub(crate) fn step(&mut self, tracker: &mut Tracker) {
        if let Some(SnapshotInProgress { mut file, answer }) = self.taken.take() {
            if file.add_chunk(tracker) {
                self.taken = Some(SnapshotInProgress { file, answer });
            } else {
                // The requester may have given up.
                let _ = answer.send(StateSnapshot::Changed(file));
            }
        }
    }

    /// Adds all that is left, before so many pods change that to keep them as they were takes longer.
    pub(crate) fn finish(&mut self, tracker: &mut Tracker) {
        while self.is_taking() {
            self.step(tracker);
        }
    }
}
