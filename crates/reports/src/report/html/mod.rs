//! The report as one HTML file that needs nothing else: no script, no network, light and dark.
//!
//! ```text
//! DetailedReport ─▶ findings, groups, waterfalls, … (plain values) ─▶ report.html (template) ─▶ text
//!                                      charts (SVG) ──────────────────────────┘
//! ```

pub(crate) mod charts;
mod distributions;
mod findings;
mod groups;
mod heatmap;
mod stages;
mod startups;
mod unfinished;

use askama::Template;

use super::DetailedReport;
use super::formatting::{
    self, ColdSection, GATES, IntervalNames, gates, intervals, notes, outcomes, span,
};
use super::rollouts::{ROLLOUTS, RolloutSection};
use super::waiting::{AT_MOST, WAITING, WaitingSection};
use distributions::IntervalDistributions;
use heatmap::Heatmap;
use podinit_core::lifecycle::Stage;
use podinit_core::palette;
use podinit_recordings::probes::WorkloadAdvice;
use podinit_text::table::TextTable;
use stages::{NOT_ACCOUNTED_FOR, StackedStages};
use startups::StartupWaterfall;
use unfinished::UnfinishedPods;

/// So many of the slowest startups are drawn.
const WATERFALLS: usize = 20;

/// What the page shows.
#[derive(Template)]
#[template(path = "report/html/report.html")]
struct ReportPage<'a> {
    pods: String,
    /// The time that the report covers
    span: String,
    timestamps: &'a str,
    kept: Option<&'static str>,
    outcomes: String,
    findings: Vec<String>,
    stages: [Stage; Stage::ALL.len()],
    names: IntervalNames,
    /// The colours of the stages
    palette: String,
    stacked: Vec<StackedStages>,
    not_accounted_for: &'static str,
    intervals: TextTable,
    gates: Option<TextTable>,
    cold: Option<ColdSection>,
    waiting: Option<WaitingSection>,
    rollouts: Option<RolloutSection>,
    distributions: IntervalDistributions,
    waterfalls: Vec<StartupWaterfall>,
    /// Of how many startups the slowest are drawn
    drawn_of: usize,
    heatmap: Heatmap,
    tables: Vec<(&'static str, TextTable, usize)>,
    /// Whether there are tables by pool or zone
    knows_nodes: bool,
    unfinished: UnfinishedPods,
    notes: Vec<(&'static str, Vec<String>)>,
    probes: &'a [WorkloadAdvice],
}

/// The page.
pub(super) fn render(report: &DetailedReport) -> Result<String, askama::Error> {
    let DetailedReport { summary, pods, slow, end } = report;
    let names = IntervalNames::from_report(summary);
    let (waterfalls, drawn_of) = startups::slowest(pods.iter().chain(slow), WATERFALLS, names);
    let tables = groups::tables(pods);
    let waiting = summary.waiting.as_ref();
    let waiting = waiting.map(|waiting| WaitingSection::from_report(waiting, names, str::to_owned));
    let page = ReportPage {
        pods: formatting::pods(summary),
        span: span(summary.from.as_deref(), summary.to.as_deref()).trim_start().to_owned(),
        timestamps: summary.timestamps,
        kept: formatting::kept(summary),
        outcomes: outcomes(summary).join(", "),
        findings: findings::report_findings(report),
        stages: Stage::ALL,
        names,
        palette: palette::css(),
        stacked: stages::stacked(pods, names),
        not_accounted_for: NOT_ACCOUNTED_FOR,
        intervals: intervals(summary),
        gates: gates(summary, str::to_owned),
        cold: formatting::cold(summary),
        waiting,
        rollouts: (summary.rollouts.as_ref())
            .map(|rollouts| RolloutSection::from_report(rollouts, str::to_owned)),
        distributions: distributions::interval_distributions(pods, names),
        waterfalls,
        drawn_of,
        heatmap: Heatmap::from_pods(pods, names),
        knows_nodes: (tables.iter()).any(|(what, ..)| ["pool", "zone"].contains(what)),
        tables,
        unfinished: UnfinishedPods::from_pods(pods, *end),
        notes: notes(summary, str::to_owned),
        probes: &summary.probes.advice,
    };
    page.render()
}
