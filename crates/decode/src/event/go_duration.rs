//! Durations as Go prints them, such as `1m2.5s` or `345.6ms`.

use std::time::Duration;

/// The duration that `text` states: decimal numbers with optional fractions and a unit each, from `ns` to
/// `h`, as Go's `time.ParseDuration` reads them. `None` for any other text, for a duration that does not
/// fit into 63 bits of nanoseconds, and for one below zero, which a pull cannot take.
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Some(Duration::ZERO);
    }
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, after) = element(rest)?;
        total = total.checked_add(nanos)?;
        rest = after;
    }
    (total <= i64::MAX as u64).then(|| Duration::from_nanos(total))
}

/// The nanoseconds of one number with its unit, and what follows.
fn element(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end =
        rest.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let unit = unit(name)?;
    let whole = match whole {
        "" => 0,
        digits => digits.parse::<u64>().ok()?.checked_mul(unit)?,
    };
    let nanos = whole.checked_add(part_of(unit, fraction)?)?;
    Some((nanos, rest))
}

/// The decimal `fraction` of a unit, cut to nanoseconds. Beyond 18 digits nothing counts.
fn part_of(unit: u64, fraction: &str) -> Option<u64> {
    let digits = &fraction[..fraction.len().min(18)];
    if digits.is_empty() {
        return Some(0);
    }
    let scale = 10_u128.pow(digits.len() as u32);
    let part = digits.parse::<u128>().ok()? * u128::from(unit) / scale;
    u64::try_from(part).ok()
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// The nanoseconds of a unit.
fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use podinit_testing::random::same_in_every_run;

    #[test]
    fn what_go_prints_is_read() {
        for (text, nanos) in [
            ("0s", 0),
            ("0", 0),
            ("1ns", 1),
            ("1.5\u{b5}s", 1_500),
            ("12\u{b5}s", 12_000),
            ("12\u{3bc}s", 12_000),
            ("12us", 12_000),
            ("345.6ms", 345_600_000),
            ("1.234s", 1_234_000_000),
            ("1m2.5s", 62_500_000_000),
            ("1h0m0s", 3_600_000_000_000),
            ("2h3m4.005s", 7_384_005_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("0.1234567899s", 123_456_789),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("2562047h47m16.854775807s", i64::MAX as u64),
        ] {
            assert_eq!(parse(text), Some(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_go_would_refuse_is_none_and_so_is_less_than_nothing() {
        for text in [
            "",
            "+",
            "-",
            "s",
            ".",
            ".s",
            "1",
            "1.5",
            "1x",
            "1 s",
            " 1s",
            "1s ",
            "1e3s",
            "1d",
            "-1s",
            "+-1s",
            "1S",
            "1s2",
            "1m.s",
            "2562047h47m16.854775808s",
            "99999999999999999999s",
            "9223372036854775808h",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(same_in_every_run(256))]

        #[test]
        fn any_duration_survives_being_printed(hours in 0..100_u64, minutes in 0..60_u64, nanos in 0..60_000_000_000_u64) {
            let text = format!("{hours}h{minutes}m{}.{:09}s", nanos / 1_000_000_000, nanos % 1_000_000_000);
            let stated = (hours * 60 + minutes) * 60_000_000_000 + nanos;
            prop_assert_eq!(parse(&text), Some(Duration::from_nanos(stated)));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9.µnmsh+-]{0,24}") {
            let _ = parse(&text);
        }
    }
}
