//! When a milestone was reached ([§4](crate::specification#s4)): the estimate from the time that the API
//! states and the instant at which the watch showed it.

use std::fmt;
use std::str::FromStr;

use crate::label_value::LabelValue;
use crate::label_values;
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

label_values! {
    /// Which times durations are computed from, as `--timestamps` names them.
    #[derive(Default)]
    pub enum TimestampMode {
        /// Differences of API times ([§4.2](crate::specification#s4-2))
        #[default]
        Api => "api",
        /// API seconds, refined by the delivery of the watch event where that lies within them
        Fused => "fused",
    }
}

impl TimestampMode {
    /// Estimates when something happened that the API states as `stated` and that a watch event first
    /// showed at `observed` ([§4.3](crate::specification#s4-3)). The estimate lies within the stated second,
    /// unless the event came more than a second before that: nothing is shown before it happened.
    pub fn estimate(self, stated: Option<Timestamp>, observed: Option<Timestamp>) -> TimeEstimate {
        let Some(second) = stated else {
            return TimeEstimate::default();
        };
        let (at, skewed) = match (self, observed) {
            (Self::Api, _) => (second, false),
            (Self::Fused, None) => (middle_of(second), false),
            (Self::Fused, Some(observed)) => match observed.nanos_since(second) {
                ..MINUS_A_SECOND => (observed, true),
                MINUS_A_SECOND..0 => (second, true),
                0..NANOS_PER_SECOND => (observed, false),
                _ => (middle_of(second), false),
            },
        };
        TimeEstimate { at: Some(at), skewed }
    }

    /// Like [`Self::estimate`], for what an earlier snapshot did not show. Where the API states no time, the arrival of
    /// the watch event counts, in `fused` mode ([§4.6](crate::specification#s4-6),
    /// [§16.3](crate::specification#s16-3)).
    pub(super) fn estimate_or_observed(
        self,
        stated: Option<Timestamp>,
        observed: Option<Timestamp>,
    ) -> TimeEstimate {
        match (self, stated, observed) {
            (Self::Fused, None, Some(observed)) => {
                TimeEstimate { at: Some(observed), skewed: false }
            }
            _ => self.estimate(stated, observed),
        }
    }

    /// Estimates when a container started of which the API states the second
    /// ([§9.2](crate::specification#s9-2)).
    pub(super) fn estimate_start(self, stated: Timestamp) -> Timestamp {
        match self {
            Self::Api => stated,
            Self::Fused => middle_of(stated),
        }
    }

    /// Estimates when an Event happened whose `firstTimestamp` is `first` and whose name states the
    /// instant `named` ([§9.2](crate::specification#s9-2)).
    pub(super) fn estimate_event(self, first: Timestamp, named: Option<Timestamp>) -> Timestamp {
        let in_second = |at: &Timestamp| (0..NANOS_PER_SECOND).contains(&at.nanos_since(first));
        match self {
            Self::Api => first,
            Self::Fused => named.filter(in_second).unwrap_or(middle_of(first)),
        }
    }

    /// Estimates when the scheduling gates were removed ([§4.4](crate::specification#s4-4)). That has no
    /// API time, so it is the instant of observation, in `api` mode cut to the second, but never
    /// after `scheduled`, the estimate for a Scheduled that the same snapshot shows.
    pub(super) fn estimate_ungated(
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

const MINUS_A_SECOND: i64 = -NANOS_PER_SECOND;

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

/// The best estimate of when something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeEstimate {
    /// The instant, `None` where nothing usable says when
    pub at: Option<Timestamp>,
    /// The watch showed it before the second in which the API says that it happened
    pub skewed: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: i64 = 1_700_000_000;

    fn at(offset_millis: i64) -> Timestamp {
        Timestamp::from_seconds(T).plus_nanos(offset_millis * 1_000_000)
    }

    fn fused(observed: Option<i64>) -> TimeEstimate {
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

    /// At so many milliseconds, skewed or not.
    fn estimate(millis: i64, skewed: bool) -> TimeEstimate {
        TimeEstimate { at: Some(at(millis)), skewed }
    }

    #[test]
    fn a_fused_estimate_stays_within_the_stated_second_that_is_not_in_the_future() {
        for (observed, expected) in [
            (Some(0), estimate(0, false)),
            (Some(999), estimate(999, false)),
            (Some(1000), estimate(500, false)),
            (None, estimate(500, false)),
            (Some(-1), estimate(0, true)),
            (Some(-1000), estimate(0, true)),
            (Some(-1001), estimate(-1001, true)),
            (Some(-7_200_000), estimate(-7_200_000, true)),
        ] {
            assert_eq!(fused(observed), expected, "{observed:?}");
        }
    }

    #[test]
    fn ready_without_a_time_is_when_it_was_shown_where_that_is_known() {
        let [api, fused] = TimestampMode::ALL;
        let shown = TimeEstimate { at: Some(at(7)), skewed: false };
        assert_eq!(fused.estimate_or_observed(None, Some(at(7))), shown);
        assert_eq!(fused.estimate_or_observed(None, None), TimeEstimate::default());
        assert_eq!(api.estimate_or_observed(None, Some(at(7))), TimeEstimate::default());
        let stated = fused.estimate_or_observed(Some(at(0)), Some(at(7)));
        assert_eq!(stated, estimate(7, false));
    }

    #[test]
    fn an_api_estimate_is_what_the_api_states() {
        let stated = TimestampMode::Api.estimate(Some(at(0)), Some(at(-5000)));
        assert_eq!(stated, estimate(0, false));
        assert_eq!(TimestampMode::Api.estimate(None, Some(at(0))).at, None);
    }

    #[test]
    fn a_start_lies_in_the_middle_of_its_second_and_an_event_where_its_name_says() {
        let [api, fused] = TimestampMode::ALL;
        assert_eq!(api.estimate_start(at(0)), at(0));
        assert_eq!(fused.estimate_start(at(0)), at(500));
        assert_eq!(api.estimate_event(at(0), Some(at(7))), at(0));
        for (named, expected) in
            [(None, 500), (Some(0), 0), (Some(999), 999), (Some(1000), 500), (Some(-1), 500)]
        {
            assert_eq!(fused.estimate_event(at(0), named.map(at)), at(expected));
        }
    }

    #[test]
    fn ungated_is_the_observation_but_never_after_scheduled() {
        let api = TimestampMode::Api;
        assert_eq!(api.estimate_ungated(Some(at(700)), None), Some(at(0)));
        assert_eq!(TimestampMode::Fused.estimate_ungated(Some(at(700)), None), Some(at(700)));
        assert_eq!(api.estimate_ungated(Some(at(2700)), Some(at(1000))), Some(at(1000)));
        assert_eq!(api.estimate_ungated(None, Some(at(1000))), None);
    }
}
