//! The ingest task's part of the checkpoint: between two deliveries, it writes down what it knows.

use tokio::sync::{mpsc, oneshot};

use crate::checkpoint::content::{self, Content, SavedScope, Unsealed};
use crate::exporter::ingest_sink::IngestSink;
use crate::metrics::CheckpointGauges;
use podinit_core::lifecycle::Tracker;

/// What is known at one moment.
pub(crate) enum Snapshot {
    /// The same as in the snapshot before
    Unchanged,
    /// A checkpoint that is still to be finished and written
    Changed(Unsealed),
}

/// Asks for a snapshot.
pub(crate) struct Request {
    /// Also when nothing has changed since the one before, which was not written
    pub(super) again: bool,
    pub(super) answer: oneshot::Sender<Snapshot>,
}

/// Answers requests for snapshots. Each holds at least what any scrape had shown before the
/// request: what a scrape reads is written by the ingest task, whole deliveries at a time, and by
/// the list-watches, whose counters are read again here.
pub(crate) struct Snapshots {
    requests: mpsc::Receiver<Request>,
    scope: SavedScope,
    /// Changes besides what the recorder has observed
    changes: u64,
    /// The state of the last snapshot
    last: Option<ComparedState>,
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

impl Snapshots {
    /// For a process without a checkpoint: there are never requests.
    pub(crate) fn none() -> Self {
        let (_, requests) = mpsc::channel(1);
        Self::new(requests)
    }

    pub(super) fn new(requests: mpsc::Receiver<Request>) -> Self {
        Self {
            requests,
            scope: SavedScope::default(),
            changes: 0,
            last: None,
        }
    }

    /// From now on the pods are those of `scope`.
    pub(super) fn begin(&mut self, scope: SavedScope) {
        self.scope = scope;
    }

    /// Something was accounted for.
    pub(crate) const fn changed(&mut self) {
        self.changes += 1;
    }

    /// The next request; `None` when there will be none any more.
    pub(crate) async fn requested(&mut self) -> Option<Request> {
        self.requests.recv().await
    }

    /// Answers a request. Building the bytes takes some milliseconds for each 100,000 pods.
    pub(crate) fn answer(&mut self, request: Request, tracker: &Tracker, sink: &IngestSink) {
        let recorder = &sink.recorder;
        let families = recorder.saved_families();
        let state = ComparedState {
            changes: self.changes,
            observations: recorder.observations(),
            counted: families.total_without(&CheckpointGauges::FAMILIES),
        };
        let unchanged = !request.again && self.last == Some(state);
        let snapshot = if unchanged {
            Snapshot::Unchanged
        } else {
            let mut metrics = recorder.saved_with(families);
            CheckpointGauges::count_write_in(&mut metrics.families);
            let content = Content {
                scope: self.scope.clone(),
                tracker: tracker.saved(),
                metrics,
                records: sink.records.kept(),
            };
            Snapshot::Changed(content::encode(&content, tracker.saved_pods()))
        };
        self.last = Some(state);
        // The requester may have given up.
        let _ = request.answer.send(snapshot);
    }
}
