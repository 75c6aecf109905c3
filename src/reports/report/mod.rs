//! `podinit report`: the summary of a recording ([§8.1](crate::specification#s8-1)).
//!
//! ```text
//! documents → replay → ReportSink → Report → text | markdown | json
//!                          └──────▶ DetailedReport → csv | trace | html
//! ```
//!
//! Only pods that became ready have a latency, and the others are the ones to look at: so a report also
//! counts how they ended, and which are still in flight.

mod csv;
mod durations;
mod formatting;
mod html;
mod markdown;
mod network_durations;
mod pods;
mod probes;
mod report_sink;
mod slowest_pods;
mod summary;
mod text;
mod trace;

use std::convert::Infallible;
use std::sync::Arc;

pub use csv::columns;
use pods::Images;
pub use pods::ReportedPod;
pub use probes::{
    Advice, Finding, ProbeDurations, ProbeReport, ProbeTimes, WorkloadAdvice, advise,
};
use report_sink::{ReportSink, rows};
pub use slowest_pods::SlowPod;
pub use summary::{InFlight, IntervalSummary, PodName, Report};
pub use text::Style;

use crate::reports::one_moment::{OneMoment, last_page, page};
use crate::reports::reader::{Document, RecordingError};
use crate::reports::replay::{Replay, ReplayConfig};
use crate::text::strangers_text;
use crate::watch::stats::WatchStats;
use podinit_core::lifecycle::{Backfill, Tracker};
use podinit_core::timestamp::Timestamp;

/// Summarizes a recording, with at most `top` of its slowest pods, and of the workloads whose probes
/// should be changed.
///
/// The pods of the first list are observed as if they had been watched, as far as their times can be
/// trusted, if `config` asks for a backfill or the recording is no more than that list, which may be in
/// parts ([§8.4](crate::specification#s8-4)). The others are set aside and counted.
///
/// # Errors
/// If a document is malformed: there is no report on a part of a recording.
pub fn summarize(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<Report, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let new_sink = || ReportSink::new(top);
    let (sink, tracker) = replayed(documents, config, new_sink, |_| {})?;
    Ok(sink.report(timestamps, &tracker))
}

/// A summary, and every single pod by namespace and name. Takes memory for each of them.
///
/// # Errors
/// As [`summarize`].
pub fn detail(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<DetailedReport, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let mut images = Images::default();
    let new_sink = || ReportSink::new(top).with_pods();
    let read = |document: &Document| images.read(document);
    let (mut sink, tracker) = replayed(documents, config, new_sink, read)?;
    let pods = sink.take_pods().into_pods(&tracker, &images);
    Ok(DetailedReport {
        end: sink.end(),
        summary: sink.report(timestamps, &tracker),
        pods,
    })
}

/// Replays a recording, as one list if it shows one moment. `read` sees every document before.
fn replayed(
    documents: impl IntoIterator<Item = Result<Document, RecordingError>>,
    mut config: ReplayConfig,
    new_sink: impl Fn() -> ReportSink,
    mut read: impl FnMut(&Document),
) -> Result<(ReportSink, Tracker), RecordingError> {
    let asked = config.tracker.backfill != Backfill::Nothing;
    if asked {
        config.tracker.backfill = Backfill::Trusted;
    }
    let new_replay = |backfill| {
        let mut config = config.clone();
        config.tracker.backfill = backfill;
        let new_sink = || Ok::<_, Infallible>(new_sink());
        let Ok(replay) = Replay::new(config, Arc::new(WatchStats::new(1)), new_sink);
        replay
    };
    let mut replay = new_replay(config.tracker.backfill);
    // What the recording amounts to if it shows one moment, which only its end shows.
    let mut as_one = Some(new_replay(Backfill::Trusted));
    let mut moment = OneMoment::default();
    let mut last = None;
    for document in documents {
        let document = document?;
        read(&document);
        moment.read(&document);
        last = Some(document.position);
        if !moment.holds() {
            as_one = None;
        }
        if let Some(replay) = &mut as_one {
            let Ok(_) = replay.read(page(document.clone()));
        }
        let Ok(flow) = replay.read(document);
        if flow.is_break() {
            break;
        }
    }
    if let Some(lists) = moment.relists() {
        tracing::warn!(
            "the {lists} lists are taken for states of one cluster at different times, and pods that a later \
             list lacks for vanished: a namespace is in several of them, or they state when they were \
             observed; if they show one moment, give --same-moment"
        );
    }
    if let (Some(replay), Some(position)) = (&mut as_one, last.filter(|_| moment.is_complete())) {
        let Ok(_) = replay.read(last_page(position));
    }
    Ok(as_one.unwrap_or(replay).finish_with_tracker())
}

/// A report with the single pods.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailedReport {
    pub summary: Report,
    /// Every pod, by namespace and name
    pub pods: Vec<ReportedPod>,
    /// When the recording ends
    pub end: Option<Timestamp>,
}

impl DetailedReport {
    /// The report as CSV, with a row for each pod.
    ///
    /// # Errors
    /// None: texts can be written to memory.
    pub fn to_csv(&self) -> Result<Vec<u8>, ::csv::Error> {
        csv::render(&self.pods)
    }

    /// The report as one HTML file.
    ///
    /// # Errors
    /// None: every page can be rendered.
    pub fn to_html(&self) -> Result<String, askama::Error> {
        html::render(self)
    }

    /// The report as a trace, which Perfetto and Chrome show.
    ///
    /// # Errors
    /// None: every trace can be serialized.
    pub fn to_trace(&self) -> serde_json::Result<String> {
        trace::render(&self.pods, self.end)
    }
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
        strangers_text::json(self)
    }
}
