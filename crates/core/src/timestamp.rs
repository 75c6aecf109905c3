//! One instant type for the whole program, so that API times and observation times cannot be
//! confused with numbers, and so that the pure core needs no clock of its own.

use std::num::NonZeroI64;
use std::time::Duration;

use schemars::JsonSchema;

pub const NANOS_PER_SECOND: i64 = 1_000_000_000;
pub const NANOS_PER_MILLI: i64 = 1_000_000;

/// An instant in UTC with nanosecond resolution, from 1678 to 2262; other times saturate.
///
/// `Option<Timestamp>` is as small as the timestamp itself, because a pod in flight holds many of
/// them: the Unix epoch is not representable and becomes one nanosecond after it. That costs
/// nothing, since the specification ([§4.6](crate::specification#s4-6)) calls any API time in or before
/// 1970 absurd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(rename = "time", description = "An instant in UTC, as RFC 3339", extend("format" = "date-time"))]
pub struct Timestamp(#[schemars(with = "String")] NonZeroI64);

impl Default for Timestamp {
    fn default() -> Self {
        Self::EPOCH
    }
}

impl Timestamp {
    /// The Unix epoch (actually the nanosecond after it): the time of a recording that has not stated
    /// one yet.
    pub const EPOCH: Self = match NonZeroI64::new(1) {
        Some(nanos) => Self(nanos),
        None => unreachable!(),
    };

    /// The instant `nanos` nanoseconds after the Unix epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        match NonZeroI64::new(nanos) {
            Some(nanos) => Self(nanos),
            None => Self::EPOCH,
        }
    }

    /// The instant `seconds` seconds after the Unix epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self::from_nanos(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn as_nanos(self) -> i64 {
        self.0.get()
    }

    /// Seconds since the Unix epoch, as Prometheus states times.
    pub fn as_seconds_f64(self) -> f64 {
        let nanos = self.as_nanos();
        let whole = nanos.div_euclid(NANOS_PER_SECOND);
        let rest = nanos.rem_euclid(NANOS_PER_SECOND);
        whole as f64 + rest as f64 / NANOS_PER_SECOND as f64
    }

    /// The second this instant lies in, as Kubernetes writes times (`metav1.Time` truncates).
    pub const fn truncate_to_second(self) -> Self {
        Self::from_seconds(self.as_nanos().div_euclid(NANOS_PER_SECOND))
    }

    /// Nanoseconds from `earlier` to `self`, negative when `earlier` is in fact later.
    pub const fn nanos_since(self, earlier: Self) -> i64 {
        self.as_nanos().saturating_sub(earlier.as_nanos())
    }

    /// This instant and `duration` after it, at most the last that fits.
    pub fn plus(self, duration: Duration) -> Self {
        self.plus_nanos(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }

    /// This instant moved by `nanos` nanoseconds.
    pub const fn plus_nanos(self, nanos: i64) -> Self {
        Self::from_nanos(self.as_nanos().saturating_add(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_timestamp_takes_eight_bytes() {
        assert_eq!(size_of::<Option<Timestamp>>(), 8);
    }

    #[test]
    fn the_epoch_becomes_the_nanosecond_after_it() {
        assert_eq!(Timestamp::from_nanos(0).as_nanos(), 1);
    }

    #[test]
    fn truncation_goes_towards_the_past_on_both_sides_of_the_epoch() {
        let later = Timestamp::from_nanos(5 * NANOS_PER_SECOND + 999_999_999);
        assert_eq!(later.truncate_to_second(), Timestamp::from_seconds(5));
        let before = Timestamp::from_nanos(-1);
        assert_eq!(before.truncate_to_second(), Timestamp::from_seconds(-1));
    }

    #[test]
    fn differences_saturate_instead_of_overflowing() {
        let first = Timestamp::from_nanos(i64::MIN);
        let last = Timestamp::from_nanos(i64::MAX);
        assert_eq!(last.nanos_since(first), i64::MAX);
        assert_eq!(first.nanos_since(last), i64::MIN);
    }
}
