//! What is observed of rollouts ([§17.5](crate::specification#s17-5)).

use serde::{Deserialize, Serialize};

use super::held_time::HeldNanos;
use super::rollout::{RolloutHolder, RolloutOutcome};
use super::workload_pods::RolloutWorkload;
use crate::timestamp::Timestamp;

/// One event of the rollouts of one workload that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutObservation {
    /// A pod with a revision is known that does not live: the series of the workload exist
    Known,
    /// The workload has a part from now on, at which its series exist
    Entered,
    /// It has none any more
    Left,
    /// A rollout begins (`from` is `None`), ends (`to` is `None`), or is held by something else
    Held { from: Option<RolloutHolder>, to: Option<RolloutHolder> },
    /// A rollout was held for so many nanoseconds
    HeldFor { by: RolloutHolder, nanos: u64 },
    /// A rollout ended, whose end counts; after so many nanoseconds if it completed and both ends are known
    Ended { outcome: RolloutOutcome, nanos: Option<u64> },
    /// The pods of a workload have no part, since too many workloads are known
    Refused,
}

/// A rollout that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedRollout {
    /// What rolled out
    pub workload: RolloutWorkload,
    /// How it ended
    pub outcome: RolloutOutcome,
    /// When it began; a guess if it was found in progress
    pub began: Timestamp,
    /// When it ended
    pub ended: Timestamp,
    /// Whether both are known
    #[serde(default)]
    pub is_exact: bool,
    /// A first list has shown it in progress
    #[serde(default)]
    pub found: bool,
    /// How many pods were wanted
    #[serde(default)]
    pub wanted: u32,
    /// For how long each has held it
    #[serde(default)]
    pub held: HeldNanos,
}
