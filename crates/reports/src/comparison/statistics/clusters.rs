//! Shares of pods that fail in clusters ([§15.7](crate::specification#s15-7)): what is drawn anew, and what is ranked, are
//! the clusters.

use super::bootstrap::RESAMPLES;
use super::normal::deviations;
use super::proportions::Proportion;
use super::ranks::{RankTest, mann_whitney};

/// The difference of the shares of two sides, after less before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClusteredDifference {
    /// The ends of its interval of 95 %
    pub interval: [f64; 2],
    /// Of 99 %
    pub wide: [f64; 2],
    /// Whether the shares of the clusters after are higher
    pub ranks: RankTest,
}

impl ClusteredDifference {
    /// Of the clusters of both sides, each with at least one pod. The same `seeds` give the same figures.
    pub(crate) fn new([before, after]: [&[Proportion]; 2], [first, second]: [u64; 2]) -> Self {
        let pairs = drawn(before, first).into_iter().zip(drawn(after, second));
        let mut differences: Vec<f64> = pairs.map(|(before, after)| after - before).collect();
        differences.sort_by(f64::total_cmp);
        let share = |side: &[Proportion]| Proportion::sum(side.iter().copied()).share();
        let difference = share(after) - share(before);
        let interval = |share: f64| ends(&differences, difference, share);
        let [one, other] = [before, after].map(ranked);
        Self { interval: interval(0.05), wide: interval(0.01), ranks: mann_whitney(&one, &other) }
    }
}

/// The share of a side, as often as as many of its clusters were drawn as it has, with replacement.
fn drawn(clusters: &[Proportion], seed: u64) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut draw = || {
        let cards = (0..clusters.len()).map(|_| clusters[random.usize(..clusters.len())]);
        Proportion::sum(cards).share()
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

/// The ends of the interval outside of which this share lies: by nearest rank or those of a normal distribution, whichever
/// lies further out. Few clusters with failures are not many enough for the one or for the other.
fn ends(sorted: &[f64], difference: f64, share: f64) -> [f64; 2] {
    let at = |share: f64| {
        let rank = (sorted.len() as f64 * share).round() as usize;
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(difference)
    };
    let count = sorted.len().max(1) as f64;
    let mean = sorted.iter().sum::<f64>() / count;
    let variance = sorted.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
    let half = deviations(share) * variance.sqrt();
    [(difference - half).min(at(share / 2.0)), (difference + half).max(at(1.0 - share / 2.0))]
}

/// The share of each cluster in billionths, the least first.
fn ranked(clusters: &[Proportion]) -> Vec<u64> {
    let mut shares: Vec<u64> = clusters.iter().map(|one| (one.share() * 1e9) as u64).collect();
    shares.sort_unstable();
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(failed: u64, of: u64, number: usize, more: usize) -> Vec<Proportion> {
        let whole = Proportion { count: failed, of };
        let well = Proportion { count: 0, of };
        [vec![whole; number], vec![well; more]].concat()
    }

    #[test]
    fn one_cluster_proves_nothing_and_ten_do() {
        let before = clusters(0, 20, 0, 40);
        let of = |after: &[Proportion]| ClusteredDifference::new([&before, after], [1, 2]);
        let one = of(&clusters(20, 20, 1, 39));
        assert!(one.wide[0] <= 0.0 && one.ranks.p_value > 0.01, "{one:?}");
        let ten = of(&clusters(20, 20, 10, 30));
        assert!(ten.wide[0] > 0.0 && ten.interval[0] > ten.wide[0], "{ten:?}");
        // Two pods of every workload.
        let all = of(&clusters(2, 20, 40, 0));
        assert!(all.wide[0] > 0.0 && all.ranks.p_value < 0.001, "{all:?}");
    }
}
