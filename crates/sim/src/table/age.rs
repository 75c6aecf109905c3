//! Ages, as kubectl writes them.

use jiff::Timestamp as Instant;

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// The time from `since` (RFC 3339) to `now`.
pub(super) fn since(since: Option<&str>, now: Timestamp) -> String {
    let since = since.and_then(|text| text.parse::<Instant>().ok());
    since.map_or_else(
        || "<unknown>".to_owned(),
        |since| of(now.as_nanos().div_euclid(NANOS_PER_SECOND) - since.as_second()),
    )
}

/// This many seconds in two units at most, and in one where the second says little.
fn of(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => units(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => units(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => units(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => units(days / 365, 'y', days % 365, 'd'),
        252_288_000.. => format!("{}y", days / 365),
    }
}

fn units(large: i64, unit: char, small: i64, unit_of_small: char) -> String {
    match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{unit_of_small}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_as_exact_as_they_need_to_be() {
        let ages = [
            (-2, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_859, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (700_000, "8d"),
            (63_072_000, "2y"),
            (300_000_000, "9y"),
        ];
        for (seconds, age) in ages {
            assert_eq!(of(seconds), age, "{seconds}");
        }
        let now = Timestamp::from_seconds(1_767_323_045);
        assert_eq!(since(Some("2026-01-02T03:04:00Z"), now), "5s");
        assert_eq!(since(None, now), "<unknown>");
    }
}
