//! What travels between readers and the owner of the records.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::query::{Answer, Position, Query};
use podinit_core::lifecycle::{EndedStartup, RecordedRelapse};
use podinit_core::timestamp::Timestamp;

/// A query, and where its answer goes.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) query: Query,
    pub(super) answer: oneshot::Sender<Found>,
}

/// What was found.
#[derive(Debug)]
pub(super) enum Found {
    /// Records of pods in flight: only the owner can make them
    Made(Answer),
    /// Startups that have ended, and how the pods crash again that do: whoever asks makes the records
    Kept {
        now: Option<Timestamp>,
        startups: Vec<(Arc<EndedStartup>, Option<RecordedRelapse>)>,
        next: Option<Position>,
    },
}
