//! The page at `/`: what is going on in the cluster, from figures and records.

use askama::Template;

use super::groups::{Group, groups};
use super::history::{History, Sample};
use super::river::{Band, HEIGHT, WIDTH, river};
use super::sentence::Situation;
use super::slo_card::SloCard;
use super::waiting_row::WaitingRow;
use super::waterfall::{Waterfall, waterfall};
use crate::inspect::explain::{Context, Explanation};
use crate::inspect::problems::Problem;
use crate::metrics::Figures;
use podinit_core::lifecycle::{Outcome, Progress, Record, Stage};
use podinit_core::timestamp::Timestamp;

/// Everything that the page is made of.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    pub figures: Figures,
    pub history: History,
    /// Pods in flight, by stage, in each the one first that entered it first
    pub in_flight: Vec<Record>,
    /// The pods that are stuck
    pub stuck: Vec<Record>,
    /// What is broken
    pub problems: Vec<Problem>,
    /// The slowest startups of the last hour, the slowest first
    pub slowest: Vec<Record>,
    /// When a pod became ready last
    pub last_ready: Option<Timestamp>,
    pub foot: Foot,
}

/// What stands at the foot of every page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Foot {
    pub version: &'static str,
    pub synced: bool,
    /// Ready, or why not
    pub ready: String,
    /// Live, or why not
    pub live: String,
    /// The UTC time of the page
    pub time: String,
    /// Seconds until the page loads again; `None` where it does not
    pub refresh: Option<u64>,
}

/// So many problems are shown, the worst.
const MOST_PROBLEMS: usize = 8;

/// A count with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    name: &'static str,
    pods: u64,
}

#[derive(Template)]
#[template(
    path = "inspect/page/templates/overview.html",
    config = "src/askama.toml"
)]
struct OverviewPage {
    root: &'static str,
    sentence: String,
    problems: Vec<Problem>,
    more_problems: usize,
    bands: Vec<Band>,
    most: u64,
    width: f64,
    height: f64,
    stages: Vec<Named>,
    is_stuck: bool,
    rows: Vec<WaitingRow>,
    left_out: u64,
    groups: Vec<Group>,
    slos: Vec<SloCard>,
    slowest: Vec<Waterfall>,
    outcomes: Vec<Named>,
    evidence: Vec<Named>,
    foot: Foot,
}

impl Overview {
    /// The page as of `now`.
    ///
    /// # Errors
    /// None: the template writes to a text.
    pub fn render(mut self, now: Timestamp) -> askama::Result<String> {
        // The river and the burn reach to the present.
        self.history.add(Sample::new(now, &self.figures));
        let situation = self.situation(now);
        let samples: Vec<_> = self.history.since_an_hour(now).collect();
        let (bands, most) = river(&samples, now);
        let stuck_pods: u64 = self.figures.stuck.iter().sum();
        let is_stuck = stuck_pods > 0;
        let (listed, of) = match is_stuck {
            true => (&mut self.stuck, stuck_pods),
            false => (&mut self.in_flight, self.figures.in_flight().iter().sum()),
        };
        listed.sort_by_key(entered);
        let listed = &*listed;
        let rows: Vec<_> = (listed
            .iter()
            .filter_map(|record| WaitingRow::new(record, now)))
        .take(MOST_ROWS)
        .collect();
        let counts = |names: &[&'static str], pods: &[u64]| {
            let pairs = names.iter().zip(pods).filter(|(_, pods)| **pods > 0);
            pairs
                .map(|(name, pods)| Named { name, pods: *pods })
                .collect()
        };
        let page = OverviewPage {
            root: "",
            sentence: match self.problems.first() {
                Some(worst) => worst.sentence.clone(),
                None => situation.sentence(),
            },
            more_problems: self.problems.len().saturating_sub(MOST_PROBLEMS),
            problems: self.problems.into_iter().take(MOST_PROBLEMS).collect(),
            bands,
            most,
            width: WIDTH,
            height: HEIGHT,
            stages: counts(&Stage::ALL.map(Stage::as_str), &self.figures.in_flight()),
            is_stuck,
            left_out: of.saturating_sub(rows.len() as u64),
            rows,
            groups: groups(listed),
            slos: (self.figures.slos.iter())
                .map(|slo| SloCard::new(slo, &self.history, now))
                .collect(),
            slowest: self
                .slowest
                .iter()
                .map(|record| slow(record, now))
                .collect(),
            outcomes: counts(&Outcome::ALL.map(Outcome::as_str), &self.figures.finished),
            evidence: evidence(&self.figures),
            foot: self.foot,
        };
        page.render()
    }

    fn situation(&self, now: Timestamp) -> Situation {
        let mut situation = Situation {
            in_flight: self.figures.in_flight(),
            stuck: self.figures.stuck,
            oldest: self.figures.oldest,
            node: None,
            last_ready: self.last_ready,
            now,
        };
        let stage = situation.stage();
        let in_stage: Vec<Record> = (self.in_flight.iter())
            .filter(|record| match record.progress {
                Progress::InFlight { waiting, .. } => Some(waiting.stage()) == stage,
                Progress::Ended { .. } => false,
            })
            .cloned()
            .collect();
        let by_node = groups(&in_stage)
            .into_iter()
            .find(|group| group.by == "node");
        let largest = by_node.and_then(|group| group.counts.into_iter().next());
        situation.node = largest.map(|(node, pods, _)| (node, pods));
        situation
    }
}

/// When a pod in flight entered its stage.
fn entered(record: &Record) -> Option<Timestamp> {
    match record.progress {
        Progress::InFlight { entered, .. } => Some(entered),
        Progress::Ended { .. } => None,
    }
}

/// So many pods are listed.
const MOST_ROWS: usize = 100;

fn slow(record: &Record, now: Timestamp) -> Waterfall {
    waterfall(&Explanation::new(record, Context::default(), now))
}

/// How many pods have exact, bounded or late network times: by what gave them.
fn evidence(figures: &Figures) -> Vec<Named> {
    let names = [
        "by the condition (exact from kubelet 1.36 on, may be late before)",
        "by the start of a container (at the latest then)",
        "by an Event (exact)",
    ];
    let pairs = names.into_iter().zip(figures.network_evidence);
    pairs.map(|(name, pods)| Named { name, pods }).collect()
}
