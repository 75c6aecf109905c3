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
mod slowest;
mod table;
mod text;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use serde::Serialize;

use collector::Collector;
pub use slowest::SlowPod;
pub use text::Style;

use crate::recording::{Document, RecordingError};
use crate::replay::{Flow, Replay, ReplayConfig};
use crate::watch::stats::WatchStats;

/// What there is to say about a recording. Durations are in seconds; quantiles are exact to three
/// significant digits, minimum and maximum fully.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The times of the first and of the last thing that was accounted for (RFC 3339)
    pub from: Option<String>,
    /// See `from`
    pub to: Option<String>,
    /// Which times durations are made of
    pub timestamps: &'static str,
    /// How many pods there were
    pub discovered: u64,
    /// Pods that have finished their startup, by outcome
    pub finished: BTreeMap<&'static str, u64>,
    /// Pods that have not, by the stage they are in
    pub in_flight: BTreeMap<&'static str, InFlight>,
    /// Every interval, the stages in their order first
    pub intervals: Vec<IntervalSummary>,
    /// How many pods took how long from Scheduled to Ready: the upper bound of each bucket in
    /// seconds (`None` for the last one) and the pods in it
    pub scheduled_to_ready: Vec<(Option<f64>, u64)>,
    /// What was not observed: stage, reason and how often, where it happened
    pub unobserved: Vec<(&'static str, &'static str, u64)>,
    /// Odd times, by kind
    pub clock_anomalies: BTreeMap<&'static str, u64>,
    /// Conditions that became True again, by milestone
    pub reentries: BTreeMap<&'static str, u64>,
    /// The pods that took longest from Scheduled to Ready, the slowest first
    pub slowest: Vec<SlowPod>,
}

/// Pods in flight in one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InFlight {
    /// How many
    pub pods: u64,
    /// When the one that has been in the stage longest entered it (RFC 3339)
    pub oldest_entered: Option<String>,
}

/// The durations of one interval, in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalSummary {
    /// The stage, `scheduled_to_ready` or `created_to_ready`
    pub interval: &'static str,
    /// How many were observed
    pub count: u64,
    /// The shortest; like the rest `None` where there is none
    pub min: Option<f64>,
    /// The median
    pub p50: Option<f64>,
    /// The 90th percentile
    pub p90: Option<f64>,
    /// The 95th percentile
    pub p95: Option<f64>,
    /// The 99th percentile
    pub p99: Option<f64>,
    /// The longest
    pub max: Option<f64>,
}

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
        if flow == Flow::Stop {
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
