//! Recordings through the pipeline (§8): the same decoder, tracker and metrics as `serve`, with
//! the time that the recording states instead of a clock.

mod driver;
mod pages;
mod stream;

use std::sync::Arc;

pub use driver::{Flow, Replay, ReplayConfig};

use crate::lifecycle::observation::{Observation, Sink};
use crate::metrics::{
    Builder, EncodeError, Exposition, Format, LabelConfig, LabelError, Recorder, SloDoc,
};
use crate::pod::PodInfo;
use crate::recordings::reader::{Document, RecordingError};
use crate::timestamp::Timestamp;
use crate::watch::stats::WatchStats;

/// What is counted of a recording, and how it is labelled.
#[derive(Clone, Debug, Default)]
pub struct ExpositionConfig {
    /// How the recording is read
    pub replay: ReplayConfig,
    /// The label set
    pub labels: LabelConfig,
    /// What is exposed of the SLOs that `replay` puts in force, in the same order
    pub slos: Vec<SloDoc>,
}

/// Why there is no exposition of a recording.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The recording is malformed or cannot be read
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The label set cannot be
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// The exposition cannot be written
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// The final exposition of a recording.
///
/// # Errors
/// When a document is malformed: a recording counts as a whole or not at all.
pub fn expose(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ExpositionConfig,
    format: Format,
) -> Result<Vec<u8>, ReplayError> {
    let ExpositionConfig {
        replay,
        labels,
        slos,
    } = config;
    let stats = Arc::new(WatchStats::new(1));
    let counted = || {
        let builder = Builder::new(labels.clone())
            .slos(slos.clone())
            .watch(stats.clone());
        let (recorder, exposition) = builder.build()?;
        Ok::<_, LabelError>(Counted {
            recorder,
            exposition,
        })
    };
    let mut replay = Replay::new(replay, Arc::clone(&stats), counted)?;
    for document in documents {
        if replay.read(document?)? == Flow::Stop {
            break;
        }
    }
    Ok(replay.finish().exposition.encode(format)?)
}

/// A recorder and what it has recorded.
struct Counted {
    recorder: Recorder,
    exposition: Arc<Exposition>,
}

impl Sink for Counted {
    fn at(&mut self, now: Timestamp) {
        self.recorder.at(now);
    }

    fn observe(&mut self, pod: &PodInfo, observation: Observation) {
        self.recorder.observe(pod, observation);
    }
}
