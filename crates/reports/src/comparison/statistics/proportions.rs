//! Two proportions: Fisher's exact test and Newcombe's interval ([§15.7](crate::specification#s15-7)).

use std::fmt;

use libm::lgamma;
use serde::Serialize;

use super::normal::Z95;

/// So many of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proportion {
    pub count: u64,
    pub of: u64,
}

impl Proportion {
    /// All of these together.
    pub fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, one| Self {
            count: sum.count + one.count,
            of: sum.of + one.of,
        })
    }

    /// Between 0 and 1; 0 of nothing.
    pub fn share(self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }

    /// Both ends of Wilson's interval of 95 %.
    fn wilson(self) -> [f64; 2] {
        if self.of == 0 {
            return [0.0, 1.0];
        }
        let (all, share) = (self.of as f64, self.share());
        let square = Z95 * Z95 / all;
        let middle = share + square / 2.0;
        let half = Z95 * (share * (1.0 - share) / all + square / (4.0 * all)).sqrt();
        let end = |end: f64| (end / (1.0 + square)).clamp(0.0, 1.0);
        [end(middle - half), end(middle + half)]
    }
}

/// `42 of 585`.
impl fmt::Display for Proportion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.count, self.of)
    }
}

/// The interval of 95 % of the difference `after` less `before` of two shares: Newcombe's, of the intervals of Wilson.
pub fn newcombe(before: Proportion, after: Proportion) -> [f64; 2] {
    let (one, other) = (before.share(), after.share());
    let ([low, high], [later_low, later_high]) = (before.wilson(), after.wilson());
    [
        other - one - (other - later_low).hypot(high - one),
        other - one + (later_high - other).hypot(one - low),
    ]
}

/// Tables are as likely if their probabilities differ by less than this part: sums of logarithms are not exact.
const PRECISION: f64 = 1e-7;

/// The two-sided p-value of Fisher's exact test: the probability of all tables with these sums that are not more
/// likely than this one.
pub fn fisher(before: Proportion, after: Proportion) -> f64 {
    let (all, drawn) = (before.of + after.of, before.count + after.count);
    let probability = |count: u64| {
        let ways = choices(before.of, count) + choices(after.of, drawn - count);
        (ways - choices(all, drawn)).exp()
    };
    let own = probability(before.count) * (1.0 + PRECISION);
    let counts = drawn.saturating_sub(after.of)..=drawn.min(before.of);
    counts.map(probability).filter(|probability| *probability <= own).sum::<f64>().min(1.0)
}

/// The logarithm of the number of ways to choose `count` of `of`.
fn choices(of: u64, count: u64) -> f64 {
    let factorial = |number: u64| lgamma(number as f64 + 1.0);
    factorial(of) - factorial(count) - factorial(of - count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides([count, of, later, of_later]: [u64; 4]) -> (Proportion, Proportion) {
        (Proportion { count, of }, Proportion { count: later, of: of_later })
    }

    #[test]
    fn the_lady_tasting_tea() {
        let (before, after) = sides([3, 4, 1, 4]);
        assert!((fisher(before, after) - 34.0 / 70.0).abs() < 1e-9);
        let (before, after) = sides([0, 0, 3, 4]);
        assert!((fisher(before, after) - 1.0).abs() < 1e-9);
    }

    /// Newcombe (1998), table II: 56/70 against 48/80, and 9/10 against 3/10.
    #[test]
    fn intervals_are_those_of_newcombe() {
        for (table, expected) in
            [([48, 80, 56, 70], [0.0524, 0.3339]), ([3, 10, 9, 10], [0.1705, 0.8090])]
        {
            let (before, after) = sides(table);
            let found = newcombe(before, after);
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() < 5e-5, "{table:?}: {found}");
            }
        }
    }
}
