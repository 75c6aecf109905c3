//! What a checkpoint says, section by section.
//!
//! | tag | section | |
//! |---|---|---|
//! | 1 | `origin` | which cluster, which of its pods, with which pod labels |
//! | 2 | `books` | time, sources, SLOs, deleted pods |
//! | 3 | `pods` | those that are starting up or done |
//! | 4 | `metrics` | counters and histograms |
//! | 5 | `watch` | what the list-watches counted |
//! | 6 | `checkpoint` | what the checkpoint counted of itself |
//! | 7 | `access` | what the access control of the server counted |
//! | 8 | `clock` | how often the machine's clock was stepped |
//!
//! Values of labels (outcomes, reasons, stages) are written by their names, and histogram cells
//! under the bounds that they have, so that a later podinit may add to both. A name that this
//! podinit does not know was written by a later one, and the checkpoint is set aside for that one:
//! leaving it out would lower a counter.

mod books;
mod counts;
mod ids;
mod metrics;
mod origin;
mod pods;
mod texts;

pub use origin::{Origin, Watched};

use super::codec::{DecodeError, Decoder};
use super::frame::{Sections, Writer};
use super::store::Reason;
use crate::access::SavedAccess;
use crate::lifecycle::saved::{SavedPod, SavedTracker};
use crate::metrics::SavedCheckpoint;
use crate::metrics::saved::SavedMetrics;
use crate::watch::saved::SavedStats;

const ORIGIN: u32 = 1;
const BOOKS: u32 = 2;
const PODS: u32 = 3;
const METRICS: u32 = 4;
const WATCH: u32 = 5;
const CHECKPOINT: u32 = 6;
const ACCESS: u32 = 7;
const CLOCK: u32 = 8;

/// Everything that outlives the process; the pods stand beside it, since there are many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whose pods they are
    pub origin: Origin,
    /// What the tracker knows
    pub tracker: SavedTracker,
    /// What has been counted
    pub metrics: SavedMetrics,
    /// What the list-watches have counted
    pub watch: SavedStats,
    /// What the checkpoint has counted of itself
    pub checkpoint: SavedCheckpoint,
    /// What the access control of the server has counted
    pub access: SavedAccess,
    /// How often the machine's clock was stepped
    pub clock_steps: u64,
}

/// Why a checkpoint that is whole says nothing that this podinit can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// A section is missing
    #[error("it has no section {0}")]
    Missing(u32),
    /// The bytes of a section are not what they should be
    #[error("section {section}: {error}")]
    Malformed {
        /// The tag of the section
        section: u32,
        /// What is wrong in it
        error: DecodeError,
    },
    /// A name that only a later podinit can have written
    #[error("it counts {what} {name:?}, which this podinit does not know")]
    Unknown {
        /// What it names
        what: &'static str,
        /// The name
        name: String,
    },
}

impl ContentError {
    /// The reason for setting the checkpoint aside.
    pub const fn reason(&self) -> Reason {
        match self {
            Self::Missing(_) | Self::Malformed { .. } => Reason::Corrupt,
            Self::Unknown { .. } => Reason::FutureVersion,
        }
    }
}

impl From<DecodeError> for ContentError {
    /// The section is filled in by [`decode`].
    fn from(error: DecodeError) -> Self {
        Self::Malformed { section: 0, error }
    }
}

/// Writes a checkpoint. The bytes are hashed by [`Writer::finish`], which need not be waited for by
/// whoever owns the pods.
pub fn encode(content: &Content, pods: impl Iterator<Item = SavedPod>) -> Writer {
    let mut file = Writer::begin();
    file.section(ORIGIN, |out| content.origin.put(out));
    file.section(BOOKS, |out| books::put(out, &content.tracker));
    file.section(PODS, |out| pods::put(out, pods));
    file.section(METRICS, |out| metrics::put(out, &content.metrics));
    file.section(WATCH, |out| counts::put_watch(out, &content.watch));
    file.section(CHECKPOINT, |out| {
        counts::put_checkpoint(out, &content.checkpoint)
    });
    file.section(ACCESS, |out| counts::put_access(out, &content.access));
    file.section(CLOCK, |out| out.number(content.clock_steps));
    file
}

/// Reads a checkpoint that was found whole.
///
/// # Errors
/// Where it says something that cannot be, or that this podinit does not know.
pub fn decode(file: &Sections<'_>) -> Result<(Content, Vec<SavedPod>), ContentError> {
    let tracker = section(file, BOOKS, books::take)?;
    let slos = tracker.rules.len();
    let pods = section(file, PODS, |from| pods::take(from, slos))?;
    let content = Content {
        origin: section(file, ORIGIN, Origin::take)?,
        tracker,
        metrics: section(file, METRICS, metrics::take)?,
        watch: section(file, WATCH, counts::take_watch)?,
        checkpoint: section(file, CHECKPOINT, counts::take_checkpoint)?,
        access: section(file, ACCESS, counts::take_access)?,
        clock_steps: section(file, CLOCK, |from| Ok(from.number()?))?,
    };
    Ok((content, pods))
}

fn section<T>(
    file: &Sections<'_>,
    tag: u32,
    take: impl FnOnce(&mut Decoder<'_>) -> Result<T, ContentError>,
) -> Result<T, ContentError> {
    let mut payload = file.get(tag).ok_or(ContentError::Missing(tag))?;
    let taken = take(&mut payload).and_then(|value| {
        payload.finish()?;
        Ok(value)
    });
    taken.map_err(|error| match error {
        ContentError::Malformed { error, .. } => ContentError::Malformed {
            section: tag,
            error,
        },
        other => other,
    })
}

#[cfg(test)]
mod by_hand_tests;
#[cfg(test)]
mod tests;
