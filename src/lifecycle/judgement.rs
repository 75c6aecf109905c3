//! From two instants to a latency, or to the reason why there is none.

use super::observation::{AnomalyKind, Latency};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A duration below zero by at most this comes from the truncation to seconds.
const ROUNDING_NANOS: i64 = NANOS_PER_SECOND;
/// A longer startup than thirty days means that some clock is wrong.
const TOO_LONG_NANOS: i64 = 30 * 24 * 3600 * NANOS_PER_SECOND;

/// Whether two instants give a usable duration ([§4.5](crate::specification#s4-5),
/// [§4.6](crate::specification#s4-6)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// A latency for the histogram
    Usable {
        latency: Latency,
        /// Whether it was below zero by no more than truncation explains, and was set to zero
        rounded: bool,
    },
    /// No latency: `Negative`, `TooLong` or `Missing`
    Unusable(AnomalyKind),
}

impl Judgement {
    /// Judges the interval from `from` to `to`; `None` is a time that is missing or absurd.
    pub(super) fn of(from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
        let (Some(from), Some(to)) = (from, to) else {
            return Self::Unusable(AnomalyKind::Missing);
        };
        Self::of_nanos(to.nanos_since(from))
    }

    /// Judges a duration in nanoseconds.
    pub(super) fn of_nanos(nanos: i64) -> Self {
        if nanos > TOO_LONG_NANOS {
            Self::Unusable(AnomalyKind::TooLong)
        } else if nanos < -ROUNDING_NANOS {
            Self::Unusable(AnomalyKind::Negative)
        } else {
            let latency = Latency::from_nanos(nanos.max(0).unsigned_abs());
            Self::Usable {
                latency,
                rounded: nanos < 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset_millis: i64) -> Timestamp {
        Timestamp::from_seconds(1_700_000_000).plus_nanos(offset_millis * 1_000_000)
    }

    #[test]
    fn durations_are_judged_at_their_bounds() {
        let judge = |millis| Judgement::of(Some(at(0)), Some(at(millis)));
        let usable = |nanos, rounded| Judgement::Usable {
            latency: Latency::from_nanos(nanos),
            rounded,
        };
        assert_eq!(judge(0), usable(0, false));
        assert_eq!(judge(-1000), usable(0, true));
        assert_eq!(judge(-1001), Judgement::Unusable(AnomalyKind::Negative));
        let month = TOO_LONG_NANOS / 1_000_000;
        assert_eq!(judge(month), usable(TOO_LONG_NANOS as u64, false));
        assert_eq!(judge(month + 1), Judgement::Unusable(AnomalyKind::TooLong));
        assert_eq!(
            Judgement::of(None, Some(at(0))),
            Judgement::Unusable(AnomalyKind::Missing)
        );
    }
}
