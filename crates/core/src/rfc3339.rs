//! The times that Kubernetes and recordings write: RFC 3339, read without allocating.
//!
//! A parser of its own because it runs several times for each pod event, nearly always on the 20
//! bytes of a `metav1.Time`, and because [§4.6](crate::specification#s4-6) has a rule of its own for
//! what is absurd.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// 1971-01-01T00:00:00Z. Whatever lies before it is absurd ([§4.6](crate::specification#s4-6)).
const FIRST_SENSIBLE_SECOND: i64 = 31_536_000;

/// The instant that `text` states; `None` where [§4.6](crate::specification#s4-6) calls it absurd: it
/// is no RFC 3339 date-time, or lies in 1970 or before.
///
/// Fractions are kept to the nanosecond, further digits are cut off. A second of 60 is refused,
/// as Go and therefore Kubernetes refuses it. Instants after 2262 saturate.
pub fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let (date_time, rest) = bytes.split_at_checked(19)?;
    let local = seconds_of(date_time)?;
    let (nanos, rest) = fraction(rest)?;
    let seconds = local - offset(rest)?;
    if seconds < FIRST_SENSIBLE_SECOND {
        return None;
    }
    let instant = seconds.saturating_mul(NANOS_PER_SECOND);
    Some(Timestamp::from_nanos(instant.saturating_add(nanos)))
}

/// The instant `seconds` after the Unix epoch, under the rules of [`parse`], which knows no year after 9999.
pub fn sensible(seconds: i64) -> Option<Timestamp> {
    /// 9999-12-31T23:59:59Z
    const LAST_SECOND: i64 = 253_402_300_799;
    let sensible = FIRST_SENSIBLE_SECOND..=LAST_SECOND;
    sensible.contains(&seconds).then(|| Timestamp::from_seconds(seconds))
}

/// The instant in UTC, with as many fractional digits as it needs.
pub fn format(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_nanosecond(i128::from(at.as_nanos()));
    // Every `Timestamp` lies within the years that are known here.
    instant.unwrap_or_default().to_string()
}

/// Saved as nanoseconds since the Unix epoch, and shown as RFC 3339.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match to.is_human_readable() {
            true => to.serialize_str(&format(*self)),
            false => to.serialize_i64(self.as_nanos()),
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if !from.is_human_readable() {
            return i64::deserialize(from).map(Self::from_nanos);
        }
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| D::Error::custom("expected an instant in RFC 3339"))
    }
}

/// Seconds since the epoch of `YYYY-MM-DDTHH:MM:SS`, taken as UTC.
fn seconds_of(text: &[u8]) -> Option<i64> {
    let punctuated = text[4] == b'-'
        && text[7] == b'-'
        && matches!(text[10], b'T' | b't')
        && text[13] == b':'
        && text[16] == b':';
    if !punctuated {
        return None;
    }
    let year = number(&text[..4])?;
    let month = number(&text[5..7])?;
    let day = number(&text[8..10])?;
    let (hour, minute, second) =
        (number(&text[11..13])?, number(&text[14..16])?, number(&text[17..19])?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// The nanoseconds of an optional `.digits`, and what follows.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else {
        return Some((0, text));
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let kept = count.min(9);
    let nanos = number(&digits[..kept])? * 10_i64.pow(9 - kept as u32);
    Some((nanos, &digits[count..]))
}

/// Seconds east of Greenwich of `Z` or `±HH:MM`.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, hour, minute) = match text {
        b"Z" | b"z" => return Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            (sign, number(&[*h0, *h1])?, number(&[*m0, *m1])?)
        }
        _ => return None,
    };
    if hour > 23 || minute > 59 {
        return None;
    }
    let seconds = hour * 3_600 + minute * 60;
    Some(if *sign == b'-' { -seconds } else { seconds })
}

/// The decimal number that consists of nothing but `digits`.
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
    })
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar, in years that begin in
/// March so that the leap day is the last of them.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn nanos(text: &str) -> Option<i64> {
        parse(text).map(Timestamp::as_nanos)
    }

    #[test]
    fn the_forms_that_kubernetes_and_recorders_write() {
        let second = 1_763_712_000 * NANOS_PER_SECOND;
        assert_eq!(nanos("2025-11-21T08:00:00Z"), Some(second));
        assert_eq!(nanos("2025-11-21t08:00:00z"), Some(second));
        assert_eq!(nanos("2025-11-21T09:30:00+01:30"), Some(second));
        assert_eq!(nanos("2025-11-21T07:00:00-01:00"), Some(second));
        assert_eq!(nanos("2025-11-21T08:00:00.5Z"), Some(second + 500_000_000));
        assert_eq!(nanos("2025-11-21T08:00:00.123456789123Z"), Some(second + 123_456_789));
    }

    #[test]
    fn calendar_dates_are_checked() {
        assert!(parse("2024-02-29T00:00:00Z").is_some());
        for text in [
            "2025-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2025-04-31T00:00:00Z",
            "2025-00-01T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-01-00T00:00:00Z",
            "2025-01-01T24:00:00Z",
            "2025-01-01T00:60:00Z",
            "2025-01-01T00:00:60Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "",
            "now",
            "2025-11-21",
            "2025-11-21T08:00:00",
            "2025-11-21 08:00:00Z",
            "2025-11-21T08:00Z",
            "2025-11-21T08:00:00.Z",
            "2025-11-21T08:00:00+0100",
            "2025-11-21T08:00:00+24:00",
            "2025-11-21T08:00:00ZZ",
            " 2025-11-21T08:00:00Z",
            "+025-11-21T08:00:00Z",
            "2025-11-21T08:00:0éZ",
            "２025-11-21T08:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn years_up_to_1970_are_absurd_and_far_ones_saturate() {
        assert_eq!(parse("1970-12-31T23:59:59Z"), None);
        assert_eq!(parse("0001-01-01T00:00:00Z"), None);
        assert_eq!(parse("1971-01-01T00:30:00+01:00"), None);
        assert!(parse("1971-01-01T00:00:00Z").is_some());
        assert_eq!(nanos("9999-12-31T23:59:59Z"), Some(i64::MAX));
    }

    #[test]
    fn seconds_are_read_as_their_text_is() {
        for (seconds, text) in [
            (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (0, "1970-01-01T00:00:00Z"),
            (31_535_999, "1970-12-31T23:59:59Z"),
            (31_536_000, "1971-01-01T00:00:00Z"),
            (1_763_712_000, "2025-11-21T08:00:00Z"),
            (9_223_372_037, "2262-04-11T23:47:17Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
            (253_402_300_800, "10000-01-01T00:00:00Z"),
            (i64::MAX, ""),
            (i64::MIN, ""),
        ] {
            assert_eq!(sensible(seconds), parse(text), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 512,
            rng_seed: RngSeed::Fixed(0x706f_6469_6e69_7431),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn agrees_with_an_independent_library(
            instant in 31_536_000_000_000_000_i64..i64::MAX,
            digits in 0_u8..=9,
        ) {
            let cut = instant - instant.rem_euclid(10_i64.pow(9 - u32::from(digits)));
            let written = jiff::Timestamp::from_nanosecond(i128::from(cut)).unwrap();
            let text = format!("{written:.*}", usize::from(digits));
            prop_assert_eq!(nanos(&text), Some(cut));
        }

        #[test]
        fn never_panics(text in "\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}
