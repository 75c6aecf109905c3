//! Quantiles of values that are all at hand, by nearest rank: each is a value that occurred.

/// The smallest of the sorted values that `percent` of them do not exceed, and for 0 the first; `None` of no
/// values.
pub fn nearest_rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The values in order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
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
        let at = |percent| nearest_rank(&values, percent);
        assert_eq!([at(0), at(50), at(51), at(100)], [1.0, 2.0, 3.0, 10.0].map(Some));
        assert_eq!(nearest_rank::<f64>(&[], 50), None);
    }
}
