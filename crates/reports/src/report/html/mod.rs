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

use super::formatting::{
    self, ColdSection, GATES, IntervalNames, gates, intervals, notes, outcomes, span,
};
use super::rollouts::{ROLLOUTS, RolloutSection};
use super::waiting::{AT_MOST, WAITING, WaitingSection};
use super::{DetailedReport, ReportedPod, ReportedPods};
use distributions::{AllDurations, IntervalDistributions};
use findings::ToldByPods;
use groups::PodGroups;
use heatmap::{Heatmap, HeatmapNodes};
use podinit_core::lifecycle::{Interval, Stage};
use podinit_core::palette;
use podinit_recordings::probes::WorkloadAdvice;
use podinit_text::table::TextTable;
use stages::{NOT_ACCOUNTED_FOR, ReadyPods, StackedStages};
use startups::{SlowestStartups, StartupWaterfall};
use unfinished::{UnfinishedPlaces, UnfinishedPods};

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

/// What the pods were read for first.
struct ReadPods {
    durations: AllDurations,
    groups: PodGroups,
    told: ToldByPods,
    slowest: SlowestStartups,
    unfinished: UnfinishedPlaces,
}

impl ReadPods {
    /// Reads the pods, and behind them those that are drawn only.
    fn new(pods: &ReportedPods, slow: &ReportedPods) -> Self {
        let mut read = Self {
            durations: AllDurations::default(),
            groups: PodGroups::new(),
            told: ToldByPods::default(),
            slowest: SlowestStartups::new(WATERFALLS),
            unfinished: UnfinishedPlaces::default(),
        };
        for (position, pod) in pods.iter().enumerate() {
            read.told.add(pod.outcome, pod.record.as_ref());
            if let Some(record) = &pod.record {
                read.durations.add(record);
                read.groups.add(&pod, record);
                read.unfinished.add(position, record);
                read.slowest.add(position, record);
            }
        }
        for (position, pod) in slow.iter().enumerate() {
            let record = pod.record.iter();
            record.for_each(|record| read.slowest.add(pods.len() + position, record));
        }
        read
    }
}

/// The page.
pub(super) fn render(report: &DetailedReport) -> Result<String, askama::Error> {
    let DetailedReport { summary, pods, slow, end } = report;
    let names = IntervalNames::from_report(summary);
    let ReadPods { durations, groups, told, slowest, unfinished } = ReadPods::new(pods, slow);
    // What the first reading has to say before, in another one.
    let mut ready = ReadyPods::new(durations.of(Interval::CreatedToReady));
    let mut nodes = HeatmapNodes::from_groups(&groups);
    for pod in pods.iter() {
        if let Some(record) = &pod.record {
            ready.add(record);
            nodes.add(&pod, record);
        }
    }
    let heatmap = nodes.into_heatmap(names);
    let pod = |position: usize| -> Option<ReportedPod> {
        pods.get(position).or_else(|| slow.get(position.checked_sub(pods.len())?))
    };
    let (waterfalls, drawn_of) = slowest.drawn(pod, names);
    let unfinished = unfinished.at(*end, pod);
    let said =
        findings::report_findings(summary, (&durations, &groups), (&ready, &told), &unfinished);
    let tables = groups::tables(&groups);
    let waiting = summary.waiting.as_ref();
    let waiting = waiting.map(|waiting| WaitingSection::from_report(waiting, names, str::to_owned));
    let page = ReportPage {
        pods: formatting::pods(summary),
        span: span(summary.from.as_deref(), summary.to.as_deref()).trim_start().to_owned(),
        timestamps: summary.timestamps,
        kept: formatting::kept(summary),
        outcomes: outcomes(summary).join(", "),
        findings: said,
        stages: Stage::ALL,
        names,
        palette: palette::css(),
        stacked: ready.stacked(names),
        not_accounted_for: NOT_ACCOUNTED_FOR,
        intervals: intervals(summary),
        gates: gates(summary, str::to_owned),
        cold: formatting::cold(summary),
        waiting,
        rollouts: (summary.rollouts.as_ref())
            .map(|rollouts| RolloutSection::from_report(rollouts, str::to_owned)),
        distributions: distributions::interval_distributions(&durations, names),
        waterfalls,
        drawn_of,
        heatmap,
        knows_nodes: (tables.iter()).any(|(what, ..)| ["pool", "zone"].contains(what)),
        tables,
        unfinished,
        notes: notes(summary, str::to_owned),
        probes: &summary.probes.advice,
    };
    page.render()
}
