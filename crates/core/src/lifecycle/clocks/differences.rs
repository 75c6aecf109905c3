//! How long after the times that a node states its pods were shown: the last 16 differences, four bytes each.

use crate::timestamp::NANOS_PER_SECOND;

/// How many differences of a node are kept, the newest.
pub(super) const MOST_DIFFERENCES: usize = 16;

/// How many differences it takes to judge the clock of a node.
const ENOUGH: usize = 4;

/// A clock is off by more than this code.
const TOLERATED: i16 = 30 * CODES_PER_SECOND;

/// A difference of whole seconds is an even code, and one between two an odd one.
const CODES_PER_SECOND: i16 = 2;

/// Up to here a difference is known to the second, beyond it to the minute.
const EXACT_SECONDS: u16 = 4 * 3600;
const EXACT: i16 = EXACT_SECONDS as i16 * CODES_PER_SECOND;

/// For how many seconds a difference counts.
const AN_HOUR: u32 = 3600;

/// The age of a place without a difference.
const NEVER: u16 = u16::MAX;

/// A difference as a code, whose sign is that of the difference, and by how many seconds it is older than the last of its
/// node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockDifference {
    code: i16,
    age: u16,
}

/// The last differences of a node, the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockDifferences([ClockDifference; MOST_DIFFERENCES]);

impl Default for ClockDifferences {
    fn default() -> Self {
        Self([ClockDifference { code: 0, age: NEVER }; MOST_DIFFERENCES])
    }
}

/// By how many whole seconds a clock is off at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OffsetBound {
    Ahead(u32),
    Behind(u32),
}

impl ClockDifferences {
    /// Adds a difference in nanoseconds, `passed` seconds after the last one. It replaces the oldest one.
    pub(super) fn add(&mut self, nanos: i64, passed: u32) {
        let passed = u16::try_from(passed).unwrap_or(NEVER);
        for known in &mut self.0 {
            known.age = known.age.saturating_add(passed);
        }
        self.0.rotate_right(1);
        self.0[0] = ClockDifference { code: code(nanos), age: 0 };
    }

    /// Drops the differences of the last `seconds` seconds, `passed` seconds after the last one.
    pub(super) fn forget_last(&mut self, seconds: u32, passed: u32) {
        let is_old =
            |known: &&ClockDifference| u32::from(known.age).saturating_add(passed) > seconds;
        let mut kept = Self::default();
        for (place, known) in kept.0.iter_mut().zip(self.0.iter().filter(is_old)) {
            *place = *known;
        }
        *self = kept;
    }

    /// The codes of the differences that count `passed` seconds after the last one, the newest first.
    fn known(&self, passed: u32) -> impl Iterator<Item = i16> {
        let counts =
            move |known: &&ClockDifference| u32::from(known.age).saturating_add(passed) <= AN_HOUR;
        self.0.iter().take_while(counts).map(|known| known.code)
    }

    /// Whether enough differences count `passed` seconds after the last one.
    pub(super) fn are_enough(&self, passed: u32) -> bool {
        self.known(passed).nth(ENOUGH - 1).is_some()
    }

    /// How far the clock is off `passed` seconds after the last difference, by the least one; `None` if it is right or
    /// not judged.
    pub(super) fn off(&self, passed: u32) -> Option<OffsetBound> {
        let least = self.known(passed).min().filter(|_| self.are_enough(passed))?;
        match least {
            ..=-1 if -least > TOLERATED => Some(OffsetBound::Ahead(seconds(-least))),
            1.. if least > TOLERATED => Some(OffsetBound::Behind(seconds(least))),
            _ => None,
        }
    }
}

/// The code of a difference. It keeps the order, and is exact at the tolerance.
fn code(nanos: i64) -> i16 {
    let magnitude = nanos.unsigned_abs();
    let second = NANOS_PER_SECOND.unsigned_abs();
    let (whole, rest) = (magnitude / second, magnitude % second);
    let exact = i16::try_from(whole.saturating_mul(2) + u64::from(rest > 0));
    let code = match exact {
        Ok(code) if code <= EXACT => code,
        _ => {
            let minutes = i16::try_from((whole - u64::from(EXACT_SECONDS)) / 60);
            minutes.map_or(i16::MAX, |minutes| EXACT.saturating_add(minutes))
        }
    };
    if nanos < 0 { -code } else { code }
}

/// The whole seconds that a code above zero stands for, rounded down.
fn seconds(code: i16) -> u32 {
    let minutes = u32::from(code.unsigned_abs().saturating_sub(EXACT.unsigned_abs()));
    match minutes {
        0 => u32::from(code.unsigned_abs() / CODES_PER_SECOND.unsigned_abs()),
        minutes => u32::from(EXACT_SECONDS) + 60 * minutes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = NANOS_PER_SECOND;

    fn off(nanos: &[i64]) -> Option<OffsetBound> {
        let mut differences = ClockDifferences::default();
        nanos.iter().for_each(|nanos| differences.add(*nanos, 1));
        differences.off(0)
    }

    #[test]
    fn a_difference_counts_for_an_hour_and_the_last_can_be_forgotten() {
        let mut differences = ClockDifferences::default();
        for passed in [0, 600, 600, 600] {
            differences.add(-40 * SECOND, passed);
        }
        assert_eq!(differences.off(1800), Some(OffsetBound::Ahead(40)));
        assert_eq!(differences.off(1801), None, "the first is too old");
        differences.add(40 * SECOND, 1900);
        assert_eq!(differences.off(0), Some(OffsetBound::Ahead(40)));
        differences.add(40 * SECOND, 100_000);
        assert!(!differences.are_enough(0));
        let mut differences = ClockDifferences::default();
        for passed in [0, 10, 10, 10, 100] {
            differences.add(-40 * SECOND, passed);
        }
        let mut kept = differences;
        kept.forget_last(60, 0);
        assert_eq!(kept.off(0), Some(OffsetBound::Ahead(40)));
        kept.forget_last(100, 0);
        assert_eq!(kept.off(0), None);
    }

    #[test]
    fn four_differences_judge_a_clock_by_their_least() {
        assert_eq!(off(&[-40 * SECOND; 3]), None);
        assert_eq!(off(&[-40 * SECOND; 4]), Some(OffsetBound::Ahead(40)));
        let behind = [95 * SECOND, 41 * SECOND, 300 * SECOND, 50 * SECOND];
        assert_eq!(off(&behind), Some(OffsetBound::Behind(41)));
        assert_eq!(off(&[95 * SECOND, 41 * SECOND, -SECOND, 50 * SECOND]), None);
    }

    #[test]
    fn half_a_minute_is_tolerated_to_the_nanosecond() {
        for (nanos, expected) in [
            (-30 * SECOND, None),
            (-30 * SECOND - 1, Some(OffsetBound::Ahead(30))),
            (-31 * SECOND, Some(OffsetBound::Ahead(31))),
            (30 * SECOND, None),
            (30 * SECOND + 1, Some(OffsetBound::Behind(30))),
            (0, None),
        ] {
            assert_eq!(off(&[nanos; 4]), expected, "{nanos}");
        }
    }

    #[test]
    fn only_the_last_sixteen_count() {
        let mut all = vec![-40 * SECOND];
        all.extend([0; MOST_DIFFERENCES - 1]);
        assert_eq!(off(&all), Some(OffsetBound::Ahead(40)));
        all.push(0);
        assert_eq!(off(&all), None);
    }

    #[test]
    fn hours_are_known_to_the_second_and_more_to_the_minute() {
        for (seconds, known) in [
            (7_199, 7_199),
            (4 * 3600, 4 * 3600),
            (4 * 3600 + 1, 4 * 3600),
            (4 * 3600 + 61, 4 * 3600 + 60),
            (9 * 3600 + 59, 9 * 3600),
            (50 * 3600, 50 * 3600),
        ] {
            assert_eq!(off(&[-seconds * SECOND; 4]), Some(OffsetBound::Ahead(known)), "{seconds}");
        }
        for nanos in [i64::MIN, i64::MAX] {
            assert!(off(&[nanos; 4]).is_some());
        }
    }

    #[test]
    fn codes_keep_the_order_of_differences() {
        let mut before = i16::MIN;
        for half in -40_000..40_000 {
            let code = code(half * (SECOND / 2));
            assert!(before <= code, "{half}");
            before = code;
        }
    }
}
