//! The exposition of a recording.

use std::sync::Arc;

use super::deliveries::{Replay, ReplayConfig};
use crate::lifecycle::{Observation, Sink};
use crate::metrics::{Builder, Exposition, LabelConfig, LabelError, Recorder, SloDoc};
use crate::recordings::reader::{Document, RecordingError};
use crate::timestamp::Timestamp;
use crate::watch::stats::WatchStats;

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
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ExpositionConfig,
) -> Result<Arc<Exposition>, ReplayError> {
    let ExpositionConfig {
        replay,
        labels,
        slos,
    } = config;
    let stats = Arc::new(WatchStats::new(1));
    let new_sink = || {
        let builder = Builder::new(labels.clone())
            .slos(slos.clone())
            .watch(stats.clone());
        let (recorder, exposition) = builder.build()?;
        Ok::<_, LabelError>(RecordedMetrics {
            recorder,
            exposition,
        })
    };
    let mut replay = Replay::new(replay, Arc::clone(&stats), new_sink)?;
    for document in documents {
        if replay.read(document?)?.is_break() {
            break;
        }
    }
    Ok(replay.finish().exposition)
}

/// A recorder and the exposition of what it recorded.
struct RecordedMetrics {
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

impl Sink for RecordedMetrics {
    fn observe(&mut self, now: Timestamp, observation: Observation<'_>) {
        self.recorder.observe(now, observation);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Cursor;

    use super::*;
    use crate::decode::DecodeOptions;
    use crate::instruments::Format;
    use crate::recordings::reader::Recording;

    /// A list of one pod, an error ten seconds later, and after another 35 seconds a list of two.
    const GAP: &str = r#"
        {"kind": "List", "observedAt": "2026-01-01T00:00:00Z", "items": [{"kind": "Pod", "metadata": {"uid": "a"}}]}
        {"type": "BOOKMARK", "observedAt": "2026-01-01T00:00:10Z", "object": {"kind": "Pod"}}
        {"type": "ERROR", "observedAt": "2026-01-01T00:00:11Z", "object": {"kind": "Status"}}
        {"kind": "List", "observedAt": "2026-01-01T00:00:45Z", "items": [
            {"kind": "Pod", "metadata": {"uid": "a"}}, {"kind": "Pod", "metadata": {"uid": "b"}}]}
    "#;

    fn replayed(documents: &'static str) -> String {
        let options = DecodeOptions::default();
        let recording = Recording::from_reader("test", Cursor::new(documents), options);
        let exposition = expose(recording, ExpositionConfig::default()).unwrap();
        String::from_utf8(exposition.encode(Format::Text).unwrap()).unwrap()
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
