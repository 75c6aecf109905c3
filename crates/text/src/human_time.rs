//! Durations and instants as people read them.

use podinit_core::rfc3339;
use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// Formats a duration in seconds: `0s`, `0.25s`, `12s`, `2m5s`, `1h2m3s`.
pub fn seconds(value: f64) -> String {
    if value >= 100.0 {
        let whole = value.round() as u64;
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
        return match hours {
            0 => format!("{minutes}m{rest}s"),
            _ => format!("{hours}h{minutes}m{rest}s"),
        };
    }
    let decimals = if value >= 10.0 { 1 } else { 3 };
    let text = format!("{value:.decimals$}");
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A duration in whole seconds that is a lower bound, so rounded down: `45s`, `2m5s`, `1h59m`.
pub fn at_least(seconds: u32) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m"),
    }
}

/// A duration in its two largest units, rounded down: `45s`, `12m`, `1h59m`, `2d3h`.
pub fn long(seconds: f64) -> String {
    let minutes = seconds as u64 / 60;
    let (days, hours, rest) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    match (days, hours, rest) {
        (0, 0, 0) => format!("{}s", seconds as u64),
        (0, 0, rest) => format!("{rest}m"),
        (0, hours, rest) => format!("{hours}h{rest}m"),
        (days, hours, _) => format!("{days}d{hours}h"),
    }
}

/// A duration in seconds with two digits that count: buckets of a histogram tell no more.
pub fn rounded_seconds(value: f64) -> String {
    if value < 0.01 {
        return seconds(0.0);
    }
    let unit = 10_f64.powf(value.log10().floor() - 1.0);
    seconds((value / unit).round() * unit)
}

/// The seconds between two instants, not below zero.
pub fn since(from: Timestamp, to: Timestamp) -> f64 {
    to.nanos_since(from).max(0) as f64 / 1e9
}

/// The date and time of an instant in UTC, to the millisecond: `2026-03-01 23:05:07.250`.
pub fn date_and_time(at: Timestamp) -> String {
    instant(at).map_or_else(
        || String::from("unknown"),
        |at| at.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string(),
    )
}

/// The time of day of an instant in UTC: `23:05:07`.
pub fn time_of_day(at: Timestamp) -> String {
    instant(at).map_or_else(|| String::from("unknown"), |at| at.strftime("%H:%M:%S").to_string())
}

/// The hour and minute of an instant in UTC: `23:05`.
pub fn hour_and_minute(at: Timestamp) -> String {
    instant(at).map_or_else(|| String::from("unknown"), |at| at.strftime("%H:%M").to_string())
}

/// The date, hour and minute of an instant in UTC: `2026-03-01 23:05`.
pub fn date_and_minute(at: Timestamp) -> String {
    instant(at)
        .map_or_else(|| String::from("unknown"), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
}

/// Which instant an answer is of, to the second: `As of 2026-03-01T23:05:07Z`.
pub fn as_of(at: Timestamp) -> String {
    format!("As of {}", rfc3339::format(at.truncate_to_second()))
}

/// The hour and minute of an instant in UTC, with the date where that was not within a day before `now`.
pub fn clock_time(at: Timestamp, now: Timestamp) -> String {
    const DAY: i64 = 24 * 3600 * NANOS_PER_SECOND;
    match now.nanos_since(at) < DAY {
        true => hour_and_minute(at),
        false => date_and_minute(at),
    }
}

fn instant(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_nanosecond(i128::from(at.as_nanos())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_count() {
        let texts = [0.0, 0.123, 2.345, 17.6, 123.0].map(rounded_seconds);
        assert_eq!(texts, ["0s", "0.12s", "2.3s", "18s", "2m0s"]);
    }

    #[test]
    fn durations_are_short_and_readable() {
        let cases =
            [(0.0, "0s"), (0.25, "0.25s"), (12.0, "12s"), (99.94, "99.9s"), (125.0, "2m5s")];
        for (value, text) in cases {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(seconds(3723.0), "1h2m3s");
    }

    #[test]
    fn a_long_time_has_two_units() {
        let texts = [0.9, 59.9, 60.0, 3_599.0, 3_600.0, 86_399.0, 183_600.0].map(long);
        assert_eq!(texts, ["0s", "59s", "1m", "59m", "1h0m", "23h59m", "2d3h"]);
    }

    #[test]
    fn instants_are_in_utc() {
        let at = Timestamp::from_seconds(1_772_359_507).plus_nanos(250_000_000);
        assert_eq!(date_and_time(at), "2026-03-01 10:05:07.250");
        assert_eq!(time_of_day(at), "10:05:07");
        assert_eq!(hour_and_minute(at), "10:05");
        assert_eq!(date_and_minute(at), "2026-03-01 10:05");
    }
}
