//! The problems at the end of a recording.

use super::ends::Ends;
use super::started_before::StartedBefore;
use super::{Problems, Seen};
use crate::reports::one_moment::OneMoment;
use crate::reports::reader::{Body, Document, RecordingError};
use crate::reports::replay::{ReplayConfig, replayed};
use podinit_core::problems::{Finding, OverTime};

/// Finds the problems at the end of `documents`.
///
/// # Errors
/// If a document is malformed.
pub fn problems_of_recording(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
) -> Result<Problems, RecordingError> {
    let (mut moment, mut before) = (OneMoment::default(), StartedBefore::default());
    let see = |document: &Document| {
        moment.read(document);
        match &document.body {
            _ if !moment.holds() => before.clear(),
            Body::List { pods, .. } => before.add(pods),
            Body::Pod(pod) => before.add(std::slice::from_ref(pod)),
            _ => {}
        }
    };
    let tracker_config = config.tracker.clone();
    let (ends, tracker) = replayed(documents, config, Ends::default, see)?;
    if !moment.is_complete() {
        before.clear();
    }
    let Some(now) = tracker.accounted_time() else {
        return Ok(Problems::default());
    };
    let clocks = tracker.clocks_off();
    let mut finding = Finding::new(&ends.records(&tracker), now).with_clocks(&clocks);
    for (_, pod) in tracker.in_flight_after(None) {
        finding.add(&pod.record());
    }
    let counted = before.counted(&tracker, tracker_config, |uid| ends.has(uid), now);
    counted
        .records
        .iter()
        .for_each(|record| finding.add(record));
    let found = finding.finish(&mut OverTime::default());
    Ok(Seen::new(found, clocks, now)
        .problems
        .with_crashing(counted.crashing))
}
