//! The problems at the end of a recording.

use super::Problems;
use super::newest::Newest;
use crate::reports::reader::{Document, RecordingError};
use crate::reports::replay::{ReplayConfig, replayed};

/// Finds the problems at the end of `documents`.
///
/// # Errors
/// If a document is malformed.
pub fn problems_of_recording(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
) -> Result<Problems, RecordingError> {
    let (newest, tracker) = replayed(documents, config, Newest::default, |_| {})?;
    let in_flight = tracker.in_flight_after(None).map(|(_, pod)| pod.record());
    Ok(Problems::find(
        in_flight.collect(),
        &newest.records(),
        tracker.accounted_time(),
    ))
}
