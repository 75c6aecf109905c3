//! `podinit report`: the summary of a recording ([§8.1](crate::specification#s8-1)).
//!
//! ```text
//! documents → replay → ReportSink → Report → text | markdown | json
//!   records of exporters ────┴──────▶ DetailedReport → csv | trace | html
//! ```
//!
//! Only pods that became ready have a latency, and the others are the ones to look at: so a report also
//! counts how they ended, and which are still in flight.

mod cold_startups;
mod csv;
mod document;
mod durations;
mod formatting;
mod gates;
mod html;
mod network_durations;
mod of_records;
mod own_milestones;
mod packed_values;
mod pods;
mod report_sink;
mod reported_pods;
mod rollouts;
mod slowest_pods;
mod summary;
mod trace;
mod waiting;

use std::io::{self, Write};
use std::sync::Arc;

pub use csv::columns;
pub(super) use durations::three_digit_seconds;
use formatting::IntervalNames;
pub(super) use formatting::span;
pub(super) use html::charts::LogAxis;
pub use of_records::of_records;
pub use pods::ReportedPod;
use report_sink::ReportSink;
pub(super) use report_sink::rows as intervals;
use report_sink::rows;
pub use reported_pods::ReportedPods;
pub use summary::{InFlightSummary, IntervalSummary, Report, ReportedPodName};
use summary::{StartupSummary, Warmth};
pub use waiting::Saving;

use podinit_core::timestamp::Timestamp;
use podinit_recordings::reader::{RecordingDocument, RecordingError};
use podinit_recordings::replay::{ReplayConfig, replayed};
use podinit_text::document::{DocumentFormat, TerminalStyle};
use podinit_text::strangers_text;

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
    documents: impl IntoIterator<Item = Result<RecordingDocument, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<Report, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let milestones = Arc::clone(&config.tracker.milestones);
    let new_sink = |_: &_| Ok(ReportSink::new(top, &milestones));
    let end = replayed(documents, config.observed(), new_sink, |_, _| {})?;
    Ok(end.sink.report(timestamps, &end.tracker, end.lone_list.is_some()))
}

/// A summary, and every single pod by namespace and name. Takes about 90 bytes of memory for each of them.
///
/// # Errors
/// As [`summarize`].
pub fn detail(
    documents: impl IntoIterator<Item = Result<RecordingDocument, RecordingError>>,
    config: ReplayConfig,
    top: usize,
) -> Result<DetailedReport, RecordingError> {
    let timestamps = config.tracker.timestamps;
    let milestones = Arc::clone(&config.tracker.milestones);
    let new_sink = |_: &_| Ok(ReportSink::new(top, &milestones).with_pods(&milestones));
    let end = replayed(documents, config.observed(), new_sink, |_, _| {})?;
    let (mut sink, tracker, is_lone) = (end.sink, end.tracker, end.lone_list.is_some());
    let (pods, end) = (sink.take_pods(), sink.end());
    let summary = sink.report(timestamps, &tracker, is_lone);
    Ok(DetailedReport {
        summary,
        pods: pods.into_pods(tracker),
        slow: ReportedPods::default(),
        end,
    })
}

/// A report with the single pods.
#[derive(Debug)]
pub struct DetailedReport {
    pub summary: Report,
    /// Every pod, by namespace and name
    pub pods: ReportedPods,
    /// Startups that an exporter has kept because they were slow; they are drawn and count in no figure
    pub slow: ReportedPods,
    /// When the recording ends
    pub end: Option<Timestamp>,
}

impl DetailedReport {
    /// A summary alone.
    pub fn without_pods(summary: Report) -> Self {
        Self { summary, pods: ReportedPods::default(), slow: ReportedPods::default(), end: None }
    }

    /// Writes the report as CSV, row by row, one for each pod.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_csv(&self, to: impl Write) -> io::Result<()> {
        csv::write(&self.pods, to)
    }

    /// The report as one HTML file.
    ///
    /// # Errors
    /// None: every page can be rendered.
    pub fn to_html(&self) -> Result<String, askama::Error> {
        html::render(self)
    }

    /// Writes the report as a trace, which Perfetto and Chrome show, event by event.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_trace(&self, to: impl Write) -> io::Result<()> {
        trace::write(&self.pods, self.end, IntervalNames::from_report(&self.summary), to)
    }
}

impl Report {
    /// The report for a terminal.
    pub fn to_text(&self, style: TerminalStyle) -> String {
        document::render(self, DocumentFormat::Text(style))
    }

    /// The report in Markdown.
    pub fn to_markdown(&self) -> String {
        document::render(self, DocumentFormat::Markdown)
    }

    /// The report as JSON.
    ///
    /// # Errors
    /// None: every report can be serialized.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}
