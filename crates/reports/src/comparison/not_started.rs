//! The pods that did not start, before and after ([§15.7](crate::specification#s15-7)).

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;

use super::only::Place;
use super::row::LEAST_PODS;
use super::side::{ComparisonSide, sample};
use super::start::{NotStartedReason, PodFate};
use super::start_parts::StartPart;
use super::statistics::{ClusteredDifference, Proportion, fisher, newcombe};
use super::together::{KnownStart, Together, is_outage};
use podinit_core::dimension::{Dimension, grouped};
use podinit_core::label_values;
use podinit_core::lifecycle::Interval;
use podinit_core::quantile::{LEAST_OF_P99, nearest_rank};

/// Its name in documents and in rules.
pub(super) const NOT_STARTED: &str = "not_started";
/// Of the 5 % of tables without a difference that may show one, this row has these: a p-value below is no chance.
pub(super) const OF_STARTS: f64 = 0.01;
/// The draws are the same in each run.
const SEEDS: [u64; 2] = [15_700, 15_701];
/// A smaller difference of the shares does not matter.
pub(super) const MARGIN: f64 = 0.01;
/// So many reasons are stated, those that grew most first.
const MOST_REASONS: usize = 10;

label_values! {
    /// Whether more pods do not start.
    pub enum StartVerdict {
        Worse => "worse",
        Better => "better",
        Same => "same",
        Unclear => "unclear",
    }
}

impl StartVerdict {
    fn from_difference(
        difference: f64,
        [low, high]: [f64; 2],
        is_proven: impl FnOnce() -> bool,
    ) -> Self {
        match difference.abs() >= MARGIN && is_proven() {
            true if difference > 0.0 => Self::Worse,
            true => Self::Better,
            false if -MARGIN <= low && high <= MARGIN => Self::Same,
            false => Self::Unclear,
        }
    }
}

/// Whether as many pods would be worse if all of them were independent.
fn is_worse(before: Proportion, after: Proportion) -> bool {
    after.share() - before.share() >= MARGIN && fisher(before, after) < OF_STARTS
}

/// The statistics of the row.
struct RowStatistics {
    interval: [f64; 2],
    wide_interval: Option<[f64; 2]>,
    p_value: f64,
    verdict: StartVerdict,
    worse_from: Option<u64>,
}

impl RowStatistics {
    fn from_clusters(
        together: Together,
        clusters: &[Vec<Proportion>; 2],
        [one, other]: [Proportion; 2],
        is_outage: bool,
    ) -> Self {
        let difference = other.share() - one.share();
        let [low, high] = newcombe(one, other);
        let of_pods = worse_from(one, other.of);
        if together == Together::Pods {
            let (interval, p_value) = ([low, high], fisher(one, other));
            let verdict =
                StartVerdict::from_difference(difference, interval, || p_value < OF_STARTS);
            return Self { interval, wide_interval: None, p_value, verdict, worse_from: of_pods };
        }
        let found = ClusteredDifference::new(clusters.each_ref().map(|side| &**side), SEEDS);
        // What fails together tells less than as many pods that are independent.
        let interval = [found.interval[0].min(low), found.interval[1].max(high)];
        let [wide_low, wide_high] = found.wide;
        let is_higher = found.ranks.probability > 0.5;
        let is_proven = is_outage
            || wide_low > 0.0
            || wide_high < 0.0
            || (found.ranks.p_value < OF_STARTS && is_higher == (difference > 0.0));
        let least = one.share() + (difference - wide_low).max(MARGIN);
        let least = (least * other.of as f64).ceil() as u64;
        Self {
            interval,
            wide_interval: Some(found.wide),
            p_value: found.ranks.p_value,
            verdict: StartVerdict::from_difference(difference, interval, || is_proven),
            worse_from: of_pods.map(|from| from.max(least)).filter(|from| *from <= other.of),
        }
    }
}

/// The pods of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Starts {
    /// How many did not start, of those that started and those that did not
    #[serde(flatten)]
    pub pods: Proportion,
    pub share: f64,
    /// How many more were in flight for too short a time to tell
    pub too_new: u64,
    /// How many more were there before the side shows every new pod
    pub earlier: u64,
}

/// Why pods did not start, and how many.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ReasonCount {
    /// `waiting`, `failed` or `rejected`
    pub state: &'static str,
    /// The cause, and the stage in which it was, where they are known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
    pub before: u64,
    pub after: u64,
    #[serde(skip)]
    pub(super) reason: NotStartedReason,
}

/// The workload that has more than half of an increase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MostOfIncrease {
    /// `NAMESPACE/KIND/NAME`
    pub workload: String,
    /// How many more of its pods did not start, of as many pods as after
    pub pods: u64,
    /// The same of all pods
    pub of: u64,
}

/// The row of the pods that did not start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotStarted {
    /// What it says in words
    pub text: String,
    pub verdict: StartVerdict,
    /// A pod in flight for longer did not start, in seconds; `None` where no pod became ready
    pub limit: Option<f64>,
    pub before: Starts,
    pub after: Starts,
    /// The share after less that before
    pub difference: f64,
    /// What was drawn anew for the intervals and ranked for the p-value: what fails together
    pub together: Together,
    /// The ends of its interval of 95 %
    pub interval: [f64; 2],
    /// The ends of its interval of 99 %, which decides; `None` where pods are taken for independent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wide_interval: Option<[f64; 2]>,
    /// Two-sided
    pub p_value: f64,
    /// The least number of pods that did not start, of those after, that would have been worse
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worse_from: Option<u64>,
    /// The workload that has more than half of the increase, where there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most: Option<MostOfIncrease>,
    /// Those that grew most first
    pub(crate) reasons: Vec<ReasonCount>,
    /// The values of each dimension whose pods did not start more often, where the row is not `same`
    pub(crate) parts: Vec<StartPart>,
    /// The values that account for nearly all of a growth, where few do
    pub only: Option<Place>,
}

impl NotStarted {
    /// Compares two sides; `None` where one has no pod that counts.
    pub(super) fn from_sides(before: &ComparisonSide, after: &ComparisonSide) -> Option<Self> {
        let limit = limit(before).or_else(|| limit(after));
        let [mut one, mut other] = [before, after].map(|side| SideCounts::from_side(side, limit));
        let told = [&mut one, &mut other].map(|side| std::mem::take(&mut side.pods));
        let (together, clusters, [earlier, later]) = Together::from_sides(told);
        let is_outage = is_outage([&earlier, &later]);
        one.count(earlier);
        other.count(later);
        let (earlier, later) = (one.starts, other.starts);
        if earlier.pods.of == 0 || later.pods.of == 0 {
            return None;
        }
        let RowStatistics { interval, wide_interval, p_value, verdict, worse_from } =
            RowStatistics::from_clusters(
                together,
                &clusters,
                [earlier.pods, later.pods],
                is_outage,
            );
        let parts = match verdict {
            StartVerdict::Same => Vec::new(),
            _ => StartPart::from_sides([&one, &other]),
        };
        let difference = later.share - earlier.share;
        let growth = difference * later.pods.of as f64;
        let only = match verdict {
            StartVerdict::Worse => StartPart::only(&parts, growth, [&one, &other]),
            _ => None,
        };
        let is_told = matches!(verdict, StartVerdict::Worse | StartVerdict::Unclear)
            && difference >= MARGIN
            && growth.round() >= LEAST_PODS as f64;
        let most = is_told.then(|| most_of_increase([&one, &other], growth)).flatten();
        let mut found = Self {
            text: String::new(),
            verdict,
            limit: limit.map(|nanos| nanos as f64 / 1e9),
            before: earlier,
            after: later,
            difference,
            together,
            interval,
            wide_interval,
            p_value,
            worse_from,
            most,
            reasons: reasons(&one.reasons, &other.reasons),
            parts,
            only,
        };
        found.text = found.in_words();
        Some(found)
    }
}

/// The 99th percentile of the time from creation to ready, the longest of few, in nanoseconds.
fn limit(side: &ComparisonSide) -> Option<u64> {
    let durations = sample(side.observed(&Interval::CreatedToReady.into())).durations();
    let percent = if durations.len() as u64 >= LEAST_OF_P99 { 99 } else { 100 };
    nearest_rank(&durations, percent)
}

/// The pods of a side, counted.
#[derive(Default)]
pub(super) struct SideCounts<'a> {
    pub(super) starts: Starts,
    reasons: HashMap<NotStartedReason, u64>,
    /// Those that count
    pub(super) pods: Vec<KnownStart<'a>>,
}

impl<'a> SideCounts<'a> {
    /// The pods of which is known whether they started, and how many others there are.
    fn from_side(side: &'a ComparisonSide, limit: Option<u64>) -> Self {
        let mut counted = Self::default();
        let Some(until) = side.end() else {
            return counted;
        };
        for pod in side.followed() {
            let reason = match pod.start.fate(limit, until) {
                PodFate::LeftOut => continue,
                _ if side.complete_since().is_some_and(|since| pod.start.created < since) => {
                    counted.starts.earlier += 1;
                    continue;
                }
                PodFate::TooNew => {
                    counted.starts.too_new += 1;
                    continue;
                }
                PodFate::Started => None,
                PodFate::NotStarted(reason) => Some(reason),
            };
            counted.pods.push(KnownStart { pod, reason });
        }
        counted
    }

    /// Counts these.
    fn count(&mut self, pods: Vec<KnownStart<'a>>) {
        for reason in pods.iter().filter_map(|told| told.reason) {
            *self.reasons.entry(reason).or_default() += 1;
        }
        let count = self.reasons.values().sum();
        self.starts.pods = Proportion { count, of: pods.len() as u64 };
        self.starts.share = self.starts.pods.share();
        self.pods = pods;
    }

    /// Each of them.
    pub(super) fn each(&self) -> impl Iterator<Item = KnownStart<'a>> {
        self.pods.iter().copied()
    }
}

/// The least number of `of` pods that would have been worse; more of them would be too.
fn worse_from(before: Proportion, of: u64) -> Option<u64> {
    let is_worse = |count: u64| is_worse(before, Proportion { count, of });
    let (mut low, mut high) = (0, of);
    if !is_worse(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        match is_worse(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(low)
}

fn reasons(
    before: &HashMap<NotStartedReason, u64>,
    after: &HashMap<NotStartedReason, u64>,
) -> Vec<ReasonCount> {
    let of =
        |counts: &HashMap<NotStartedReason, u64>, reason| counts.get(reason).copied().unwrap_or(0);
    let others = before.keys().filter(|reason| !after.contains_key(reason));
    let all = after.keys().chain(others).map(|reason| ReasonCount {
        state: reason.state(),
        cause: reason.waiting().map(|waiting| waiting.cause().as_str()),
        stage: reason.waiting().map(|waiting| waiting.stage().as_str()),
        before: of(before, reason),
        after: of(after, reason),
        reason: *reason,
    });
    let mut all: Vec<ReasonCount> = all.collect();
    all.sort_by_key(|one| {
        (Reverse(one.after as i64 - one.before as i64), one.state, one.stage, one.cause)
    });
    all.truncate(MOST_REASONS);
    all
}

/// The workload that has more than half of `growth`. Its pods before are taken for as many as there would be of as many pods
/// as after.
fn most_of_increase([before, after]: [&SideCounts<'_>; 2], growth: f64) -> Option<MostOfIncrease> {
    let scale = after.starts.pods.of as f64 / before.starts.pods.of as f64;
    let [earlier, later] = [before, after].map(|side| {
        grouped(side.each().filter(|told| told.reason.is_some()), |told| {
            told.pod.values(Dimension::Workload)
        })
    });
    let mut parts = later.into_iter().map(|(workload, pods)| {
        let was = earlier.get(&workload).map_or(0, Vec::len);
        (workload.into_owned(), pods.len() as f64 - was as f64 * scale)
    });
    let (workload, part) = parts.find(|(_, part)| *part > growth / 2.0)?;
    let (pods, of) = (part.round() as u64, growth.round() as u64);
    Some(MostOfIncrease { workload, pods, of })
}
