//! Quantiles of the values of single startups.

/// The value at a quantile of sorted values, by nearest rank.
pub(super) fn quantile(sorted: &[f64], quantile: f64) -> Option<f64> {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The values in order.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_occurred() {
        let values = sorted([3.0, 1.0, 2.0, 10.0]);
        let at = |share| quantile(&values, share);
        assert_eq!(
            [at(0.0), at(0.5), at(0.51), at(1.0)],
            [1.0, 2.0, 3.0, 10.0].map(Some)
        );
        assert_eq!(quantile(&[], 0.5), None);
    }
}
