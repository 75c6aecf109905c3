//! What a checkpoint holds, section by section.
//!
//! | tag | section | |
//! |---|---|---|
//! | 1 | `scope` | which cluster, which of its pods and which shard of them, and with which pod labels |
//! | 2 | `tracker` | time, sources, SLOs, nodes, deleted pods |
//! | 3 | `pods` | those that are starting up or finished |
//! | 4 | `metrics` | the counters of every room, by family, and the histograms |
//! | 5 | `records` | the records of startups that have ended |
//!
//! A section is one value or several, in the [form](super::form) in which each value says what it is. What this podinit
//! does not know of a value, of a section or of its counters is skipped and counted; what a file lacks has its default.
//! So every podinit reads the checkpoints of earlier and of later ones, and a counter begins at zero only where it is
//! new.

mod records;
mod section;
mod shared;
mod unsealed;

use serde::{Deserialize, Serialize};

pub use self::section::ContentError;
pub use self::unsealed::{Unsealed, encode};

use self::section::{METRICS, PODS, RECORDS, SCOPE, TRACKER, corrupt, value, values};
use self::shared::SharedValues;
use super::frame::Sections;
use crate::inspect::records::KeptRecords;
use crate::metrics::saved::SavedMetrics;
use podinit_core::lifecycle::{SavedPod, SavedTracker};
use podinit_core::shard::Shard;

/// Everything that outlives the process, except for the pods, which are many and stand beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Which pods the rest is about
    pub scope: SavedScope,
    /// What the tracker knows
    pub tracker: SavedTracker,
    /// What has been counted
    pub metrics: SavedMetrics,
    /// The records of startups that have ended
    pub records: KeptRecords,
}

/// Which pods a checkpoint is about: the cluster, and which of its pods were watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedScope {
    /// A fingerprint of the API server's URL
    pub server: [u8; 32],
    /// A fingerprint of the certificates that the API server was verified with
    pub authority: [u8; 32],
    /// By source
    pub watched: Vec<Watched>,
    /// Which shard of them
    pub shard: Shard,
    /// The keys of the pod labels whose values are saved with the pods
    pub pod_labels: Vec<String>,
}

/// What one list-watch covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watched {
    /// The namespace; `None` for all
    pub namespace: Option<String>,
    /// The label selector
    pub label: Option<String>,
    /// The field selector
    pub field: Option<String>,
}

/// What was read of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Everything but the pods
    pub content: Content,
    /// The pods that are starting up or finished
    pub pods: Vec<SavedPod>,
    /// How many fields, values, labels, families and sections were skipped because this podinit does not know them
    pub skipped: u64,
}

/// Reads a checkpoint whose frame was found whole.
///
/// # Errors
/// If it holds something that cannot be.
pub fn decode(file: &Sections<'_>) -> Result<Decoded, ContentError> {
    let (scope, of_scope) = value(file, SCOPE)?;
    let (tracker, of_tracker) = value::<SavedTracker>(file, TRACKER)?;
    tracker.check().map_err(|what| ContentError::Impossible(TRACKER, what))?;
    let mut shared = SharedValues::default();
    let (pods, of_pods) = pods(file, tracker.rules.len(), &mut shared)?;
    let (mut metrics, of_metrics) = value::<SavedMetrics>(file, METRICS)?;
    let of_families = metrics.adapt();
    let impossible = |what| ContentError::Impossible(METRICS, what);
    metrics.check().map_err(impossible)?;
    metrics.check_holds().map_err(impossible)?;
    let (records, of_records) = match file.get(RECORDS) {
        None => (KeptRecords::default(), 0),
        Some(_) => {
            let mut values = values(file, RECORDS)?;
            (records::read(&mut values, &mut shared)?, values.skipped())
        }
    };
    let known = [SCOPE, TRACKER, PODS, METRICS, RECORDS];
    let sections = file.iter().filter(|(tag, _)| !known.contains(tag)).count() as u64;
    let skipped = [of_scope, of_tracker, of_pods, of_metrics, of_families, of_records, sections];
    let content = Content { scope, tracker, metrics, records };
    Ok(Decoded { content, pods, skipped: skipped.iter().sum() })
}

/// The pods of a checkpoint with `slos` SLOs, and how much was skipped of them.
fn pods(
    file: &Sections<'_>,
    slos: usize,
    shared: &mut SharedValues,
) -> Result<(Vec<SavedPod>, u64), ContentError> {
    let mut values = values(file, PODS)?;
    let mut pods = Vec::new();
    while let Some(pod) = values.next().map_err(corrupt(PODS))? {
        let pod: Option<SavedPod> = pod;
        let Some(mut pod) = pod else { continue };
        if let Some(pod) = pod.in_flight_mut() {
            pod.check(slos).map_err(|what| ContentError::Impossible(PODS, what))?;
            shared.share(pod);
        }
        pods.push(pod);
    }
    Ok((pods, values.skipped()))
}

#[cfg(test)]
mod evolution_tests;
#[cfg(test)]
mod fuzz_seeds_tests;
#[cfg(test)]
mod tests;
