//! Durations as Go prints them, which messages of Events contain.

/// As Go's `time.Duration` prints it.
pub(super) fn go_duration(nanos: i64) -> String {
    let nanos = nanos.max(0);
    if nanos == 0 {
        return "0s".to_owned();
    }
    let fraction = |value: i64, unit: i64, name: &str| {
        let digits = format!("{:09}", value % unit * (1_000_000_000 / unit));
        let digits = digits.trim_end_matches('0');
        match digits.is_empty() {
            true => format!("{}{name}", value / unit),
            false => format!("{}.{digits}{name}", value / unit),
        }
    };
    match nanos {
        0..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => fraction(nanos, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(nanos, 1_000_000, "ms"),
        _ => {
            let (minutes, rest) = (nanos / 60_000_000_000, nanos % 60_000_000_000);
            let seconds = fraction(rest, 1_000_000_000, "s");
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_printed_as_go_does() {
        for (nanos, text) in [
            (0, "0s"),
            (7, "7ns"),
            (1_500, "1.5µs"),
            (345_000_000, "345ms"),
            (2_512_345_678, "2.512345678s"),
            (4_070_000_000, "4.07s"),
            (60_000_000_000, "1m0s"),
            (3_723_100_000_000, "1h2m3.1s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }
}
