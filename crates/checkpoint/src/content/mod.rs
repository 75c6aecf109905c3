//! What a checkpoint holds, section by section.
//!
//! | tag | section | |
//! |---|---|---|
//! | 1 | `scope` | which cluster, which of its pods and which shard of them, and with which pod labels |
//! | 2 | `tracker` | time, sources, SLOs, nodes, deleted pods |
//! | 3 | `pods` | those that are starting up or finished |
//! | 4 | `metrics` | the counters of every crate, by family, and the histograms |
//! | 5 | `records` | the records of startups that have ended |
//! | 6 | `shapes` | how the values of the others are written |
//!
//! A section is one value or several, of which the shapes (`checkpoint::shape`) say what they are. What this podinit
//! does not know of a value, of a section or of its counters is skipped and counted; what a file lacks has its default.
//! So every podinit reads the checkpoints of earlier and of later ones, and a counter begins at zero only where it is
//! new.

mod pods;
mod records;
mod section;
mod shared;
mod unsealed;

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use self::section::ContentError;
pub use self::unsealed::{UnsealedCheckpoint, encode};

use self::pods::InFlight;
use self::records::{Record, RecordsHead};
use self::section::{METRICS, PODS, RECORDS, SCOPE, SHAPES, TRACKER, TypedFile, append};
use self::shared::{Shared, SharedTexts};
use super::frame::CheckpointSections;
use super::shape::{SavedType, Shapes};
use crate::CheckpointRecords;
use podinit_core::lifecycle::{SavedFinished, SavedPod, SavedTracker};
use podinit_core::shard::Shard;
use podinit_expo::metrics::saved::SavedMetrics;
use podinit_instruments::FamilyDoc;

/// Everything that outlives the process, except for the pods, which are many and stand beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointContent {
    /// Which pods the rest is about
    pub scope: SavedScope,
    /// What the tracker knows
    pub tracker: SavedTracker,
    /// What has been counted
    pub metrics: SavedMetrics,
    /// The records of startups that have ended
    pub records: CheckpointRecords,
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
    /// What the values are of that are saved with the pods: keys of pod labels, and paths of fields of the spec, such as
    /// `.spec.schedulerName`
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
pub struct DecodedCheckpoint {
    /// Everything but the pods
    pub content: CheckpointContent,
    /// The pods that are starting up or finished
    pub pods: Vec<SavedPod>,
    /// How many fields, values, labels, families and sections were skipped because this podinit does not know them
    pub skipped: u64,
}

/// The shapes of all types that a checkpoint holds.
fn shapes() -> &'static Shapes {
    static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
        Shapes::default()
            .with::<SavedScope>()
            .with::<SavedTracker>()
            .with::<SavedFinished>()
            .with::<InFlight>()
            .with::<Shared>()
            .with::<SavedMetrics>()
            .with::<RecordsHead>()
            .with::<Record>()
    });
    &SHAPES
}

/// Their bytes, which are those of every checkpoint of this process.
fn written_shapes() -> &'static [u8] {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut bytes = Vec::new();
        append(&mut bytes, shapes());
        bytes
    });
    &BYTES
}

impl SavedType for SavedScope {
    const NAME: &'static str = "SavedScope";
}

impl SavedType for SavedTracker {
    const NAME: &'static str = "SavedTracker";

    fn check(&self) -> Result<(), &'static str> {
        self.check()
    }
}

impl SavedType for SavedMetrics {
    const NAME: &'static str = "SavedMetrics";
}

/// Reads a checkpoint whose frame was found whole. `families` are those that this podinit can expose: counters of others
/// are skipped.
///
/// # Errors
/// If it holds something that cannot be.
pub fn decode(
    file: &CheckpointSections<'_>,
    families: &[FamilyDoc],
) -> Result<DecodedCheckpoint, ContentError> {
    decode_telling(file, families, |_| {})
}

/// The same, and tells now and then how many percent of the pods have been read.
///
/// # Errors
/// Those of [`decode`].
pub fn decode_telling(
    file: &CheckpointSections<'_>,
    families: &[FamilyDoc],
    tell: impl FnMut(u64),
) -> Result<DecodedCheckpoint, ContentError> {
    let typed = TypedFile::new(file, shapes())?;
    let (scope, of_scope) = typed.value(SCOPE)?;
    let (tracker, of_tracker) = typed.value::<SavedTracker>(TRACKER)?;
    let mut texts = SharedTexts::default();
    let (pods, of_pods) = pods::read(&typed, &tracker.rules, &mut texts, tell)?;
    let (mut metrics, of_metrics) = typed.value::<SavedMetrics>(METRICS)?;
    let of_families = metrics.adapt(families);
    let misfits = metrics.keep_what_fits();
    let of_misfits = match misfits.first() {
        // What another version lacks may have made them so.
        Some(_) if !typed.is_same::<SavedMetrics>() => misfits.len() as u64,
        Some(what) => return Err(ContentError::Impossible(METRICS, what)),
        None => 0,
    };
    let (records, of_records) = records::read(&typed, &mut texts)?;
    let known = [SCOPE, TRACKER, PODS, METRICS, RECORDS, SHAPES];
    let sections = file.iter().filter(|(tag, _)| !known.contains(tag)).count() as u64;
    let of_metrics = of_metrics + of_families + of_misfits;
    let skipped = [of_scope, of_tracker, of_pods, of_metrics, of_records, sections];
    let content = CheckpointContent { scope, tracker, metrics, records };
    Ok(DecodedCheckpoint { content, pods, skipped: skipped.iter().sum() })
}

#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod evolution_tests;
#[cfg(test)]
mod fuzz_seeds_tests;
#[cfg(test)]
mod tests;
