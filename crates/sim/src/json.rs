//! What the JSON of a pod's parts has in common.

use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::RawValue;

use podinit_core::timestamp::{NANOS_PER_SECOND, Timestamp};

/// `{}`
#[derive(Clone, Copy, Serialize)]
pub(super) struct Empty {}

/// `metav1.Time`: RFC 3339 in UTC, truncated to the second.
pub fn time(at: Timestamp) -> String {
    second(at).to_string()
}

/// `metav1.MicroTime`: RFC 3339 in UTC, truncated to the microsecond.
pub(super) fn micro_time(at: Timestamp) -> String {
    let nanos = at.as_nanos().rem_euclid(NANOS_PER_SECOND);
    let whole = time(at);
    let whole = whole.trim_end_matches('Z');
    format!("{whole}.{:06}Z", nanos / 1_000)
}

/// The `Date` of an HTTP answer, truncated to the second.
pub(super) fn http_date(at: Timestamp) -> String {
    let since_epoch = Duration::from_nanos(at.as_nanos().max(0).unsigned_abs());
    httpdate::fmt_http_date(UNIX_EPOCH + since_epoch)
}

fn second(at: Timestamp) -> jiff::Timestamp {
    let seconds = at.as_nanos().div_euclid(NANOS_PER_SECOND);
    jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// JSON text of this program, put into a document unchanged.
pub(super) fn raw(json: &'static str) -> Option<&'static RawValue> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_cut_to_the_second() {
        let at = Timestamp::from_nanos(1_795_247_403_999_999_999);
        assert_eq!(time(at), "2026-11-21T07:50:03Z");
        assert_eq!(http_date(at), "Sat, 21 Nov 2026 07:50:03 GMT");
    }
}
