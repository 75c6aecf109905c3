//! The problems at the end of a recording.

use std::collections::VecDeque;

use super::Problems;
use crate::reports::reader::{Document, RecordingError};
use crate::reports::replay::{ReplayConfig, replayed};
use podinit_core::lifecycle::{EndedStartup, Observation, Observer, Record, Sink};
use podinit_core::problems::MOST_RECORDS;
use podinit_core::timestamp::Timestamp;

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
    let newest: Vec<Record> = newest.0.iter().map(EndedStartup::record).collect();
    Ok(Problems::find(
        in_flight.collect(),
        &newest,
        tracker.accounted_time(),
    ))
}

/// The newest startups that have ended, the oldest of them first.
#[derive(Default)]
struct Newest(VecDeque<EndedStartup>);

impl Observer for Newest {
    fn observe(&mut self, _now: Timestamp, _observation: Observation<'_>) {}
}

impl Sink for Newest {
    fn ended(&mut self, startup: EndedStartup) {
        if self.0.len() == MOST_RECORDS {
            self.0.pop_front();
        }
        self.0.push_back(startup);
    }
}
