//! Tests of ranks: Mann-Whitney, van Elteren, and the correction of Holm
//! ([§15.2](crate::specification#s15-2), [§15.4](crate::specification#s15-4)).

use super::normal::beyond;

/// What ranks say of two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The probability that a pod after is slower than a pod before; ties count half
    pub probability: f64,
    /// The two-sided p-value; 1 where nothing can differ
    pub p_value: f64,
}

/// The ranks of two samples.
struct SampleRanks {
    before: f64,
    after: f64,
    /// The pairs in which the one after is slower; ties count half
    slower: f64,
    /// Σ (t³ − t) over the groups of equal durations
    ties: f64,
}

impl SampleRanks {
    /// Of durations of which the shortest comes first.
    fn new(before: &[u64], after: &[u64]) -> Self {
        let (mut slower, mut ties) = (0.0, 0.0);
        let (mut before_rest, mut after_rest) = (before, after);
        while let Some(least) = before_rest.first().into_iter().chain(after_rest.first()).min() {
            let equal = |sorted: &[u64]| sorted.partition_point(|nanos| nanos <= least);
            let (own, others) = (equal(before_rest), equal(after_rest));
            let faster = (before.len() - before_rest.len()) as f64;
            slower += others as f64 * (faster + own as f64 / 2.0);
            let tied = (own + others) as f64;
            ties += tied * tied * tied - tied;
            before_rest = &before_rest[own..];
            after_rest = &after_rest[others..];
        }
        Self { before: before.len() as f64, after: after.len() as f64, slower, ties }
    }

    fn pairs(&self) -> f64 {
        self.before * self.after
    }

    fn probability(&self) -> f64 {
        self.slower / self.pairs()
    }

    /// How many pairs more than half have a slower one after.
    fn excess(&self) -> f64 {
        self.slower - self.pairs() / 2.0
    }

    /// The variance of the excess where both sides are alike, corrected for ties.
    fn variance(&self) -> f64 {
        let all = self.before + self.after;
        let ties = self.ties / (all * (all - 1.0));
        self.pairs() / 12.0 * (all + 1.0 - ties)
    }
}

/// The two-sided p-value of a deviation with this variance.
fn two_sided(deviation: f64, variance: f64) -> f64 {
    match variance > 0.0 {
        true => beyond(deviation / variance.sqrt()),
        false => 1.0,
    }
}

/// The test of Mann and Whitney for durations of which the shortest comes first: by the normal approximation, with the
/// corrections for ties and, of 1/2, for continuity. Both sides must have a duration.
pub fn mann_whitney(before: &[u64], after: &[u64]) -> RankTest {
    let ranks = SampleRanks::new(before, after);
    RankTest {
        probability: ranks.probability(),
        p_value: two_sided(ranks.excess().abs() - 0.5, ranks.variance()),
    }
}

/// The test of van Elteren: that of Mann and Whitney within each pair of `strata`, weighted by 1 / (pods of both + 1),
/// without the correction for continuity. The probability is the mean of the pairs, weighted by pods before. In each
/// pair both sides must have a duration, and the shortest comes first.
pub(crate) fn van_elteren<'a>(
    strata: impl IntoIterator<Item = (&'a [u64], &'a [u64])>,
) -> RankTest {
    let (mut deviation, mut variance, mut probability, mut before) = (0.0, 0.0, 0.0, 0.0);
    for (one, other) in strata {
        let ranks = SampleRanks::new(one, other);
        let weight = 1.0 / (ranks.before + ranks.after + 1.0);
        deviation += weight * ranks.excess();
        variance += weight * weight * ranks.variance();
        probability += ranks.before * ranks.probability();
        before += ranks.before;
    }
    RankTest {
        probability: probability / before,
        p_value: two_sided(f64::abs(deviation), variance),
    }
}

/// The p-values as Holm corrects them, in the order of the given ones.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut greatest = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        greatest = greatest.max(left * p_values[index]).min(1.0);
        corrected[index] = greatest;
    }
    corrected
}
