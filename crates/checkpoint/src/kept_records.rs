//! What a checkpoint holds of the records of startups ([§11](crate::specification#s11)).

use std::sync::Arc;

use podinit_core::lifecycle::{EndedRollout, EndedStartup};

/// A checkpoint holds at most so many records.
pub const MOST_KEPT: usize = 3_200;

/// A record that is kept. Its number tells it from the others, and says in which order startups ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecord {
    pub number: u64,
    pub startup: Arc<EndedStartup>,
}

/// What a checkpoint holds of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointRecords {
    /// How many records there have been, kept or not
    pub count: u64,
    /// Those that are kept, at most [`MOST_KEPT`], the oldest first
    pub records: Vec<KeptRecord>,
    /// The newest rollouts that have ended ([§17.5](crate::specification#s17-5)), the oldest first
    pub rollouts: Vec<Arc<EndedRollout>>,
}
