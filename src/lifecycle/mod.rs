//! Pod lifecycle accounting: from snapshots of pods to observations.

pub mod delivery;
pub mod milestone;
pub mod observation;
pub mod stage;
