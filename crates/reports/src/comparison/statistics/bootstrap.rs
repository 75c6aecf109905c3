//! Intervals of quantiles by bootstrap ([§15.2](crate::specification#s15-2)).

use std::collections::BTreeMap;

use super::normal::{Z95, deviations};
use super::sample::{DurationSample, Resampled, reaches};

/// How many times each side is drawn anew.
pub(super) const RESAMPLES: usize = 2_000;

/// The median and the 90th percentile of a side, in nanoseconds, as often as it was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BootstrapQuantiles {
    pub p50: Vec<u64>,
    pub p90: Vec<u64>,
}

/// Pods that are drawn together and have the same duration, rounded.
struct BootstrapCell {
    nanos: u64,
    /// What has to be drawn for it
    unit: usize,
    weight: f64,
}

/// A side as it is drawn: a card for each minute or pod.
struct BootstrapDeck {
    /// The shortest duration first
    cells: Vec<BootstrapCell>,
    /// The unit of each card
    cards: Vec<u32>,
    /// The weight of each unit
    units: Vec<f64>,
}

impl BootstrapQuantiles {
    /// Draws as many minutes or pods as `sample` has, with replacement, [`RESAMPLES`] times. The same `seed`
    /// gives the same figures.
    pub(crate) fn draw(sample: &DurationSample, resampled: Resampled, seed: u64) -> Self {
        let deck = BootstrapDeck::new(sample, resampled);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drawn = vec![0_u32; deck.units.len()];
        let quantiles = (0..RESAMPLES).map(|_| {
            drawn.fill(0);
            for _ in 0..deck.cards.len() {
                let card = random.usize(..deck.cards.len());
                drawn[deck.cards[card] as usize] += 1;
            }
            deck.quantiles(&drawn)
        });
        let (p50, p90) = quantiles.unzip();
        Self { p50, p90 }
    }
}

impl BootstrapDeck {
    fn new(sample: &DurationSample, resampled: Resampled) -> Self {
        match resampled {
            Resampled::Minutes => Self::of_minutes(sample),
            Resampled::Pods => Self::of_pods(sample),
        }
    }

    fn of_minutes(sample: &DurationSample) -> Self {
        let mut numbers = BTreeMap::new();
        let mut weights: BTreeMap<(u64, usize), f64> = BTreeMap::new();
        let mut units = Vec::new();
        for pod in sample.observed() {
            let unit = *numbers.entry(pod.minute).or_insert(units.len());
            if unit == units.len() {
                units.push(0.0);
            }
            units[unit] += pod.weight;
            *weights.entry((rounded(pod.nanos), unit)).or_default() += pod.weight;
        }
        let cells = weights.into_iter();
        Self {
            cells: cells
                .map(|((nanos, unit), weight)| BootstrapCell { nanos, unit, weight })
                .collect(),
            cards: (0..units.len() as u32).collect(),
            units,
        }
    }

    /// Pods with the same rounded duration and weight are one unit: which of them is drawn does not matter.
    fn of_pods(sample: &DurationSample) -> Self {
        let kind = |pod: &super::ObservedDuration| (rounded(pod.nanos), pod.weight.to_bits());
        let kinds: BTreeMap<(u64, u64), f64> =
            sample.observed().iter().map(|pod| (kind(pod), pod.weight)).collect();
        let numbers: BTreeMap<_, u32> = kinds.keys().copied().zip(0..).collect();
        let cells = kinds.iter().enumerate();
        Self {
            cells: cells
                .map(|(unit, ((nanos, _), weight))| BootstrapCell {
                    nanos: *nanos,
                    unit,
                    weight: *weight,
                })
                .collect(),
            cards: sample.observed().iter().map(|pod| numbers[&kind(pod)]).collect(),
            units: kinds.into_values().collect(),
        }
    }

    /// The median and the 90th percentile of what was drawn, by nearest rank.
    fn quantiles(&self, drawn: &[u32]) -> (u64, u64) {
        let weights = self.units.iter().zip(drawn);
        let all: f64 = weights.map(|(weight, times)| weight * f64::from(*times)).sum();
        let (mut sum, mut p50) = (0.0, None);
        for cell in &self.cells {
            sum += cell.weight * f64::from(drawn[cell.unit]);
            if p50.is_none() && reaches(sum, 50.0, all) {
                p50 = Some(cell.nanos);
            }
            if reaches(sum, 90.0, all) {
                return (p50.unwrap_or(cell.nanos), cell.nanos);
            }
        }
        let last = self.cells.last().map_or(0, |cell| cell.nanos);
        (p50.unwrap_or(last), last)
    }
}

/// A duration to three significant digits.
pub(super) const fn rounded(nanos: u64) -> u64 {
    if nanos < 1_000 {
        return nanos;
    }
    let unit = 10_u64.pow(nanos.ilog10() - 2);
    (nanos + unit / 2) / unit * unit
}

/// The interval of 95 % of the differences `after` less `before`, in seconds: their 2.5th and 97.5th percentile by
/// nearest rank.
pub fn interval(before: &[u64], after: &[u64]) -> (f64, f64) {
    let pairs = before.iter().zip(after);
    ends(pairs.map(|(before, after)| *after as i64 - *before as i64))
}

/// The interval of 95 % of differences in nanoseconds, in seconds: their 2.5th and 97.5th percentile by nearest rank.
pub(crate) fn ends(differences: impl Iterator<Item = i64>) -> (f64, f64) {
    let mut differences: Vec<i64> = differences.collect();
    differences.sort_unstable();
    let at = |permille: usize| {
        let rank = (differences.len() * permille).div_ceil(1_000);
        let found = differences.get(rank.saturating_sub(1));
        found.or(differences.last()).copied().unwrap_or_default() as f64 / 1e9
    };
    (at(25), at(975))
}

/// An interval of 95 % around `middle`, widened so that the difference lies outside with the probability `share` only:
/// each end goes out as that of a normal distribution would. So small shares are beyond what resamples can count.
pub(crate) fn widened([low, high]: [f64; 2], middle: f64, share: f64) -> [f64; 2] {
    let times = deviations(share) / Z95;
    [middle - (middle - low) * times, middle + (high - middle) * times]
}
