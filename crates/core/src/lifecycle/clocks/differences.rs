//! How long after the times that a node states its pods were shown: the last 16 differences, two bytes each.

use crate::timestamp::NANOS_PER_SECOND;

/// So many differences of a node are kept.
pub(super) const MOST_DIFFERENCES: usize = 16;

/// With so many the clock of a node is judged.
const ENOUGH: usize = 4;

/// A clock is off by more than this.
const TOLERATED: i16 = 30 * CODES_PER_SECOND;

/// A difference of whole seconds is an even code, and one between two an odd one.
const CODES_PER_SECOND: i16 = 2;

/// Up to here a difference is known to the second, beyond it to the minute.
const EXACT_SECONDS: u16 = 4 * 3600;
const EXACT: i16 = EXACT_SECONDS as i16 * CODES_PER_SECOND;

/// What stands for no difference.
const NONE: i16 = i16::MIN;

/// The last differences of a node, as codes: the sign is that of the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Differences([i16; MOST_DIFFERENCES]);

impl Default for Differences {
    fn default() -> Self {
        Self([NONE; MOST_DIFFERENCES])
    }
}

/// How far a clock is off at least, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    Ahead(u32),
    Behind(u32),
}

impl Differences {
    /// Adds a difference in nanoseconds, in the place of the oldest.
    pub(super) fn add(&mut self, nanos: i64) {
        self.0.rotate_right(1);
        self.0[0] = code(nanos);
    }

    /// Whether there are enough of them.
    pub(super) fn are_enough(&self) -> bool {
        self.0[ENOUGH - 1] != NONE
    }

    /// How far the clock is off, if it is: by the least of them.
    pub(super) fn off(&self) -> Option<Off> {
        let known = self.0.iter().filter(|code| **code != NONE);
        let least = *known.min().filter(|_| self.are_enough())?;
        match least {
            ..=-1 if -least > TOLERATED => Some(Off::Ahead(seconds(-least))),
            1.. if least > TOLERATED => Some(Off::Behind(seconds(least))),
            _ => None,
        }
    }
}

/// The code of a difference. It keeps the order, and says exactly which differences are tolerated.
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

    fn off(nanos: &[i64]) -> Option<Off> {
        let mut differences = Differences::default();
        nanos.iter().for_each(|nanos| differences.add(*nanos));
        differences.off()
    }

    #[test]
    fn four_differences_judge_a_clock_by_their_least() {
        assert_eq!(off(&[-40 * SECOND; 3]), None);
        assert_eq!(off(&[-40 * SECOND; 4]), Some(Off::Ahead(40)));
        let behind = [95 * SECOND, 41 * SECOND, 300 * SECOND, 50 * SECOND];
        assert_eq!(off(&behind), Some(Off::Behind(41)));
        assert_eq!(off(&[95 * SECOND, 41 * SECOND, -SECOND, 50 * SECOND]), None);
    }

    #[test]
    fn half_a_minute_is_tolerated_to_the_nanosecond() {
        for (nanos, expected) in [
            (-30 * SECOND, None),
            (-30 * SECOND - 1, Some(Off::Ahead(30))),
            (-31 * SECOND, Some(Off::Ahead(31))),
            (30 * SECOND, None),
            (30 * SECOND + 1, Some(Off::Behind(30))),
            (0, None),
        ] {
            assert_eq!(off(&[nanos; 4]), expected, "{nanos}");
        }
    }

    #[test]
    fn only_the_last_sixteen_count() {
        let mut all = vec![-40 * SECOND];
        all.extend([0; MOST_DIFFERENCES - 1]);
        assert_eq!(off(&all), Some(Off::Ahead(40)));
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
            assert_eq!(off(&[-seconds * SECOND; 4]), Some(Off::Ahead(known)), "{seconds}");
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
            assert!(before <= code && code != NONE, "{half}");
            before = code;
        }
    }
}
