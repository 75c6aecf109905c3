//! From two instants to a latency, or to the reason why there is none.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::label_values;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A duration below zero by at most this comes from the truncation to seconds.
const ROUNDING_NANOS: i64 = NANOS_PER_SECOND;
/// A longer startup than thirty days means that some clock is wrong.
const TOO_LONG_NANOS: i64 = 30 * 24 * 3600 * NANOS_PER_SECOND;

label_values! {
    /// Why a stage or step that applies to a pod was not observed
    /// ([§5.8](crate::specification#s5-8), [§9.1](crate::specification#s9-1)).
    pub enum UnobservedReason {
        /// Adopted in flight; its end was reached before the first snapshot
        Preexisting => "preexisting",
        /// A condition type that it needs was never in the pod's status
        ConditionAbsent => "condition_absent",
        /// The pod ended without both milestones having been seen
        NotSeen => "not_seen",
        /// Judged, but its time was unusable
        Time => "time",
    }
}

label_values! {
    /// What was wrong with a time ([§4](crate::specification#s4)).
    pub enum AnomalyKind {
        /// Observed before the second that the API states
        Skew => "skew",
        /// Below zero by at most a second, observed as zero
        Rounded => "rounded",
        /// Further below zero, not observed
        Negative => "negative",
        /// Above thirty days, not observed
        TooLong => "too_long",
        /// A time was missing or absurd, not observed
        Missing => "missing",
    }
}

/// A duration for a histogram: from zero to thirty days. Shown in seconds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "f64", into = "f64")]
#[schemars(inline)]
pub struct Latency(u64);

impl Latency {
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    pub fn as_seconds_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The beginning of a duration of this length that ended at `end`.
    pub fn before(self, end: Timestamp) -> Timestamp {
        let nanos = i64::try_from(self.0).unwrap_or(i64::MAX);
        end.plus_nanos(nanos.saturating_neg())
    }
}

impl From<Latency> for f64 {
    fn from(latency: Latency) -> Self {
        latency.as_seconds_f64()
    }
}

impl From<f64> for Latency {
    /// Rounds to nanoseconds, since seconds are a binary fraction. Negative numbers and NaN become 0.
    fn from(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as u64)
    }
}

impl From<Duration> for Latency {
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Whether two instants give a usable duration ([§4.5](crate::specification#s4-5),
/// [§4.6](crate::specification#s4-6)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DurationJudgement {
    /// A latency for the histogram
    Usable {
        latency: Latency,
        /// Whether it was below zero by no more than truncation explains, and was set to zero
        rounded: bool,
    },
    /// No latency: `Negative`, `TooLong` or `Missing`
    Unusable(AnomalyKind),
}

impl DurationJudgement {
    /// Judges the interval from `from` to `to`; `None` is a time that is missing or absurd.
    pub(super) fn from_times(from: Option<Timestamp>, to: Option<Timestamp>) -> Self {
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
            Self::Usable { latency, rounded: nanos < 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_of_half_a_second_is_half_a_second() {
        assert_eq!(Latency::from_nanos(1_500_000_000).as_seconds_f64(), 1.5);
    }

    fn at(offset_millis: i64) -> Timestamp {
        Timestamp::from_seconds(1_700_000_000).plus_nanos(offset_millis * 1_000_000)
    }

    #[test]
    fn durations_are_judged_at_their_bounds() {
        let judge = |millis| DurationJudgement::from_times(Some(at(0)), Some(at(millis)));
        let usable = |nanos, rounded| DurationJudgement::Usable {
            latency: Latency::from_nanos(nanos),
            rounded,
        };
        assert_eq!(judge(0), usable(0, false));
        assert_eq!(judge(-1000), usable(0, true));
        assert_eq!(judge(-1001), DurationJudgement::Unusable(AnomalyKind::Negative));
        let month = TOO_LONG_NANOS / 1_000_000;
        assert_eq!(judge(month), usable(TOO_LONG_NANOS as u64, false));
        assert_eq!(judge(month + 1), DurationJudgement::Unusable(AnomalyKind::TooLong));
        assert_eq!(
            DurationJudgement::from_times(None, Some(at(0))),
            DurationJudgement::Unusable(AnomalyKind::Missing)
        );
    }
}
