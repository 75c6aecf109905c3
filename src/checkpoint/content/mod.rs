//! What a checkpoint holds, section by section.
//!
//! | tag | section | |
//! |---|---|---|
//! | 1 | `scope` | which cluster, which of its pods, and with which pod labels |
//! | 2 | `tracker` | time, sources, SLOs, deleted pods |
//! | 3 | `pods` | those that are starting up or finished |
//! | 4 | `metrics` | the counters of every room, by family, and the histograms |
//! | 5 | `shard` | which shard of these pods; missing for all of them |
//! | 6 | `collected` | of each pod that is starting up, what its record has collected; optional |
//! | 7 | `records` | the records of startups that have ended; optional |
//! | 8 | `start times` | since when families and label sets count; optional |
//! | 9 | `shown` | of each pod that is starting up, what else its newest version shows; optional |
//! | 10 | `capacity` | of pods and records that are or were unschedulable, what autoscalers have said; optional |
//! | 11 | `evidence` | what nodes and Events tell of startups, and the nodes; optional |
//! | 12 | `endings` | how the pods of records ended; optional |
//! | 13 | `marks` | which pods in flight have run a container, and which were Ready lately; optional |
//! | 14 | `crashes` | the pods that crash right after they were ready; optional |
//! | 15 | `holds` | which label values have a pod, and since when others have none; optional |
//! | 16 | `claims` | what the pods of records claim; optional |
//! | 17 | `hints` | what Events say of pods and gives no cause; optional |
//!
//! An optional section is missing where there is nothing to say, and in a checkpoint of an earlier podinit. A
//! section with any other tag is one of a later podinit, and ignored.
//!
//! A section is the serde form of a type, written with postcard; the pods are one such
//! value after the other. Label values (outcomes, reasons, stages) are written by name, and
//! histogram cells under their bounds, so that a later podinit may add to both. A name that this
//! podinit does not know was written by a later one, and the checkpoint is set aside for that one:
//! ignoring the name would lower a counter.

mod capacity;
mod claims;
mod collected;
mod endings;
mod evidence;
mod hints;
mod holds;
mod marks;
mod pods;
mod records;
mod section;
mod unsealed;

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

pub use self::section::ContentError;
pub use self::unsealed::{Unsealed, encode};

use self::capacity::Capacities;
use self::evidence::SavedEvidence;
use self::marks::Marks;
use self::pods::SharedTexts;
#[cfg(test)]
use self::section::append;
use self::section::{
    CAPACITY, CLAIMS, COLLECTED, CRASHES, ENDINGS, EVIDENCE, HINTS, HOLDS, MARKS, METRICS, PODS,
    RECORDS, SCOPE, SHARD, SHOWN, START_TIMES, TRACKER, payload, value,
};
use super::frame::Sections;
#[cfg(test)]
use super::frame::Writer;
use crate::inspect::records::KeptRecords;
use crate::metrics::saved::SavedMetrics;
use podinit_core::lifecycle::{SavedCrash, SavedPod, SavedTracker};
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
pub struct SavedScope {
    /// A fingerprint of the API server's URL
    pub server: [u8; 32],
    /// A fingerprint of the certificates that the API server was verified with
    pub authority: [u8; 32],
    /// By source
    pub watched: Vec<Watched>,
    /// Which shard of them
    #[serde(skip)]
    pub shard: Shard,
    /// The keys of the pod labels whose values are saved with the pods
    pub pod_labels: Vec<String>,
}

/// A shard, as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedShard {
    index: u64,
    count: u64,
}

impl From<Shard> for SavedShard {
    fn from(shard: Shard) -> Self {
        Self { index: shard.index(), count: shard.count().get() }
    }
}

/// What one list-watch covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The namespace; `None` for all
    pub namespace: Option<String>,
    /// The label selector
    pub label: Option<String>,
    /// The field selector
    pub field: Option<String>,
}

/// Reads a checkpoint whose frame was found whole.
///
/// # Errors
/// If it holds something that cannot be, or that this podinit does not know.
pub fn decode(file: &Sections<'_>) -> Result<(Content, Vec<SavedPod>), ContentError> {
    let tracker: SavedTracker = value(file, TRACKER)?;
    let slos = tracker.rules.len();
    let mut texts = SharedTexts::default();
    let mut pods = pods::read(payload(file, PODS)?, slos, &mut texts)?;
    if let Some(payload) = file.get(COLLECTED) {
        collected::read(payload, &mut pods, &mut texts)?;
    }
    collected::read_shown(file.get(SHOWN), &mut pods)?;
    match file.get(MARKS) {
        Some(_) => value::<Marks>(file, MARKS)?.give(&mut pods)?,
        None => marks::give_none(&mut pods),
    }
    if file.get(HINTS).is_some() {
        hints::give(value(file, HINTS)?, &mut pods)?;
    }
    let capacities = Capacities::read(file.get(CAPACITY), &mut texts)?;
    let of_records = capacities.give(&mut pods)?;
    let records = file.get(RECORDS);
    let records = records.map(|payload| records::read(payload, of_records, &mut texts));
    let mut content = Content {
        scope: SavedScope { shard: shard(file)?, ..value(file, SCOPE)? },
        tracker,
        metrics: metrics(file)?,
        records: records.transpose()?.unwrap_or_default(),
    };
    if let Some(payload) = file.get(ENDINGS) {
        endings::give(payload, &mut content.records.records)?;
    }
    if file.get(CLAIMS).is_some() {
        claims::give(value(file, CLAIMS)?, &mut content.records.records)?;
    }
    if file.get(EVIDENCE).is_some() {
        let evidence: SavedEvidence = value(file, EVIDENCE)?;
        let Content { metrics, tracker, records, .. } = &mut content;
        evidence.distribute(metrics, tracker, records, &mut pods)?;
    }
    if file.get(HOLDS).is_some() {
        holds::distribute(value(file, HOLDS)?, &mut content.metrics, &mut pods)?;
    }
    if file.get(CRASHES).is_some() {
        let crashes: Vec<SavedCrash> = value(file, CRASHES)?;
        let impossible = |what| ContentError::Impossible(CRASHES, what);
        SavedCrash::check(&crashes).map_err(impossible)?;
        content.tracker.crashes = crashes;
    }
    Ok((content, pods))
}

/// The shard of the pods; all of them where nothing is said.
fn shard(file: &Sections<'_>) -> Result<Shard, ContentError> {
    if file.get(SHARD).is_none() {
        return Ok(Shard::ALL);
    }
    let SavedShard { index, count } = value(file, SHARD)?;
    let shard = NonZeroU64::new(count).and_then(|count| Shard::new(index, count));
    shard.ok_or(ContentError::Impossible(SHARD, "no such shard"))
}

/// The counters and histograms, of which this podinit must know every one.
fn metrics(file: &Sections<'_>) -> Result<SavedMetrics, ContentError> {
    let mut metrics: SavedMetrics = value(file, METRICS)?;
    if file.get(START_TIMES).is_some() {
        metrics.starts = value(file, START_TIMES)?;
    }
    if let Some(unknown) = metrics.unknown() {
        return Err(ContentError::Unknown(unknown));
    }
    let impossible = |what| ContentError::Impossible(METRICS, what);
    metrics.check().map_err(impossible)?;
    Ok(metrics)
}

#[cfg(test)]
mod by_hand_tests;
#[cfg(test)]
mod capacity_tests;
#[cfg(test)]
mod endings_tests;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod fuzz_seeds_tests;
#[cfg(test)]
mod start_times_tests;
#[cfg(test)]
mod tests;
