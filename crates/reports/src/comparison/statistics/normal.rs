//! The normal distribution: its tails, and the deviation beyond which they lie.

use std::f64::consts::SQRT_2;

use libm::erfc;

/// The deviation that 95 % of a normal distribution lie within.
pub(super) const Z95: f64 = 1.959_963_984_540_054;

/// No share that is asked for lies beyond so many standard deviations.
const MOST_DEVIATIONS: f64 = 38.0;

/// The share of a normal distribution that lies further from its middle than so many standard deviations, on both
/// sides together; at most 1.
pub(super) fn beyond(deviations: f64) -> f64 {
    erfc(deviations / SQRT_2).min(1.0)
}

/// The number of standard deviations beyond which this share lies, on both sides together: the reverse of [`beyond`].
pub(super) fn deviations(share: f64) -> f64 {
    let (mut low, mut high) = (0.0, MOST_DEVIATIONS);
    // Each step halves what is between them; after so many steps nothing is.
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_the_tables() {
        for (share, expected) in [(0.05, Z95), (0.01, 2.575_829_303_549), (1.0, 0.0)] {
            assert!((deviations(share) - expected).abs() < 1e-9, "{share}");
        }
        assert!((beyond(deviations(1e-6)) / 1e-6 - 1.0).abs() < 1e-9);
    }
}
