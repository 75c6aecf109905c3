//! The offset of the API server's clock from ours, by the `Date` of its answers.
//!
//! `Date` is truncated to seconds. An answer dated `d`, whose request was sent at `sent` and which
//! was received at `received` by our clock, was made within `[d, d + 1 s)` of the server's clock and
//! within `[sent, received]` of ours: the server is ahead by more than `d - received` and by less
//! than `d + 1 s - sent`. Every answer narrows these bounds.

use super::report::{Check, Finding};
use podinit_core::timestamp::Timestamp;
use podinit_kube::cluster::api_server_clock::KEPT_SECONDS;

const SECOND: f64 = 1.0;

/// An offset above this is reported: events then no longer arrive within the second in which they
/// happened, and `--timestamps=fused` gains little.
const NOTABLE: f64 = 0.5;

/// By how many seconds the API server's clock may be ahead of ours (negative: behind).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClockOffset {
    bounds: Option<(f64, f64)>,
    /// By how many seconds answers contradicted each other
    contradiction: f64,
}

impl ClockOffset {
    /// Narrows the bounds by one answer.
    pub(super) fn narrow(&mut self, sent: Timestamp, received: Timestamp, date: Timestamp) {
        let seconds = |from: Timestamp, to: Timestamp| {
            let nanos = i128::from(to.as_nanos()) - i128::from(from.as_nanos());
            nanos as f64 / 1e9
        };
        let (low, high) = (seconds(received, date), seconds(sent, date) + SECOND);
        let (known_low, known_high) = self.bounds.unwrap_or((low, high));
        let (narrow_low, narrow_high) = (low.max(known_low), high.min(known_high));
        if narrow_low <= narrow_high {
            self.bounds = Some((narrow_low, narrow_high));
        } else {
            // Several API servers behind one address, or a clock that was set.
            self.contradiction = self.contradiction.max(narrow_low - narrow_high);
            self.bounds = Some((low.min(known_low), high.max(known_high)));
        }
    }

    /// The finding that follows.
    pub(super) fn finding(&self) -> Finding {
        const CHECK: Check = Check::Clock;
        let Some((low, high)) = self.bounds else {
            return Finding::skipped(CHECK, "the API server's answers have no usable Date header");
        };
        let (middle, uncertainty) = ((low + high) / 2.0, (high - low) / 2.0);
        // The part of the offset that is certain: the bound nearer to zero.
        let certain = if low > 0.0 {
            low
        } else if high < 0.0 {
            -high
        } else {
            0.0
        };
        let apart = format!(
            "the API server's clock is {} this machine's (± {uncertainty:.1} s)",
            in_words(middle)
        );
        let finding = if self.contradiction > NOTABLE {
            let text = format!(
                "answers of the API server contradict each other by {:.1} s",
                self.contradiction
            );
            Finding::warning(CHECK, text)
                .fix("synchronize the clocks of the control plane's machines (NTP)")
        } else if certain > f64::from(KEPT_SECONDS) {
            let text = format!(
                "{apart}, which podinit serve corrects by the dates of its answers, to about a second"
            );
            Finding::note(CHECK, text)
                .fix("synchronize the clocks (NTP): they then agree to a fraction of a second")
        } else if certain >= NOTABLE {
            Finding::warning(CHECK, apart).fix(
                "synchronize the clocks (NTP), or measure with --timestamps=api, which does \
                 not compare arrivals with API times",
            )
        } else if certain > 0.0 {
            Finding::ok(CHECK, apart)
        } else {
            let most = low.abs().max(high.abs());
            let text = format!("the API server's clock is within {most:.2} s of this machine's");
            Finding::ok(CHECK, text)
        };
        finding
            .detail("offset_seconds", rounded(middle))
            .detail("uncertainty_seconds", rounded(uncertainty))
    }
}

fn in_words(seconds: f64) -> String {
    if seconds > 0.0 {
        format!("{seconds:.1} s ahead of")
    } else {
        format!("{:.1} s behind", -seconds)
    }
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::report::Severity;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_nanos(milliseconds * 1_000_000)
    }

    /// Answers as (sent, received, date) in milliseconds.
    fn after(answers: &[(i64, i64, i64)]) -> ClockOffset {
        let mut offset = ClockOffset::default();
        for (sent, received, date) in answers {
            offset.narrow(at(*sent), at(*received), at(*date));
        }
        offset
    }

    #[test]
    fn one_answer_is_precise_to_half_a_second_and_half_its_round_trip() {
        let offset = after(&[(10_400, 10_600, 10_000)]);
        assert_eq!(offset.bounds, Some((-0.6, 0.6)));
    }

    #[test]
    fn answers_on_both_sides_of_a_second_narrow_it_down() {
        // Equal clocks: a new second begins between the two answers.
        let offset = after(&[(10_900, 10_910, 10_000), (11_010, 11_020, 11_000)]);
        let (low, high) = offset.bounds.unwrap();
        assert!(low > -0.03 && low < 0.0 && high > 0.0 && high < 0.11, "{low} {high}");
        assert_eq!(offset.finding().severity, Severity::Ok);
    }

    #[test]
    fn only_the_certain_part_of_an_offset_counts() {
        let severity = |date: i64| after(&[(10_400, 10_600, date)]).finding().severity;
        assert_eq!(severity(11_000), Severity::Ok);
        assert_eq!(severity(12_000), Severity::Warning);
        assert_eq!(severity(8_000), Severity::Warning);
        // An answer that proves more than this is one by which serve corrects its clock.
        assert_eq!(severity(12_600), Severity::Warning);
        assert_eq!(severity(12_601), Severity::Note);
        assert_eq!(severity(3_000), Severity::Note);
    }

    #[test]
    fn servers_that_disagree_are_reported() {
        let finding = after(&[(10_000, 10_010, 10_000), (10_020, 10_030, 40_000)]).finding();
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.found.contains("contradict"), "{}", finding.found);
    }
}
