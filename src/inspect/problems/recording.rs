//! A recording at its end: the pods in flight, and the problems.

use super::ends::Ends;
use super::started_before::StartedBefore;
use super::{Problems, Seen};
use crate::reports::lone_list::replayed_to_end;
use crate::reports::reader::{Body, Document, RecordingError};
use crate::reports::replay::ReplayConfig;
use podinit_core::lifecycle::{Record, Tracker, TrackerConfig};
use podinit_core::problems::{Finding, OverTime};
use podinit_core::timestamp::Timestamp;

/// A recording at its end, a lone list as one moment ([§13.2](crate::specification#s13-2)).
pub struct LookedAtRecording {
    tracker: Tracker,
    config: TrackerConfig,
    ends: Ends,
    /// What a lone list shows of pods whose startup was over before
    before: StartedBefore,
}

impl LookedAtRecording {
    /// Reads `documents` to their end.
    ///
    /// # Errors
    /// If a document is malformed.
    pub fn of(
        documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
        replay: ReplayConfig,
    ) -> Result<Self, RecordingError> {
        let mut before = StartedBefore::default();
        let see = |document: &Document, may_be_lone_list: bool| match &document.body {
            _ if !may_be_lone_list => before.clear(),
            Body::List { pods, .. } => before.add(pods),
            Body::Pod(pod) => before.add(std::slice::from_ref(pod)),
            _ => {}
        };
        let config = replay.tracker.clone();
        let end = replayed_to_end(documents, replay, Ends::default, see)?;
        if !end.is_lone_list {
            before.clear();
        }
        Ok(Self { tracker: end.tracker, config, ends: end.sink, before })
    }

    /// The time of its end; `None` if it has none.
    pub fn accounted_time(&self) -> Option<Timestamp> {
        self.tracker.accounted_time()
    }

    /// The pods that are in flight then.
    pub fn in_flight(&self) -> impl Iterator<Item = Record> {
        let in_flight = self.tracker.in_flight_after(None);
        in_flight.map(|(_, pod)| pod.record())
    }

    /// The problems then.
    pub fn problems(&self) -> Problems {
        let Some(now) = self.accounted_time() else {
            return Problems::default();
        };
        let clocks = self.tracker.clocks_off();
        let mut finding = Finding::new(&self.ends.records(&self.tracker), now).with_clocks(&clocks);
        for record in self.in_flight() {
            finding.add(&record);
        }
        let (config, has_record) = (self.config.clone(), |uid| self.ends.has(uid));
        let counted = (self.before).counted(&self.tracker, config, has_record, now);
        for record in &counted.records {
            finding.add(record);
        }
        let found = finding.finish(&mut OverTime::default());
        Seen::new(found, clocks, now).problems.with_crashing(counted.crashing)
    }
}
