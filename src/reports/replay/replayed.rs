//! A whole recording, replayed at once.

use std::convert::Infallible;
use std::sync::Arc;

use super::deliveries::{Replay, ReplayConfig};
use crate::reports::reader::Document;
use crate::watch::stats::WatchStats;
use podinit_core::lifecycle::{Sink, Tracker};

/// Replays `documents` to their end, or to that of `config`. `see` sees every document before. Returns the sink, and
/// the tracker with the pods that are in flight at the end.
///
/// # Errors
/// The first error among the documents: nothing is said of a part of a recording.
pub fn replayed<S: Sink, E>(
    documents: impl IntoIterator<Item = Result<Document, E>>,
    config: ReplayConfig,
    new_sink: impl Fn() -> S,
    mut see: impl FnMut(&Document),
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
    Ok(replay.finish_with_tracker())
}
