//! Replays recordings through the pipeline ([§8.2](crate::specification#s8-2)): the same decoder, tracker and
//! metrics as `serve`, with the time that the recording states instead of a clock.
//!
//! ```text
//! documents → steps (shape: is it one moment? a watch without a list?) ─┬─ one moment, at its end ─▶ pages of one list ─┐
//!                                                                       └─ anything else, in order ────────────────────┴─▶ deliveries
//! ```

mod config;
mod deliveries;
mod exposition;
mod first_pods;
mod held;
mod replay_clock;
mod shape;
mod steps;
mod streamed_list;

use std::sync::Arc;

use crate::reader::RecordingDocument;
use podinit_core::lifecycle::{Observer, Tracker};
use podinit_core::timestamp::Timestamp;
use podinit_kube::watch::stats::WatchStats;
use steps::ReplaySteps;

pub use config::{MomentRule, ReplayConfig};
pub use exposition::{ExpositionConfig, expose};
pub use held::LoneList;

/// A recording at its end, or that of its [`ReplayConfig`].
pub struct ReplayEnd<S> {
    pub sink: S,
    /// With the pods that are in flight
    pub tracker: Tracker,
    /// What tells its time, if the recording shows one moment and was taken so
    pub lone_list: Option<LoneList>,
}

/// Replays `documents`. `new_sink` makes an empty sink; it is called again if the recording turns out to begin with a
/// streamed list. `see` sees every document before, and whether all up to it may be a lone list
/// ([§13.2](crate::specification#s13-2)).
///
/// # Errors
/// The first error among the documents: nothing is said of a part of a recording. Those of `new_sink`.
pub fn replayed<S: Observer, E>(
    documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
    config: ReplayConfig,
    new_sink: impl Fn(&Arc<WatchStats>) -> Result<S, E>,
    see: impl FnMut(&RecordingDocument, bool),
) -> Result<ReplayEnd<S>, E> {
    replayed_with_looks(documents, config, new_sink, see, |_, _, _| {})
}

/// Like [`replayed`]. Before each document of pods that is accounted for, `look` is shown what was accounted for so far,
/// and at which time the document will be. It is never shown a part of a lone list.
///
/// # Errors
/// Those of [`replayed`].
pub fn replayed_with_looks<S: Observer, E>(
    documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
    config: ReplayConfig,
    new_sink: impl Fn(&Arc<WatchStats>) -> Result<S, E>,
    see: impl FnMut(&RecordingDocument, bool),
    look: impl FnMut(&Tracker, &mut S, Timestamp),
) -> Result<ReplayEnd<S>, E> {
    let mut steps = ReplaySteps::new(config, new_sink, see, look)?;
    for document in documents {
        if steps.read(document?)?.is_break() {
            break;
        }
    }
    steps.finish()
}
