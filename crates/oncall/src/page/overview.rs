//! The page at `/`: what is broken, and how pods start.

use std::sync::Arc;

use askama::Template;

use super::history::{HistorySample, OverviewHistory};
use super::pod_groups::{PodGroup, pod_groups};
use super::problem_card::ProblemCard;
use super::river::{HEIGHT, StageBand, TimeAxes, WIDTH, river};
use super::rollout_card::RolloutCards;
use super::slo_card::{SloCard, UncountedPresent};
use super::stage_table::{InStages, StageRow, stage_rows};
use super::status::{OverviewStatus, StatusSigns};
use super::waterfall::{PodWaterfall, waterfall};
use crate::explain::{Explanation, ExplanationContext, addressed};
use crate::freshness::Freshness;
use crate::problems::{PodFilter, Problem, ProblemSnapshot};
use podinit_core::lifecycle::{Outcome, Record, Stage};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{PodFigures, StageDurations};
use podinit_http::MetricsPath;
use podinit_text::human_time::{clock_time, seconds};
use podinit_text::words::thousands;

/// Everything that the page is made of.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// What the reader calls the cluster
    pub cluster: Option<String>,
    pub freshness: Freshness,
    pub figures: PodFigures,
    /// How long everything has taken, since the first pod
    pub durations: StageDurations,
    pub history: OverviewHistory,
    /// The problems of the whole cluster, and its pods in flight
    pub seen: Arc<ProblemSnapshot>,
    /// Why these are not known now
    pub unanswered: Option<String>,
    pub wanted: PodFilter,
    /// The slowest startups of the last hour of the pods that are wanted, the slowest first
    pub slowest: Vec<Record>,
    /// When a pod became ready last
    pub last_ready: Option<Timestamp>,
    pub foot: PageFooter,
}

/// What stands at the foot of every page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageFooter {
    pub version: &'static str,
    /// Where metrics are scraped
    pub metrics: MetricsPath,
    /// Ready, or why not
    pub ready: String,
    /// Live, or why not
    pub live: String,
    /// The UTC time of the page
    pub time: String,
    /// Seconds until the page loads again; `None` where it does not
    pub refresh: Option<u64>,
    /// Where the runbooks are, if not in this exporter
    pub runbook_url: Option<std::sync::Arc<str>>,
}

/// How many problems are shown as cards, and how many more as lines.
const MOST_CARDS: usize = 1;
const MOST_LINES: usize = 5;

/// A count with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedCount {
    name: &'static str,
    pods: String,
}

#[derive(Template)]
#[template(path = "page/templates/overview.html")]
struct OverviewPage {
    root: &'static str,
    cluster: Option<String>,
    status: OverviewStatus,
    /// Whether it is in sync and since when, and how old what it says is
    sync: String,
    shard: Option<String>,
    slos: Vec<SloCard>,
    /// What was asked for, in words
    wanted: Vec<(&'static str, String)>,
    /// What stands behind figures that are not only of that; empty where everything was asked for
    whole: &'static str,
    cards: Vec<ProblemCard>,
    /// Further problems: those after the cards, and how many after these
    lines: Vec<ProblemCard>,
    more_problems: usize,
    /// Whether any problem is known
    has_problem: bool,
    rollouts: RolloutCards,
    ended: Vec<Problem>,
    bands: Vec<StageBand>,
    axes: TimeAxes,
    width: f64,
    height: f64,
    stages: Vec<StageRow>,
    /// Over how long that is, and whether there is an hour before it
    hour: String,
    has_hour_before: bool,
    in_flight: String,
    groups: Vec<PodGroup>,
    more_groups: usize,
    /// Each with the width of its drawing, so that all have the same scale
    slowest: Vec<(PodWaterfall, f64)>,
    /// The stages that they show
    slowest_stages: Vec<&'static str>,
    outcomes: Vec<NamedCount>,
    evidence: Vec<NamedCount>,
    foot: PageFooter,
}

impl Overview {
    /// The page as of `now`.
    ///
    /// # Errors
    /// None: the template writes to a text.
    pub fn render(mut self, now: Timestamp) -> askama::Result<String> {
        // Waits end at the instant of the finding: a pod of that instant may be ready now.
        let found = self.seen.at.unwrap_or(now);
        let (problems, breakdown) = (&self.seen.problems, &self.seen.breakdown(&self.wanted));
        // Lines and the burn reach to the present.
        self.history.add(HistorySample::new(now, &self.figures, &problems.problems));
        let slos = self.figures.slos.iter();
        let slos = slos.map(|slo| {
            let pods = self.seen.matched_by(&slo.doc.rule);
            let present = UncountedPresent { pods, unmatched: &problems.unmatched_slos };
            SloCard::new(slo, &self.history, present, now)
        });
        let slos: Vec<_> = slos.collect();
        let in_flight = breakdown.in_flight();
        let late_deliveries = problems.late_deliveries.clone();
        let late_deliveries = late_deliveries.map(|late| late.seen_by(&self.freshness));
        let status = OverviewStatus::from_signs(&StatusSigns {
            freshness: &self.freshness,
            problems: &problems.problems,
            unanswered: self.unanswered.as_deref(),
            slos: &slos,
            lost_budgets: &problems.lost_budgets,
            in_flight: match self.wanted.is_all() {
                true => in_flight,
                false => self.figures.in_flight().iter().sum::<u64>() as usize,
            },
            late_nodes: self.figures.late_nodes,
            clocks: &problems.clocks,
            late_deliveries: late_deliveries.as_ref(),
            last_ready: self.last_ready,
            now,
        });
        let samples: Vec<_> = self.history.since_an_hour(now).collect();
        let (bands, axes) = river(&samples, now);
        let hours = self.history.hours(now, &self.durations);
        let mut cards: Vec<_> = (breakdown.problems.iter())
            .take(MOST_CARDS + MOST_LINES)
            .map(|problem| {
                ProblemCard::new(problem, &self.history, self.foot.runbook_url.as_deref(), now)
            })
            .collect();
        for card in &mut cards {
            let command = &mut card.problem.next_command;
            *command = addressed(command, self.freshness.kubeconfig.as_deref());
        }
        // Where only some pods are wanted, the header may be about another problem.
        if let Some(first) = cards.first_mut() {
            first.is_in_header = self.wanted.is_all();
        }
        let lines = cards.split_off(cards.len().min(MOST_CARDS));
        let (groups, more_groups) = pod_groups(breakdown, found);
        let slowest = slowest(&self.slowest, now);
        let page = OverviewPage {
            root: "",
            cluster: self.cluster,
            sync: sync(&self.freshness, now),
            shard: self.freshness.shard_note(),
            more_problems: breakdown.problems.len() - cards.len() - lines.len(),
            whole: if self.wanted.is_all() { "" } else { ", whole cluster" },
            has_problem: !problems.problems.is_empty(),
            rollouts: RolloutCards::new(
                &self.seen,
                &self.wanted,
                self.freshness.kubeconfig.as_deref(),
                now,
            ),
            wanted: words(&self.wanted),
            cards,
            lines,
            ended: problems.ended.clone(),
            bands,
            axes,
            width: WIDTH,
            height: HEIGHT,
            stages: stage_rows(
                &hours,
                &InStages { pods: breakdown.stages, entered: breakdown.entered, at: found },
            ),
            hour: match hours.seconds {
                3300.. => "hour".to_owned(),
                short => seconds(short as f64),
            },
            has_hour_before: hours.before.is_some(),
            in_flight: thousands(in_flight),
            groups,
            more_groups,
            slowest_stages: stages_of(&slowest),
            slowest,
            outcomes: counts(&Outcome::ALL.map(Outcome::as_str), &self.figures.finished),
            evidence: evidence(&self.figures),
            status,
            slos,
            foot: self.foot,
        };
        page.render()
    }
}

/// The startups on the scale of the first one, which took longest.
fn slowest(records: &[Record], now: Timestamp) -> Vec<(PodWaterfall, f64)> {
    let explained = |record| Explanation::new(record, ExplanationContext::default(), now);
    let all: Vec<_> = records.iter().map(explained).collect();
    let longest = all.first().map_or(1.0, |one| one.width);
    let width = |one: &Explanation| super::waterfall::WIDTH * (longest / one.width.max(0.001));
    all.iter().map(|one| (waterfall(one), width(one).round())).collect()
}

/// The stages that are drawn, in their order.
fn stages_of(startups: &[(PodWaterfall, f64)]) -> Vec<&'static str> {
    let is_drawn = |stage: &Stage| {
        let mut bars = startups.iter().flat_map(|(startup, _)| &startup.bars);
        bars.any(|bar| !bar.is_inside && bar.stage == stage.as_str())
    };
    Stage::ALL.iter().filter(|stage| is_drawn(stage)).map(|stage| stage.as_str()).collect()
}

/// Whether it knows the present.
fn sync(freshness: &Freshness, now: Timestamp) -> String {
    let since = clock_time(freshness.since, now);
    let sync = match (freshness.in_sync, freshness.is_fresh()) {
        (true, _) => format!("in sync since {since}"),
        (false, true) => format!("in sync in part since {since}"),
        (false, false) => format!("not in sync since {since}"),
    };
    let heard = freshness
        .age_seconds
        .map_or_else(String::new, |age| format!(", heard {} ago", seconds(age.round())));
    let unchecked = match freshness.clock_unchecked {
        true => "; the clock is not checked, since answers have no Date header",
        false => "",
    };
    sync + &heard + unchecked
}

/// What the reader wants to see.
fn words(wanted: &PodFilter) -> Vec<(&'static str, String)> {
    let cause = wanted.cause.map(|cause| cause.as_str().to_owned());
    let all = [
        ("namespace", wanted.namespace.clone()),
        ("node", wanted.node.clone()),
        ("workload", wanted.workload.clone()),
        ("cause", cause),
    ];
    let set = all.into_iter();
    set.filter_map(|(what, value)| Some((what, value?))).collect()
}

fn counts(names: &[&'static str], pods: &[u64]) -> Vec<NamedCount> {
    let pairs = names.iter().zip(pods).filter(|(_, pods)| **pods > 0);
    pairs.map(|(name, pods)| NamedCount { name, pods: thousands(*pods) }).collect()
}

/// How many pods have exact, bounded or late network times: by what gave them.
fn evidence(figures: &PodFigures) -> Vec<NamedCount> {
    let names = [
        "by the condition (exact from kubelet 1.36 on, may be late before)",
        "by the start of a container (at the latest then)",
        "by an Event (exact)",
    ];
    let pairs = names.into_iter().zip(figures.network_evidence);
    pairs.map(|(name, pods)| NamedCount { name, pods: thousands(pods) }).collect()
}
