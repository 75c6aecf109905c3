//! How long to wait before a request is retried.

use std::time::Duration;

/// Exponential backoff with full jitter: after the n-th failure in a row the wait is uniform
/// between 0 and `min(cap, base · 2ⁿ)`, so that many clients of one API server spread out.
///
/// Only [`Backoff::reset`] makes it short again. Callers reset it for progress, not because a request
/// was accepted: otherwise a server that accepts requests and then fails gets no rest.
#[derive(Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    failures: u32,
    random: fastrand::Rng,
}

impl Backoff {
    /// A backoff that starts at `base` and never exceeds `cap`.
    pub const fn new(base: Duration, cap: Duration, random: fastrand::Rng) -> Self {
        Self { base, cap, failures: 0, random }
    }

    /// The wait after one more failure.
    pub fn after_failure(&mut self) -> Duration {
        let limit = self.limit();
        self.failures = self.failures.saturating_add(1);
        let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.random.u64(0..=nanos))
    }

    /// The wait after an interruption that is not a failure by itself: none the first time, then as
    /// after failures.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff() -> Backoff {
        let (base, cap) = (Duration::from_millis(500), Duration::from_secs(30));
        Backoff::new(base, cap, fastrand::Rng::with_seed(7))
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
        assert_eq!(limits[..8], [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
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
}
