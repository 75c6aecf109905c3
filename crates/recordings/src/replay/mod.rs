//! Replays recordings through the pipeline ([§8.2](crate::specification#s8-2)): the same decoder, tracker and
//! metrics as `serve`, with the time that the recording states instead of a clock.

mod deliveries;
mod exposition;
mod first_pods;
mod replay_clock;
mod streamed_list;

use std::convert::Infallible;
use std::sync::Arc;

use crate::reader::RecordingDocument;
use podinit_core::lifecycle::{Observer, Tracker};
use podinit_kube::watch::stats::WatchStats;

pub use deliveries::{Replay, ReplayConfig};
pub use exposition::{ExpositionConfig, expose};

/// Replays `documents` to their end, or to that of `config`. `see` sees every document before. Returns the sink, and
/// the tracker with the pods that are in flight at the end.
///
/// # Errors
/// The first error among the documents: nothing is said of a part of a recording.
pub fn replayed<S: Observer, E>(
    documents: impl IntoIterator<Item = Result<RecordingDocument, E>>,
    config: ReplayConfig,
    new_sink: impl Fn() -> S,
    mut see: impl FnMut(&RecordingDocument),
) -> Result<(S, Tracker), E> {
    let new_sink = || Ok::<_, Infallible>(new_sink());
    let Ok(mut replay) = Replay::new(config, Arc::new(WatchStats::new(1)), new_sink);
    for document in documents {
        let document = document?;
        see(&document);
        let Ok(flow) = replay.read(document);
        if flow.is_break() {
            break;
        }
    }
    let Ok(end) = replay.finish_with_tracker();
    Ok(end)
}
