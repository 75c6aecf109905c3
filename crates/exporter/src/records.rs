//! Who keeps the records of startups ([§11](crate::specification#s11)) and answers for them, as somebody gives it to an
//! exporter.

use std::sync::Arc;
use std::task::{Context, Poll};

pub use podinit_checkpoint::{CheckpointRecords, KeptRecord, MOST_KEPT};
use podinit_core::lifecycle::{EndedRollout, EndedStartup, RecordAmendment, Tracker};
use podinit_core::pod::PodUid;

/// Keeps records for the task that accounts, and answers whoever asks for them. It is asked for steps: each is
/// short, and between them the task accounts for deliveries.
pub trait RecordKeeper: Send + Sync {
    /// Keeps a startup that has ended.
    fn add(&mut self, startup: Arc<EndedStartup>);

    /// Takes what became of a pod after its startup, if that is kept.
    fn amend(&mut self, uid: PodUid, amendment: &RecordAmendment);

    /// Keeps a rollout that has ended.
    fn add_rollout(&mut self, rollout: EndedRollout);

    /// What a checkpoint holds of it. Copies no record.
    fn kept(&self) -> CheckpointRecords;

    /// Keeps these of an earlier process, and nothing else.
    fn restore(&mut self, kept: CheckpointRecords);

    /// The accounting has begun: from now on there are steps.
    fn begin(&mut self);

    /// Ready when somebody asks.
    fn poll_asked(&mut self, context: &mut Context<'_>) -> Poll<()>;

    /// Takes a step of an answer. Does nothing where nobody asks.
    fn step(&mut self, tracker: &Tracker);
}

/// Keeps nothing, for an exporter that nobody asks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoRecords;

impl RecordKeeper for NoRecords {
    fn add(&mut self, _startup: Arc<EndedStartup>) {}

    fn amend(&mut self, _uid: PodUid, _amendment: &RecordAmendment) {}

    fn add_rollout(&mut self, _rollout: EndedRollout) {}

    fn kept(&self) -> CheckpointRecords {
        CheckpointRecords::default()
    }

    fn restore(&mut self, _kept: CheckpointRecords) {}

    fn begin(&mut self) {}

    fn poll_asked(&mut self, _context: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    fn step(&mut self, _tracker: &Tracker) {}
}
