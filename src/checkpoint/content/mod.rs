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
//!
//! An optional section is missing where there is nothing to say, and in a checkpoint of an earlier podinit. A
//! section with any other tag is one of a later podinit, and ignored.
//!
//! A section is the serde form of a `Saved...` type, written with postcard; the pods are one such
//! value after the other. Label values (outcomes, reasons, stages) are written by name, and
//! histogram cells under their bounds, so that a later podinit may add to both. A name that this
//! podinit does not know was written by a later one, and the checkpoint is set aside for that one:
//! ignoring the name would lower a counter.

mod collected;
mod pods;
mod records;

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use self::pods::SharedTexts;
use super::frame::{Sections, Writer};
use crate::lifecycle::{SavedPod, SavedTracker, UnreadWaiting};
use crate::metrics::CheckpointLoad;
use crate::metrics::saved::SavedMetrics;
use crate::records::KeptRecords;
use crate::shard::Shard;

const SCOPE: u32 = 1;
const TRACKER: u32 = 2;
const PODS: u32 = 3;
const METRICS: u32 = 4;
const SHARD: u32 = 5;
const COLLECTED: u32 = 6;
const RECORDS: u32 = 7;

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
        Self {
            index: shard.index(),
            count: shard.count().get(),
        }
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

/// Why a checkpoint that is whole cannot be used by this podinit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A section is missing
    #[error("it has no section {0}")]
    Missing(u32),
    /// The bytes of a section are no value of its type
    #[error("section {0}: {1}")]
    Bytes(u32, postcard::Error),
    /// A section holds a value that cannot be
    #[error("section {0}: {1}")]
    Impossible(u32, &'static str),
    /// A name that only a later podinit can have written
    #[error("it counts {0}, which this podinit does not know")]
    Unknown(String),
    /// A stage and a cause that only a later podinit can have written
    #[error("a pod waited in {0}, which this podinit does not know")]
    UnknownWaiting(String),
}

impl ContentError {
    /// The reason for setting the checkpoint aside.
    pub const fn reason(&self) -> CheckpointLoad {
        match self {
            // The checksum matched, and a variant or a name is none of this podinit's.
            Self::Unknown(_)
            | Self::UnknownWaiting(_)
            | Self::Bytes(_, postcard::Error::SerdeDeCustom) => CheckpointLoad::FutureVersion,
            Self::Missing(_) | Self::Bytes(..) | Self::Impossible(..) => CheckpointLoad::Corrupt,
        }
    }
}

/// A checkpoint that lacks its records and its checksum: the task that owns the pods need not wait for
/// them.
#[derive(Clone, Debug)]
pub struct Unfinished {
    file: Writer,
    records: KeptRecords,
}

impl Unfinished {
    /// The complete file.
    pub fn finish(self) -> Vec<u8> {
        let Self { mut file, records } = self;
        if records.count > 0 {
            file.section(RECORDS, |out| records::write(out, &records));
        }
        file.finish()
    }
}

/// Writes a checkpoint, but for what [`Unfinished::finish`] does.
pub fn encode(content: &Content, pods: impl Iterator<Item = SavedPod>) -> Unfinished {
    let mut file = Writer::begin();
    file.section(SCOPE, |out| append(out, &content.scope));
    if content.scope.shard != Shard::ALL {
        let saved = SavedShard::from(content.scope.shard);
        file.section(SHARD, |out| append(out, &saved));
    }
    file.section(TRACKER, |out| append(out, &content.tracker));
    let mut collected = Vec::new();
    file.section(PODS, |out| {
        for pod in pods {
            append(out, &pod);
            if let SavedPod::InFlight(pod) = &pod {
                collected::write(&mut collected, &pod.collected);
            }
        }
    });
    if !collected.is_empty() {
        file.section(COLLECTED, |out| out.extend(collected));
    }
    file.section(METRICS, |out| append(out, &content.metrics));
    Unfinished {
        file,
        records: content.records.clone(),
    }
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
        collected::read(payload, &mut pods)?;
    }
    let records = file.get(RECORDS);
    let records = records.map(|payload| records::read(payload, &mut texts));
    let content = Content {
        scope: SavedScope {
            shard: shard(file)?,
            ..value(file, SCOPE)?
        },
        tracker,
        metrics: metrics(file)?,
        records: records.transpose()?.unwrap_or_default(),
    };
    Ok((content, pods))
}

/// Appends the bytes of `value`.
#[expect(
    clippy::expect_used,
    reason = "memory takes every byte, and derived forms know the lengths that postcard asks for"
)]
fn append<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    postcard::serialize_with_flavor(value, Append(out)).expect("a saved value can be written");
}

/// Where postcard writes to.
struct Append<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Append<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    // Most numbers of a pod take one byte, which is cheaper to push than to copy.
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
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

fn payload<'a>(file: &Sections<'a>, tag: u32) -> Result<&'a [u8], ContentError> {
    file.get(tag).ok_or(ContentError::Missing(tag))
}

/// The value with which `bytes`, of the section `tag`, begin. Takes it off them.
fn take<'a, T: Deserialize<'a>>(bytes: &mut &'a [u8], tag: u32) -> Result<T, ContentError> {
    let fault = |error| ContentError::Bytes(tag, error);
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(fault)?;
    *bytes = rest;
    Ok(value)
}

/// Why a section `tag` cannot be used that names a pair of stage and cause in this way.
fn unread(tag: u32) -> impl Fn(UnreadWaiting) -> ContentError {
    move |why| match why {
        UnreadWaiting::Unnamed => ContentError::Impossible(tag, "no such stage and cause"),
        UnreadWaiting::Unknown(name) => ContentError::UnknownWaiting(name),
    }
}

/// The one value that fills a section.
fn value<'a, T: Deserialize<'a>>(file: &Sections<'a>, tag: u32) -> Result<T, ContentError> {
    let mut bytes = payload(file, tag)?;
    let value = take(&mut bytes, tag)?;
    match bytes {
        [] => Ok(value),
        _ => Err(ContentError::Impossible(tag, "bytes are left over")),
    }
}

/// The counters and histograms, of which this podinit must know every one.
fn metrics(file: &Sections<'_>) -> Result<SavedMetrics, ContentError> {
    let metrics: SavedMetrics = value(file, METRICS)?;
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
mod fuzz_seeds_tests;
#[cfg(test)]
mod tests;
