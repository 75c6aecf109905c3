//! Durations in Prometheus' notation: `500ms`, `10s`, `2m`, `1h30m`, `7d`, `4w`
//! ([§6.8](crate::specification#s6-8)).

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

/// Units and their length in milliseconds, longest first.
const UNITS: [(&str, u64); 6] =
    [("w", 7 * DAY), ("d", DAY), ("h", HOUR), ("m", MINUTE), ("s", 1_000), ("ms", 1)];

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A length of time in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct PrometheusDuration(u64);

/// Examples for error messages.
pub const FORMS: &str = "500ms, 10s, 2m, 1h30m, 7d or 4w";

/// Why a text is not a duration. The text is one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is not a sequence of numbers with units, longest unit first, each unit at most once
    #[error("not a duration: write it as {FORMS}")]
    Malformed,
    /// Its milliseconds do not fit into 64 bits
    #[error("too long")]
    TooLong,
}

impl PrometheusDuration {
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds * 1_000)
    }

    pub const fn from_minutes(minutes: u64) -> Self {
        Self(minutes * MINUTE)
    }

    pub const fn from_hours(hours: u64) -> Self {
        Self(hours * HOUR)
    }

    pub const fn from_days(days: u64) -> Self {
        Self(days * DAY)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Rounded down.
    pub const fn as_seconds(self) -> u64 {
        self.0 / 1_000
    }

    /// Rounded down.
    pub const fn as_minutes(self) -> u64 {
        self.0 / MINUTE
    }
}

impl From<PrometheusDuration> for Duration {
    fn from(duration: PrometheusDuration) -> Self {
        Self::from_millis(duration.0)
    }
}

impl TryFrom<String> for PrometheusDuration {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        text.parse()
    }
}

impl Serialize for PrometheusDuration {
    /// As text, such as `1h30m`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for PrometheusDuration {
    type Err = DurationError;

    /// Whole numbers with a unit each, longest unit first, each unit at most once, as in Prometheus.
    /// Zero is allowed.
    fn from_str(text: &str) -> Result<Self, DurationError> {
        let mut rest = text;
        let mut units = UNITS.as_slice();
        let mut millis: u64 = 0;
        while !rest.is_empty() || rest.len() == text.len() {
            let (number, after) = split_where(rest, |character| !character.is_ascii_digit());
            let (unit, after) = split_where(after, |character| character.is_ascii_digit());
            let position = units.iter().position(|(name, _)| *name == unit);
            let position = position.ok_or(DurationError::Malformed)?;
            if number.is_empty() {
                return Err(DurationError::Malformed);
            }
            // Only digits, so the only possible error is a value that is too large.
            let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
            let part = number.checked_mul(units[position].1);
            let sum = part.and_then(|part| millis.checked_add(part));
            millis = sum.ok_or(DurationError::TooLong)?;
            units = &units[position + 1..];
            rest = after;
        }
        Ok(Self(millis))
    }
}

fn split_where(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

/// The shortest form that Prometheus reads; in weeks only where they are whole.
impl fmt::Display for PrometheusDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (week, week_millis) = UNITS[0];
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0.is_multiple_of(week_millis) {
            return write!(f, "{}{week}", self.0 / week_millis);
        }
        let mut rest = self.0;
        for (unit, millis) in &UNITS[1..] {
            if rest >= *millis {
                write!(f, "{}{unit}", rest / millis)?;
            }
            rest %= millis;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_of_the_specification_are_durations() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("7d", 7 * DAY),
            ("4w", 28 * DAY),
            ("1w1d1h1m1s1ms", 694_861_001),
            ("0s", 0),
            ("90m", 5_400_000),
        ] {
            assert_eq!(text.parse(), Ok(PrometheusDuration(millis)), "{text}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "", "5", "s", "-5s", "1.5s", "5 s", " 5s", "5S", "30m1h", "1s1s", "5x", "1h-", "5µs",
            "٣s", "1y",
        ] {
            let malformed = Err(DurationError::Malformed);
            assert_eq!(text.parse::<PrometheusDuration>(), malformed, "{text}");
        }
        for text in ["99999999999999999999ms", "9999999999999999w"] {
            let too_long = Err(DurationError::TooLong);
            assert_eq!(text.parse::<PrometheusDuration>(), too_long, "{text}");
        }
    }

    #[test]
    fn is_written_short() {
        for (text, short) in [("30d", "30d"), ("28d", "4w"), ("90m", "1h30m"), ("36h", "1d12h")] {
            assert_eq!(text.parse::<PrometheusDuration>().unwrap().to_string(), short);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(millis in 0..u64::MAX / 2) {
            let duration = PrometheusDuration(millis);
            prop_assert_eq!(duration.to_string().parse(), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), near in "([0-9]{1,20}[wdhms]{0,2}){0,8}") {
            let _ = text.parse::<PrometheusDuration>();
            let _ = near.parse::<PrometheusDuration>();
        }
    }
}
