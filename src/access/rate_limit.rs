//! The rate limit: a token bucket.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::web_config::RateLimit;

/// Holds at most `burst` tokens, gains one in each interval, and gives one for each request.
#[derive(Debug)]
pub(super) struct Bucket {
    limit: RateLimit,
    level: Mutex<Level>,
}

#[derive(Debug)]
struct Level {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket.
    pub(super) fn new(limit: RateLimit) -> Self {
        let level = Level {
            tokens: f64::from(limit.burst),
            at: Instant::now(),
        };
        let level = Mutex::new(level);
        Self { limit, level }
    }

    /// Takes a token; false if there is none.
    pub(super) fn take(&self) -> bool {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.duration_since(level.at).as_secs_f64();
        let gained = passed / self.limit.interval.as_secs_f64();
        level.tokens = (level.tokens + gained).min(f64::from(self.limit.burst));
        level.at = now;
        let has_one = level.tokens >= 1.0;
        if has_one {
            level.tokens -= 1.0;
        }
        has_one
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_then_one_in_each_interval() {
        let bucket = Bucket::new(RateLimit {
            interval: Duration::from_secs(2),
            burst: 3,
        });
        let taken = || (0..10).filter(|_| bucket.take()).count();
        assert_eq!(taken(), 3);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(taken(), 0);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(taken(), 1);
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(taken(), 3);
    }
}
