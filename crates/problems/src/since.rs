//! Since when a problem lasts ([§13.6](crate::specification#s13-6)): a few pods that have waited for much longer do not
//! say when it began.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use podinit_core::timestamp::Timestamp;

/// At most one pod in so many is left out.
const ONE_IN: usize = 10;
/// How much later than the ones left out the others had the cause.
const GAP: Duration = Duration::from_secs(900);

/// The few pods of a problem that had the cause long before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "earlier")]
pub struct Earlier {
    /// How many they are
    pub pods: usize,
    /// When the first of them had the cause first in its stage
    pub since: Timestamp,
}

/// The beginning of a problem, and the pods that are left out of it. `times` are when its pods first had the cause, in
/// order, and not empty.
pub(super) fn since(times: &[Timestamp]) -> (Timestamp, Option<Earlier>) {
    let most = times.len() / ONE_IN;
    let is_gap = |few: &usize| times[*few - 1].plus(GAP) <= times[*few];
    let earlier = (1..=most).rev().find(is_gap);
    let first = times[earlier.unwrap_or(0)];
    let earlier = earlier.map(|pods| Earlier { pods, since: times[0] });
    (first, earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Since when, and who is left out, of pods that have had the cause since these seconds.
    fn since_seconds(seconds: &[i64]) -> (i64, Option<(usize, i64)>) {
        let begin = Timestamp::from_seconds(1_700_000_000);
        let at = |second: &i64| begin.plus_nanos(second * 1_000_000_000);
        let second = |at: Timestamp| at.nanos_since(begin) / 1_000_000_000;
        let times: Vec<_> = seconds.iter().map(at).collect();
        let (first, earlier) = since(&times);
        let earlier = earlier.map(|earlier| (earlier.pods, second(earlier.since)));
        (second(first), earlier)
    }

    /// These times, and then so many pods since `second`.
    fn then(before: &[i64], pods: usize, second: i64) -> Vec<i64> {
        before.iter().copied().chain(std::iter::repeat_n(second, pods)).collect()
    }

    #[test]
    fn a_tenth_is_left_out_and_no_more() {
        assert_eq!(since_seconds(&then(&[0], 9, 5_000)), (5_000, Some((1, 0))));
        assert_eq!(since_seconds(&then(&[0], 8, 5_000)), (0, None));
        assert_eq!(since_seconds(&then(&[0, 10], 18, 5_000)), (5_000, Some((2, 0))));
        assert_eq!(since_seconds(&then(&[0, 10], 17, 5_000)), (0, None));
        assert_eq!(since_seconds(&[7]), (7, None));
    }

    #[test]
    fn they_are_left_out_where_the_others_come_fifteen_minutes_later() {
        assert_eq!(since_seconds(&then(&[0], 9, 900)), (900, Some((1, 0))));
        assert_eq!(since_seconds(&then(&[0], 9, 899)), (0, None));
        // It is the last of them that counts.
        assert_eq!(since_seconds(&then(&[0, 600], 18, 1_499)), (0, None));
        assert_eq!(since_seconds(&then(&[0, 600], 18, 1_500)), (1_500, Some((2, 0))));
    }

    #[test]
    fn as_many_as_can_be_are_left_out() {
        assert_eq!(since_seconds(&then(&[0, 1_000], 18, 5_000)), (5_000, Some((2, 0))));
        assert_eq!(since_seconds(&then(&[0, 1_000], 18, 1_100)), (1_000, Some((1, 0))));
        assert_eq!(since_seconds(&then(&[0, 1_000, 2_000], 26, 5_000)), (2_000, Some((2, 0))));
    }
}
