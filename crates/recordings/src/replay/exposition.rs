//! The exposition of a recording.

use std::sync::Arc;

use super::config::ReplayConfig;
use super::replayed;
use crate::reader::{RecordingDocument, RecordingError};
use podinit_core::lifecycle::{LabelObserver, Observation, Observer};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{
    Exposition, ExpositionBuilder, LabelConfig, LabelError, Recorder, SloDoc,
};
use podinit_kube::watch::stats::WatchStats;

/// How a recording is replayed, and which labels and SLOs are exposed.
#[derive(Clone, Debug, Default)]
pub struct ExpositionConfig {
    /// How the recording is replayed
    pub replay: ReplayConfig,
    /// The label set
    pub labels: LabelConfig,
    /// The SLOs that `replay` judges by, as they are exposed, in the same order
    pub slos: Vec<SloDoc>,
}

/// Why a recording cannot be exposed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording is malformed or cannot be read
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The label set is invalid
    #[error(transparent)]
    Labels(#[from] LabelError),
}

/// Replays a recording. Returns the metrics at its end.
///
/// # Errors
/// If a document is malformed: there is no exposition of a part of a recording.
pub fn expose(
    documents: impl IntoIterator<Item = Result<RecordingDocument, RecordingError>>,
    config: ExpositionConfig,
) -> Result<Arc<Exposition>, ReplayError> {
    let ExpositionConfig { replay, labels, slos } = config;
    let (events, nodes) = (replay.tracker.events, replay.tracker.nodes);
    let milestones = Arc::clone(&replay.tracker.milestones);
    let new_sink = |stats: &Arc<WatchStats>| {
        let builder = ExpositionBuilder::new(labels.clone())
            .events(events)
            .nodes(nodes)
            .milestones(Arc::clone(&milestones))
            .slos(slos.clone())
            .watch(Arc::clone(stats));
        let (recorder, exposition) = builder.build()?;
        Ok(RecordedMetrics { recorder, exposition })
    };
    let documents = documents.into_iter().map(|document| document.map_err(ReplayError::from));
    Ok(replayed(documents, replay, new_sink, |_, _| {})?.sink.exposition)
}

/// A recorder and the exposition of what it recorded.
struct RecordedMetrics {
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

impl Observer for RecordedMetrics {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }

    fn labels(&mut self) -> Option<&mut dyn LabelObserver> {
        Some(&mut self.recorder)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Cursor;

    use super::*;
    use crate::reader::Recording;
    use podinit_decode::DecodeOptions;
    use podinit_instruments::ExpositionFormat;

    /// A list of one pod, an error ten seconds later, and after another 35 seconds a list of two.
    const GAP: &str = r#"
        {"kind": "List", "observedAt": "2026-01-01T00:00:00Z", "items": [{"kind": "Pod", "metadata": {"uid": "a"}}]}
        {"type": "BOOKMARK", "observedAt": "2026-01-01T00:00:10Z", "object": {"kind": "Pod"}}
        {"type": "ERROR", "observedAt": "2026-01-01T00:00:11Z", "object": {"kind": "Status"}}
        {"kind": "List", "observedAt": "2026-01-01T00:00:45Z", "items": [
            {"kind": "Pod", "metadata": {"uid": "a"}}, {"kind": "Pod", "metadata": {"uid": "b"}}]}
    "#;

    /// An Event about the first pod, late in every respect.
    const EVENT: &str = r#"{"kind": "Event", "observedAt": "2026-01-01T09:00:00Z", "reason": "Started",
        "metadata": {"name": "a.18a3f0c2b5e4d600"}, "firstTimestamp": "2026-01-01T09:00:00Z",
        "involvedObject": {"kind": "Pod", "uid": "a"}}"#;

    fn replayed(documents: impl Into<String>) -> String {
        replayed_with(documents.into(), ReplayConfig::default())
    }

    fn replayed_with(documents: String, replay: ReplayConfig) -> String {
        let options = DecodeOptions::default();
        let recording = Recording::from_reader("test", Cursor::new(documents), options);
        let config = ExpositionConfig { replay, ..ExpositionConfig::default() };
        let exposition = expose(recording, config).unwrap();
        String::from_utf8(exposition.encode(ExpositionFormat::Text).unwrap()).unwrap()
    }

    /// What the names of the families begin with that are there only with Events.
    const EVENT_FAMILIES: [&str; 7] = [
        "podinit_kube_events_ignored_total",
        "podinit_image",
        "podinit_pod_start_sli",
        "podinit_cold_start_duration",
        "podinit_unschedulable_pods",
        "podinit_label_overflow_pods_total{label=\"registry\"}",
        "podinit_label_values_expired_total{label=\"registry\"}",
    ];

    fn of_events() -> ReplayConfig {
        let mut replay = ReplayConfig::default();
        replay.tracker.events = true;
        replay
    }

    /// Without the samples and comments of the families that are of evidence only.
    fn without_evidence(text: &str) -> Vec<&str> {
        let lines = text.lines();
        lines.filter(|line| !EVENT_FAMILIES.iter().any(|name| line.contains(name))).collect()
    }

    #[test]
    fn events_of_pods_not_in_flight_change_nothing_and_move_no_time() {
        let plain = replayed(GAP);
        let documents: Vec<String> = GAP.trim().lines().map(str::to_owned).collect();
        // The last line is the second half of a document.
        for place in 0..documents.len() - 1 {
            let mut with_event = documents.clone();
            with_event.insert(place, format!(r#"{{"type":"ADDED","object":{EVENT}}}"#));
            with_event.insert(place, EVENT.to_owned());
            let text = with_event.join("\n");
            assert_eq!(replayed(text.clone()), plain, "at {place}");
            let counted = replayed_with(text, of_events());
            assert_eq!(without_evidence(&counted), without_evidence(&plain), "at {place}");
        }
    }

    #[test]
    fn pages_of_a_list_may_have_events_between_them() {
        let pages = |between: &str| {
            format!(
                r#"{{"kind": "List", "items": [{{"kind": "Pod", "metadata": {{"uid": "a"}}}}], "metadata": {{"continue": "x"}}}}
                {between}
                {{"kind": "List", "items": [{{"kind": "Pod", "metadata": {{"uid": "b"}}}}]}}"#
            )
        };
        assert_eq!(replayed(pages(EVENT)), replayed(pages("")));
        assert!(replayed(pages("")).contains("podinit_pods_discovered_total 2"));
    }

    #[test]
    fn until_stops_at_no_event() {
        let until = Timestamp::from_seconds(1_767_225_700);
        let replay = ReplayConfig { until: Some(until), ..ReplayConfig::default() };
        let text = format!("{EVENT}{GAP}");
        let text = replayed_with(text, replay);
        assert!(text.contains("podinit_pods_discovered_total 2"), "{text}");
    }

    #[test]
    fn a_replay_shows_how_many_pods_are_remembered_and_how_long_the_gaps_were() {
        let text = replayed(GAP);
        for line in [
            "podinit_pods_discovered_total 2",
            "podinit_remembered_pods 2",
            "podinit_observation_gap_seconds_total 35",
        ] {
            assert!(text.lines().any(|sample| sample == line), "{line}\n{text}");
        }
    }
}
