//! How long to wait before a request is made again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Exponential backoff with full jitter: after the n-th failure in a row the wait is uniform
/// between 0 and `min(cap, base · 2ⁿ)`, so that many clients of one API server spread out.
///
/// Only [`Backoff::reset`] makes it short again. Callers reset it for progress, not for a request
/// that was merely accepted: otherwise a server that accepts and then fails is never spared.
#[derive(Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    failures: u32,
    random: SplitMix,
}

impl Backoff {
    /// A backoff that starts at `base` and never exceeds `cap`.
    pub const fn new(base: Duration, cap: Duration, random: SplitMix) -> Self {
        Self {
            base,
            cap,
            failures: 0,
            random,
        }
    }

    /// The wait after one more failure.
    pub fn after_failure(&mut self) -> Duration {
        let limit = self.limit();
        self.failures = self.failures.saturating_add(1);
        self.random.up_to(limit)
    }

    /// The wait after something that needs a new attempt but is no fault by itself: nothing at
    /// first, then as after failures.
    pub fn after_interruption(&mut self) -> Duration {
        if self.failures == 0 {
            self.failures = 1;
            return Duration::ZERO;
        }
        self.after_failure()
    }

    /// Starts from the beginning.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }

    /// The longest wait that the next failure can lead to.
    pub fn limit(&self) -> Duration {
        let factor = 1u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap)
    }
}

/// A small random number generator (splitmix64), for jitter only: no security rests on it.
#[derive(Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A generator that always gives the same numbers for the same seed.
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator that gives different numbers in every process.
    pub fn from_entropy() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A duration between 0 and `limit`.
    pub fn up_to(&mut self, limit: Duration) -> Duration {
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        match nanos.checked_add(1) {
            Some(span) => Duration::from_nanos(self.next() % span),
            None => Duration::from_nanos(self.next()),
        }
    }

    /// A number between `low` and `high`, both included; `low` where they are in the wrong order.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high.saturating_sub(low)) + 1;
        // The remainder is at most `high - low`, so that it fits and the sum does not overflow.
        low + (self.next() % span) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff() -> Backoff {
        let (base, cap) = (Duration::from_millis(500), Duration::from_secs(30));
        Backoff::new(base, cap, SplitMix::seeded(7))
    }

    #[test]
    fn grows_to_the_cap_and_stays_there() {
        let mut backoff = backoff();
        let mut limits = Vec::new();
        for _ in 0..80 {
            let limit = backoff.limit();
            limits.push(limit.as_millis());
            assert!(backoff.after_failure() <= limit);
        }
        assert_eq!(
            limits[..8],
            [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]
        );
        assert!(limits[8..].iter().all(|limit| *limit == 30_000));
        backoff.reset();
        assert_eq!(backoff.limit().as_millis(), 500);
    }

    #[test]
    fn jitter_covers_the_whole_range() {
        let mut backoff = backoff();
        for _ in 0..10 {
            backoff.after_failure();
        }
        let waits: Vec<_> = (0..200).map(|_| backoff.after_failure()).collect();
        assert!(waits.iter().any(|wait| *wait < Duration::from_secs(3)));
        assert!(waits.iter().any(|wait| *wait > Duration::from_secs(27)));
    }

    #[test]
    fn one_interruption_is_free_and_a_row_of_them_is_not() {
        let mut backoff = backoff();
        assert_eq!(backoff.after_interruption(), Duration::ZERO);
        assert_eq!(backoff.limit().as_millis(), 1000);
        assert!(backoff.after_interruption() > Duration::ZERO);
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut random = SplitMix::seeded(1);
        for _ in 0..1000 {
            assert!((22..=28).contains(&random.between(22, 28)));
        }
        assert_eq!(random.between(9, 3), 9);
        assert_eq!(random.between(u32::MAX, u32::MAX), u32::MAX);
    }
}
