//! `podinit report`: the summary of a recording ([§8.1](crate::specification#s8-1)).
//!
//! ```text
//! documents → replay → ReportSink → Report → text | markdown | json
//! ```
//!
//! Only pods that became ready have a latency, and the others are the ones to look at: so a report also
//! counts how they ended, and which are still in flight.

mod durations;
mod formatting;
mod markdown;
mod network_durations;
mod probes;
mod report_sink;
mod slowest_pods;
mod summary;
mod text;

use std::convert::Infallible;
use std::sync::Arc;

pub use probes::{Advice, Finding, ProbeReport, Taken, WorkloadAdvice, advise};
use report_sink::ReportSink;
pub use slowest_pods::SlowPod;
pub use summary::{InFlight, IntervalSummary, Report};
pub use text::Style;

use crate::recordings::reader::{Document, RecordingError};
use crate::recordings::replay::{Replay, ReplayConfig};
use crate::watch::stats::WatchStats;

/// Summarizes a recording, with at most `top` of its slowest pods, and of the workloads whose probes
/// should be changed.
///
/// # Errors
/// If a document is malformed: there is no report on a part of a recording.
pub fn summarize(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<Report, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let stats = Arc::new(WatchStats::new(1));
    let new_sink = || Ok::<_, Infallible>(ReportSink::new(top));
    let Ok(mut replay) = Replay::new(config, stats, new_sink);
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

    /// The report in Markdown.
    pub fn to_markdown(&self) -> String {
        markdown::render(self)
    }

    /// The report as JSON.
    ///
    /// # Errors
    /// None: every report can be serialized.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
