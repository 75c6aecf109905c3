//! The ingest task's part of the checkpoint: between two deliveries, it writes down what it knows.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::access::{AccessStats, SavedAccess};
use crate::checkpoint::content::{self, Content, SavedScope};
use crate::checkpoint::frame::Writer;
use crate::lifecycle::Tracker;
use crate::metrics::{CheckpointGauges, ClockFamilies, Recorder};
use crate::watch::saved::SavedStats;
use crate::watch::stats::WatchStats;

/// What is known at one moment.
pub(in crate::run) enum Snapshot {
    /// What the snapshot before has said
    Unchanged,
    /// A checkpoint that is still to be hashed and written
    Changed(Writer),
}

/// Asks for a snapshot.
pub(in crate::run) struct Request {
    /// Also when nothing has changed since the one before, which was not written
    pub(super) again: bool,
    pub(super) answer: oneshot::Sender<Snapshot>,
}

/// Answers requests for snapshots. Each holds at least what any scrape was shown before it was
/// asked for: what a scrape reads is written by the ingest task, whole deliveries at a time, and by
/// the list-watches, whose counters are read again here.
pub(in crate::run) struct Snapshots {
    requests: mpsc::Receiver<Request>,
    scope: SavedScope,
    gauges: Arc<CheckpointGauges>,
    others: Option<Others>,
    /// Changes besides what the recorder has observed
    changes: u64,
    /// The state of the last snapshot
    last: Option<State>,
}

/// Tells whether two snapshots would say the same.
#[derive(PartialEq)]
struct State {
    changes: u64,
    observations: u64,
    watch: SavedStats,
    access: SavedAccess,
    clock_steps: u64,
}

/// Who else counts.
pub(in crate::run) struct Others {
    /// The access control of the server
    pub(in crate::run) access: Arc<AccessStats>,
    /// The clock
    pub(in crate::run) clock: Arc<ClockFamilies>,
}

impl Snapshots {
    /// For a process without a checkpoint: nothing is ever asked for.
    pub(in crate::run) fn none() -> Self {
        let (_, requests) = mpsc::channel(1);
        Self::new(requests, Arc::default())
    }

    pub(super) fn new(requests: mpsc::Receiver<Request>, gauges: Arc<CheckpointGauges>) -> Self {
        Self {
            requests,
            scope: SavedScope::default(),
            gauges,
            others: None,
            changes: 0,
            last: None,
        }
    }

    /// From now on the pods are those of `scope`, and `others` count too.
    pub(super) fn begin(&mut self, scope: SavedScope, others: Others) {
        self.scope = scope;
        self.others = Some(others);
    }

    /// Something was accounted for.
    pub(in crate::run) const fn changed(&mut self) {
        self.changes += 1;
    }

    /// The next request; `None` when there will be none any more.
    pub(in crate::run) async fn requested(&mut self) -> Option<Request> {
        self.requests.recv().await
    }

    /// Answers a request. Building the bytes takes some milliseconds for each 100,000 pods.
    pub(in crate::run) fn answer(
        &mut self,
        request: Request,
        tracker: &Tracker,
        recorder: &Recorder,
        stats: &WatchStats,
    ) {
        let others = self.others.as_ref();
        let state = State {
            changes: self.changes,
            observations: recorder.observations(),
            watch: stats.saved(),
            access: others
                .map(|others| others.access.saved())
                .unwrap_or_default(),
            clock_steps: others.map_or(0, |others| others.clock.steps()),
        };
        let unchanged = !request.again && self.last.as_ref() == Some(&state);
        let snapshot = if unchanged {
            Snapshot::Unchanged
        } else {
            let content = Content {
                scope: self.scope.clone(),
                tracker: tracker.saved(),
                metrics: recorder.saved(),
                watch: state.watch,
                access: state.access,
                clock_steps: state.clock_steps,
                checkpoint: self.gauges.saved_by_success(),
            };
            Snapshot::Changed(content::encode(&content, tracker.saved_pods()))
        };
        self.last = Some(state);
        // Whoever asked may have given up.
        let _ = request.answer.send(snapshot);
    }
}
