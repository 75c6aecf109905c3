//! The quantiles of a row that answer: one sentence speaks of one of them.

use super::row::{Difference, Moved, Row};
use podinit_core::label_values;

label_values! {
    /// A quantile that has an interval.
    pub(super) enum IntervalQuantile {
        P50 => "p50",
        P90 => "p90",
    }
}

impl IntervalQuantile {
    /// Its difference in a row.
    pub(super) const fn difference_in(self, row: &Row) -> &Difference {
        match self {
            Self::P50 => &row.p50,
            Self::P90 => &row.p90,
        }
    }

    /// Its values in a row, before and after.
    pub(super) const fn values(self, row: &Row) -> [f64; 2] {
        match self {
            Self::P50 => [row.before.p50, row.after.p50],
            Self::P90 => [row.before.p90, row.after.p90],
        }
    }

    /// What a sentence on a row is about: the slower one where both moved against each other, the first that is proven,
    /// or the first of which too little is known; otherwise the median.
    pub(super) fn told(row: &Row) -> Self {
        let find = |is_it: &dyn Fn(&Difference) -> bool| {
            Self::ALL.into_iter().find(|quantile| is_it(quantile.difference_in(row)))
        };
        let both = row.verdict == super::Verdict::Mixed;
        let slower = || find(&|one| both && one.proven == Some(Moved::Slower));
        let proven = || find(&|one| one.proven.is_some());
        let large = || find(&|one| !one.is_within_margin() && one.difference.abs() >= one.margin);
        let open = || find(&|one| !one.is_within_margin());
        slower().or_else(proven).or_else(large).or_else(open).unwrap_or(Self::P50)
    }
}
