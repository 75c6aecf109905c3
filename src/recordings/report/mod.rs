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
mod lone_list;
mod markdown;
mod network_durations;
mod probes;
mod report_sink;
mod slowest_pods;
mod summary;
mod text;

use std::convert::Infallible;
use std::sync::Arc;

use lone_list::LoneList;
pub use probes::{Advice, Finding, ProbeReport, ProbeTimes, Taken, WorkloadAdvice, advise};
use report_sink::ReportSink;
pub use slowest_pods::SlowPod;
pub use summary::{InFlight, IntervalSummary, Report};
pub use text::Style;

use crate::lifecycle::Backfill;
use crate::recordings::reader::{Document, RecordingError};
use crate::recordings::replay::{Replay, ReplayConfig};
use crate::watch::stats::WatchStats;

/// Summarizes a recording, with at most `top` of its slowest pods, and of the workloads whose probes
/// should be changed.
///
/// The pods of the first list are observed as if they had been watched, as far as their times can be
/// trusted, if `config` asks for a backfill or the recording is no more than that list. The others are
/// set aside and counted.
///
/// # Errors
/// If a document is malformed: there is no report on a part of a recording.
pub fn summarize(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    mut config: ReplayConfig,
    top: usize,
) -> Result<Report, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let asked = config.tracker.backfill != Backfill::Nothing;
    if asked {
        config.tracker.backfill = Backfill::Trusted;
    }
    let new_replay = |backfill| {
        let mut config = config.clone();
        config.tracker.backfill = backfill;
        let new_sink = || Ok::<_, Infallible>(ReportSink::new(top));
        let Ok(replay) = Replay::new(config, Arc::new(WatchStats::new(1)), new_sink);
        replay
    };
    let mut replay = new_replay(config.tracker.backfill);
    // What the recording amounts to if it ends before anything follows its first list.
    let mut if_lone = (!asked).then(|| new_replay(Backfill::Trusted));
    let mut lone = LoneList::Empty;
    for document in documents {
        let document = document?;
        lone = lone.with(&document);
        if lone == LoneList::No {
            if_lone = None;
        }
        if let Some(replay) = &mut if_lone {
            let Ok(_) = replay.read(document.clone());
        }
        let Ok(flow) = replay.read(document);
        if flow.is_break() {
            break;
        }
    }
    Ok(if_lone.unwrap_or(replay).finish().report(timestamps))
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
