//! A row of a comparison: one interval, before and after ([§15.2](crate::specification#s15-2),
//! [§15.3](crate::specification#s15-3)).

use std::borrow::Cow;

use serde::Serialize;

use super::presence::SideName;
use super::statistics::{
    BootstrapQuantiles, DurationSample, RankTest, Resampled, interval, widened,
};
use podinit_core::label_values;
use podinit_core::lifecycle::TimestampMode;
use podinit_core::quantile::LEAST_OF_P99;

/// An interval with fewer observed pods on either side has no row.
pub(super) const LEAST_PODS: usize = 5;
/// Ranks with a corrected p-value below this are no chance.
pub(super) const SIGNIFICANCE: f64 = 0.05;
/// Of the 5 % of tables without a difference that may show one, the intervals of all quantiles have these.
const OF_QUANTILES: f64 = 0.04;
/// How many quantiles of each row have intervals.
const QUANTILES: usize = 2;

/// By how much a quantile may differ until it has moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileMargin {
    /// In percent of the value before
    pub percent: f64,
    /// In seconds: twice the precision of the times
    pub least: f64,
}

impl QuantileMargin {
    /// Of times of this mode.
    pub(crate) const fn new(percent: f64, timestamps: TimestampMode) -> Self {
        let least = match timestamps {
            TimestampMode::Api => 2.0,
            TimestampMode::Fused => 0.1,
        };
        Self { percent, least }
    }

    fn allowed(self, before: f64) -> f64 {
        (self.percent / 100.0 * before).max(self.least)
    }
}

label_values! {
    /// What is said of a row.
    pub enum Verdict {
        Slower => "slower",
        Faster => "faster",
        /// The median is faster and the 90th percentile slower, or the reverse
        Mixed => "mixed",
        Same => "same",
        Unclear => "unclear",
    }
}

impl Verdict {
    /// Whether startups differ.
    pub const fn is_different(self) -> bool {
        matches!(self, Self::Slower | Self::Faster | Self::Mixed)
    }
}

/// The figures of one side; durations in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// How many pods were observed
    pub count: usize,
    pub p50: f64,
    pub p90: f64,
    /// `None` of fewer than 100 pods
    pub p99: Option<f64>,
    pub mean: f64,
}

impl Figures {
    fn from_sample(sample: &DurationSample) -> Self {
        let at = |percent| sample.quantile(percent).map_or(0.0, |nanos| nanos as f64 / 1e9);
        Self {
            count: sample.count(),
            p50: at(50.0),
            p90: at(90.0),
            p99: (sample.count() as u64 >= LEAST_OF_P99).then(|| at(99.0)),
            mean: sample.mean(),
        }
    }
}

/// The difference of a quantile, after less before, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub difference: f64,
    /// The ends of the interval of 95 %
    pub interval: [f64; 2],
    /// What it has to reach to have moved
    pub margin: f64,
    /// Which way it has moved
    pub moved: Option<Moved>,
    /// Which way it has moved beyond chance, by the ranks of the row or by its own interval
    pub proven: Option<Moved>,
}

label_values! {
    /// Which way a quantile has moved.
    pub enum Moved {
        Slower => "slower",
        Faster => "faster",
    }
}

impl Difference {
    fn new(before: f64, after: f64, (low, high): (f64, f64), margin: QuantileMargin) -> Self {
        let (difference, margin) = (after - before, margin.allowed(before));
        Self { difference, interval: [low, high], margin, moved: None, proven: None }
    }

    /// The interval of 95 %, as wide as a table of so many rows asks for.
    pub(super) fn widened(&self, rows: usize) -> [f64; 2] {
        let share = OF_QUANTILES / (QUANTILES * rows.max(1)) as f64;
        widened(self.interval, self.difference, share)
    }

    /// Says which way it has moved beyond chance, where ranks say `of_ranks`, in a table of so many rows.
    fn prove(&mut self, of_ranks: Option<Moved>, rows: usize) {
        let [low, high] = self.widened(rows);
        let beyond = |limit: f64| match (low > limit, high < -limit) {
            (true, _) => Some(Moved::Slower),
            (_, true) => Some(Moved::Faster),
            _ => None,
        };
        self.moved = beyond(0.0).filter(|_| self.difference.abs() >= self.margin);
        self.proven = beyond(self.margin).or(self.moved.filter(|moved| Some(*moved) == of_ranks));
    }

    pub(super) fn is_within_margin(&self) -> bool {
        let [low, high] = self.interval;
        -self.margin <= low && high <= self.margin
    }
}

/// One row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Of what: an interval or a duration of a milestone of your own by its name, or a gate, whose name is a stranger's
    pub interval: Cow<'static, str>,
    pub before: Figures,
    pub after: Figures,
    pub p50: Difference,
    pub p90: Difference,
    /// The difference of the 99th percentiles, in seconds; `None` of fewer than 100 pods on either side
    pub(super) p99_difference: Option<f64>,
    /// The side that does not have this stage: 0 counts there, and of every pod that lacks it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_there: Option<SideName>,
    /// What the intervals were found from
    pub resampled: Resampled,
    /// The probability that a pod after is slower than a pod before; ties count half
    pub probability_slower: f64,
    /// Two-sided
    pub p_value: f64,
    /// Corrected over the rows of the table
    pub corrected_p_value: f64,
    pub verdict: Verdict,
    /// How many rows its table has
    #[serde(skip)]
    pub(super) rows: usize,
}

/// A sample as rows need it, drawn once for each way of drawing.
pub struct DrawnSample<'a> {
    pub sample: &'a DurationSample,
    seed: u64,
    minutes: std::cell::OnceCell<BootstrapQuantiles>,
    pods: std::cell::OnceCell<BootstrapQuantiles>,
}

impl<'a> DrawnSample<'a> {
    /// Of a sample, with the seed of its draws.
    pub(crate) const fn new(sample: &'a DurationSample, seed: u64) -> Self {
        Self { sample, seed, minutes: std::cell::OnceCell::new(), pods: std::cell::OnceCell::new() }
    }

    fn resamples(&self, resampled: Resampled) -> &BootstrapQuantiles {
        let cell = match resampled {
            Resampled::Minutes => &self.minutes,
            Resampled::Pods => &self.pods,
        };
        cell.get_or_init(|| BootstrapQuantiles::draw(self.sample, resampled, self.seed))
    }
}

impl Row {
    /// Compares two samples, which a test has compared; `None` where one has too few pods. The verdict stands
    /// once the p-values of all rows are corrected: [`Row::correct`].
    pub fn new(
        interval_name: Cow<'static, str>,
        (before, after): (&DrawnSample<'_>, &DrawnSample<'_>),
        test: impl FnOnce() -> RankTest,
        margin: QuantileMargin,
    ) -> Option<Self> {
        if before.sample.count().min(after.sample.count()) < LEAST_PODS {
            return None;
        }
        let resampled = Resampled::from_counts(before.sample.minutes(), after.sample.minutes());
        let (one, other) = (before.resamples(resampled), after.resamples(resampled));
        let (figures, later) =
            (Figures::from_sample(before.sample), Figures::from_sample(after.sample));
        let RankTest { probability, p_value } = test();
        let p50 = interval(&one.p50, &other.p50);
        let p90 = interval(&one.p90, &other.p90);
        Some(Self {
            interval: interval_name,
            p50: Difference::new(figures.p50, later.p50, p50, margin),
            p90: Difference::new(figures.p90, later.p90, p90, margin),
            p99_difference: later.p99.zip(figures.p99).map(|(after, before)| after - before),
            before: figures,
            after: later,
            not_there: None,
            resampled,
            probability_slower: probability,
            p_value,
            corrected_p_value: p_value,
            verdict: Verdict::Unclear,
            rows: 1,
        })
    }

    /// Takes the corrected p-value in a table of so many rows, and with it the verdict
    /// ([§15.3](crate::specification#s15-3)).
    fn judge(&mut self, corrected_p_value: f64, rows: usize) {
        self.corrected_p_value = corrected_p_value;
        self.rows = rows;
        let of_ranks = match self.probability_slower > 0.5 {
            true => Moved::Slower,
            false => Moved::Faster,
        };
        let of_ranks = (corrected_p_value < SIGNIFICANCE).then_some(of_ranks);
        for quantile in [&mut self.p50, &mut self.p90] {
            quantile.prove(of_ranks, rows);
        }
        let proven = [self.p50.proven, self.p90.proven];
        let (slower, faster) =
            (proven.contains(&Some(Moved::Slower)), proven.contains(&Some(Moved::Faster)));
        self.verdict = match (slower, faster) {
            (true, false) => Verdict::Slower,
            (false, true) => Verdict::Faster,
            (true, true) => Verdict::Mixed,
            _ if self.p50.is_within_margin() && self.p90.is_within_margin() => Verdict::Same,
            _ => Verdict::Unclear,
        };
    }

    /// Corrects the p-values of all rows of a table by Holm, and gives each its verdict.
    pub fn correct<'a>(rows: impl IntoIterator<Item = &'a mut Self>) {
        let mut rows: Vec<&mut Self> = rows.into_iter().collect();
        let p_values: Vec<f64> = rows.iter().map(|row| row.p_value).collect();
        let (corrected, all) = (super::statistics::holm(&p_values), p_values.len());
        for (row, corrected) in rows.iter_mut().zip(corrected) {
            row.judge(corrected, all);
        }
    }
}
