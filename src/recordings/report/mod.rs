//! `podinit report`: a recording, summarized for people (§8).
//!
//! ```text
//! documents → replay → Collector (a sink) → Report (a value) → text | markdown | json
//! ```
//!
//! Only pods that got ready have a latency, and those that did not are the ones to look at: so a
//! report says as well how the others ended, and which are still on their way.

mod collector;
mod markdown;
mod model;
mod slowest;
mod table;
mod text;

use std::convert::Infallible;
use std::sync::Arc;

use collector::Collector;
pub use model::{InFlight, IntervalSummary, Report};
pub use slowest::SlowPod;
pub use text::Style;

use crate::recordings::reader::{Document, RecordingError};
use crate::recordings::replay::{Replay, ReplayConfig};
use crate::watch::stats::WatchStats;

/// Summarizes a recording, naming at most `top` of its slowest pods.
///
/// # Errors
/// When a document is malformed: a recording counts as a whole or not at all.
pub fn summarize(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<Report, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let stats = Arc::new(WatchStats::new(1));
    let collector = || Ok::<_, Infallible>(Collector::new(top));
    let Ok(mut replay) = Replay::new(config, stats, collector);
    for document in documents {
        let Ok(flow) = replay.read(document?);
        if flow.is_break() {
            break;
        }
    }
    Ok(replay.finish().report(timestamps))
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self, style: Style) -> String {
        text::render(self, style)
    }

    /// The report for issues and wikis.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    /// The report for programs.
    ///
    /// # Errors
    /// None that a report can bring about.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
