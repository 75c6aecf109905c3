//! Durations as people write them: `500ms`, `10s`, `2m`, `1h30m`, `7d`, `4w` (specification §6).

use std::time::Duration;

/// Units and their length in milliseconds, longest first.
const UNITS: [(&str, u64); 6] = [
    ("w", 7 * 24 * 3_600_000),
    ("d", 24 * 3_600_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Why a text is no duration: one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// It is not made of numbers and units, longest unit first, each at most once
    #[error("not a duration: write it as 500ms, 10s, 2m, 1h30m, 7d or 4w")]
    Malformed,
    /// It does not fit into 64 bits of milliseconds
    #[error("too long")]
    TooLong,
}

/// Parses a duration: whole numbers, each with a unit, longest unit first, each unit at most
/// once, as in Prometheus. Zero is a duration.
///
/// # Errors
/// Where the text is not of that form or too long.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let mut rest = text;
    let mut units = UNITS.as_slice();
    let mut millis: u64 = 0;
    while !rest.is_empty() || units.len() == UNITS.len() {
        let (number, after) = split_number(rest).ok_or(DurationError::Malformed)?;
        let end = after
            .find(|character: char| character.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let position = units
            .iter()
            .position(|(name, _)| *name == unit)
            .ok_or(DurationError::Malformed)?;
        let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
        millis = number
            .checked_mul(units[position].1)
            .and_then(|part| millis.checked_add(part))
            .ok_or(DurationError::TooLong)?;
        units = &units[position + 1..];
        rest = after;
    }
    Ok(Duration::from_millis(millis))
}

/// The digits at the start, of which there is at least one, and what follows them.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_forms_of_the_specification_are_durations() {
        for (text, millis) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("2m", 120_000),
            ("1h30m", 5_400_000),
            ("7d", 7 * 86_400_000),
            ("4w", 28 * 86_400_000),
            ("1w1d1h1m1s1ms", 694_861_001),
            ("0s", 0),
            ("90m", 5_400_000),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)));
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "", "5", "s", "-5s", "1.5s", "5 s", " 5s", "5S", "30m1h", "1s1s", "5x", "1h-", "5µs",
            "٣s", "1y",
        ] {
            assert_eq!(
                parse_duration(text),
                Err(DurationError::Malformed),
                "{text}"
            );
        }
        for text in ["99999999999999999999ms", "9999999999999999w"] {
            assert_eq!(parse_duration(text), Err(DurationError::TooLong), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), near in "([0-9]{1,20}[wdhms]{0,2}){0,8}") {
            let _ = parse_duration(&text);
            let _ = parse_duration(&near);
        }
    }
}
