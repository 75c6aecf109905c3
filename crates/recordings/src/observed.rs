//! A recording as a report reads it: its first list is observed where that is asked for or where there is nothing
//! else ([§8.4](crate::specification#s8-4)).

use std::convert::Infallible;
use std::sync::Arc;

use crate::one_moment::{OneMoment, last_page, page};
use crate::reader::{RecordingDocument, RecordingError};
use crate::replay::{Replay, ReplayConfig};
use podinit_core::lifecycle::{Backfill, Observer, Tracker};
use podinit_kube::watch::stats::WatchStats;

/// Replays a recording, as one list if it shows one moment. `read` sees every document before. Returns the sink, and the
/// tracker with the pods that are in flight at the end, and whether it is a lone list: one list, or several of one moment,
/// and nothing that happened after it.
///
/// # Errors
/// If a document is malformed: nothing is said of a part of a recording.
pub fn observed<S: Observer>(
    documents: impl IntoIterator<Item = Result<RecordingDocument, RecordingError>>,
    mut config: ReplayConfig,
    new_sink: impl Fn() -> S,
    mut read: impl FnMut(&RecordingDocument),
) -> Result<(S, Tracker, bool), RecordingError> {
    let asked = config.tracker.backfill != Backfill::Nothing;
    if asked {
        config.tracker.backfill = Backfill::Trusted;
    }
    let new_replay = |backfill| {
        let mut config = config.clone();
        config.tracker.backfill = backfill;
        let new_sink = || Ok::<_, Infallible>(new_sink());
        let Ok(replay) = Replay::new(config, Arc::new(WatchStats::new(1)), new_sink);
        replay
    };
    let mut replay = new_replay(config.tracker.backfill);
    // What the recording amounts to if it shows one moment, which only its end shows.
    let mut as_one = Some(new_replay(Backfill::Trusted));
    let mut moment = OneMoment::default();
    let mut last = None;
    for document in documents {
        let document = document?;
        read(&document);
        moment.read(&document);
        last = Some(document.position);
        if !moment.holds() {
            as_one = None;
        }
        if let Some(replay) = &mut as_one {
            let Ok(_) = replay.read(page(document.clone()));
        }
        let Ok(flow) = replay.read(document);
        if flow.is_break() {
            break;
        }
    }
    if let Some(lists) = moment.relists() {
        tracing::warn!(
            "the {lists} lists are taken for states of one cluster at different times, and pods that a later \
             list lacks for vanished: a namespace is in several of them, or they state when they were \
             observed; if they show one moment, give --same-moment"
        );
    }
    if let (Some(replay), Some(position)) = (&mut as_one, last.filter(|_| moment.is_complete())) {
        let Ok(_) = replay.read(last_page(position));
    }
    let is_lone_list = as_one.is_some();
    let Ok((sink, tracker)) = as_one.unwrap_or(replay).finish_with_tracker();
    Ok((sink, tracker, is_lone_list))
}

/// The heading of the pods whose status no longer states how they started.
pub const SET_ASIDE: &str = "Set aside, startup times lost";
