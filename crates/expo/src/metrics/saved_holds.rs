//! Which label values have a pod, as it is kept while no process runs.

use serde::{Deserialize, Serialize};

/// A hold as it is saved: the position of its label set among those saved, and the place of its namespace. `None`
/// where no pod has it.
pub type SavedHold = Option<(u32, u32)>;

/// Since when label values and sets are without a pod, and what the holds of pods name, as plain values that outlive
/// the process. A time is in nanoseconds since the Unix epoch; `None` where there is a pod or it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedHolds {
    /// By label and value, in the order of [`SavedLabels`](super::label_sets::SavedLabels)
    pub values: Vec<Vec<Option<i64>>>,
    /// By label set
    pub sets: Vec<Option<i64>>,
    /// By namespace of SLO events
    pub slo_namespaces: Vec<Option<i64>>,
    /// Whether SLO events are counted by namespace
    pub has_slo_namespaces: bool,
    /// By the number of the hold, from 1 on
    pub holds: Vec<SavedHold>,
    /// The events of SLOs in namespaces whose series have ended: the name, the good ones and the bad ones
    pub ended_events: Vec<(String, u64, u64)>,
}

impl SavedHolds {
    /// Whether nothing is said, as in a checkpoint of an earlier podinit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
