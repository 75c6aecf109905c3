//! Time (§4): from what the API states and what the watch showed to the instant at which a
//! milestone counts as reached, and from two such instants to a latency.

use std::fmt;
use std::str::FromStr;

use super::observation::{AnomalyKind, Latency};
use crate::label_value::LabelValue;
use crate::label_values;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// A duration below zero by at most this is noise of the truncation to seconds.
const ROUNDING_NANOS: i64 = NANOS_PER_SECOND;
/// A startup longer than thirty days is a mistake of some clock.
const TOO_LONG_NANOS: i64 = 30 * 24 * 3600 * NANOS_PER_SECOND;

label_values! {
    /// Which times durations are made of, as `--timestamps` names them.
    #[derive(Default)]
    pub enum TimestampMode {
        /// Differences of API times, as they are
        #[default]
        Api => "api",
        /// API seconds, refined by the delivery of the watch event where that lies within them
        Fused => "fused",
    }
}

impl TimestampMode {
    /// The instant at which something happened that the API states as `stated` and that a watch
    /// event first showed at `observed`. The estimate never leaves the second that the API states.
    pub fn estimate(self, stated: Option<Timestamp>, observed: Option<Timestamp>) -> Estimate {
        let Some(second) = stated else {
            return Estimate {
                at: None,
                skewed: false,
            };
        };
        let (at, skewed) = match (self, observed) {
            (Self::Api, _) => (second, false),
            (Self::Fused, None) => (middle_of(second), false),
            (Self::Fused, Some(observed)) => match observed.nanos_since(second) {
                ..0 => (second, true),
                0..NANOS_PER_SECOND => (observed, false),
                _ => (middle_of(second), false),
            },
        };
        Estimate {
            at: Some(at),
            skewed,
        }
    }

    /// The instant at which the scheduling gates were found gone. It has no API time, so it is
    /// the observation, in `api` mode cut to the second, but never after `scheduled`, the
    /// estimate for a Scheduled that the same snapshot shows.
    pub fn estimate_ungated(
        self,
        observed: Option<Timestamp>,
        scheduled: Option<Timestamp>,
    ) -> Option<Timestamp> {
        let seen = match self {
            Self::Api => observed?.truncate_to_second(),
            Self::Fused => observed?,
        };
        Some(scheduled.map_or(seen, |scheduled| scheduled.min(seen)))
    }
}

fn middle_of(second: Timestamp) -> Timestamp {
    second.plus_nanos(NANOS_PER_SECOND / 2)
}

impl fmt::Display for TimestampMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TimestampMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_text(text).ok_or_else(|| format!("'{text}' is neither 'api' nor 'fused'"))
    }
}

/// When something happened, as well as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The instant, `None` when the API states none that is usable
    pub at: Option<Timestamp>,
    /// The watch showed it before the second in which the API says that it happened
    pub skewed: bool,
}

/// What a pair of instants is worth as a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// A latency for the histogram
    Usable {
        /// How long
        latency: Latency,
        /// Whether it was below zero, within the noise of truncation
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
        let nanos = to.nanos_since(from);
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

    const T: i64 = 1_700_000_000;

    fn at(offset_millis: i64) -> Timestamp {
        Timestamp::from_seconds(T).plus_nanos(offset_millis * 1_000_000)
    }

    fn fused(observed: Option<i64>) -> Estimate {
        TimestampMode::Fused.estimate(Some(at(0)), observed.map(at))
    }

    #[test]
    fn modes_are_read_as_they_are_written() {
        for mode in TimestampMode::ALL {
            assert_eq!(mode.to_string(), mode.as_str());
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert!("API".parse::<TimestampMode>().is_err());
    }

    #[test]
    fn a_fused_estimate_stays_within_the_stated_second() {
        assert_eq!(
            fused(Some(0)),
            Estimate {
                at: Some(at(0)),
                skewed: false
            }
        );
        assert_eq!(
            fused(Some(999)),
            Estimate {
                at: Some(at(999)),
                skewed: false
            }
        );
        assert_eq!(
            fused(Some(1000)),
            Estimate {
                at: Some(at(500)),
                skewed: false
            }
        );
        assert_eq!(
            fused(None),
            Estimate {
                at: Some(at(500)),
                skewed: false
            }
        );
        assert_eq!(
            fused(Some(-1)),
            Estimate {
                at: Some(at(0)),
                skewed: true
            }
        );
    }

    #[test]
    fn an_api_estimate_is_what_the_api_states() {
        let estimate = TimestampMode::Api.estimate(Some(at(0)), Some(at(-5000)));
        assert_eq!(
            estimate,
            Estimate {
                at: Some(at(0)),
                skewed: false
            }
        );
        assert_eq!(TimestampMode::Api.estimate(None, Some(at(0))).at, None);
    }

    #[test]
    fn ungated_is_the_observation_but_never_after_scheduled() {
        let api = TimestampMode::Api;
        assert_eq!(api.estimate_ungated(Some(at(700)), None), Some(at(0)));
        assert_eq!(
            TimestampMode::Fused.estimate_ungated(Some(at(700)), None),
            Some(at(700))
        );
        assert_eq!(
            api.estimate_ungated(Some(at(2700)), Some(at(1000))),
            Some(at(1000))
        );
        assert_eq!(api.estimate_ungated(None, Some(at(1000))), None);
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
