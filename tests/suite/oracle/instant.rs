//! Instants as nanoseconds since the Unix epoch, and the texts that Kubernetes writes for them.
//! Written out by hand, so that no date library is shared with the implementation.

/// Nanoseconds since the Unix epoch, or between two instants.
pub(crate) type Nanos = i128;

/// One second.
pub(crate) const SECOND: Nanos = 1_000_000_000;

/// The instant that an RFC 3339 text states, if it states one.
pub(crate) fn parse(text: &str) -> Option<Nanos> {
    let (date, rest) = text.split_once('T')?;
    let mut date = date.split('-');
    let (year, month, day) = (number(date.next()?)?, number(date.next()?)?, number(date.next()?)?);
    if date.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let zone_starts = rest.find(['Z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_starts);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.split(':');
    let (hour, minute, second) =
        (number(time.next()?)?, number(time.next()?)?, number(time.next()?)?);
    if time.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    number(fraction)?;
    let nanos = number(&format!("{fraction:0<9}")[..9])?;
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((seconds - offset(zone)?) * SECOND + nanos)
}

/// The instant as RFC 3339 text in UTC, with a fraction only where there is one.
pub(crate) fn rfc3339(instant: Nanos) -> String {
    let (seconds, nanos) = (instant.div_euclid(SECOND), instant.rem_euclid(SECOND));
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let mut year = 1970 + days.div_euclid(366);
    while days_since_epoch(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut month = 12;
    while days_since_epoch(year, month, 1) > days {
        month -= 1;
    }
    let day = days - days_since_epoch(year, month, 1) + 1;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let fraction = match nanos {
        0 => String::new(),
        nanos => format!(".{nanos:09}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

fn number(digits: &str) -> Option<i128> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok())?
}

fn offset(zone: &str) -> Option<i128> {
    if zone == "Z" {
        return Some(0);
    }
    let (hours, minutes) = zone[1..].split_once(':')?;
    let seconds = number(hours)? * 3_600 + number(minutes)? * 60;
    Some(if zone.starts_with('-') { -seconds } else { seconds })
}

/// Counts leap years: the slow way to the Gregorian calendar.
fn days_since_epoch(year: i128, month: i128, day: i128) -> i128 {
    let leap_years_before = |year: i128| (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let full_months: i128 = lengths[..(month as usize - 1)].iter().sum();
    (year - 1970) * 365 + leap_years_before(year) - leap_years_before(1970) + full_months + day - 1
}

#[test]
fn texts_and_instants_agree() {
    assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(parse("2026-01-01T00:00:00Z"), Some(1_767_225_600 * SECOND));
    assert_eq!(parse("2024-02-29T23:59:59.5Z"), Some(1_709_251_199_500_000_000));
    assert_eq!(parse("2026-01-01T01:30:00+01:30"), parse("2026-01-01T00:00:00Z"));
    for absurd in [
        "",
        "soon",
        "2026-13-01T00:00:00Z",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01T25:00:00Z",
    ] {
        assert_eq!(parse(absurd), None, "{absurd}");
    }
    for instant in [0, 1_709_251_199_500_000_000, 1_767_225_600 * SECOND, 7_258_118_400 * SECOND] {
        assert_eq!(parse(&rfc3339(instant)), Some(instant));
    }
}
