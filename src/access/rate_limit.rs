//! How often may be asked: a token bucket.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use crate::web_config::RateLimit;

/// Holds at most `burst` tokens, gains one in each interval, and gives one for each request.
#[derive(Debug)]
pub(super) struct Bucket {
    limit: RateLimit,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(limit: RateLimit) -> Self {
        let state = State {
            tokens: f64::from(limit.burst),
            at: Instant::now(),
        };
        let state = Mutex::new(state);
        Self { limit, state }
    }

    /// Takes a token; false where there is none.
    pub(super) fn take(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let passed = now.duration_since(state.at).as_secs_f64();
        let gained = passed / self.limit.interval.as_secs_f64();
        state.tokens = (state.tokens + gained).min(f64::from(self.limit.burst));
        state.at = now;
        let has_one = state.tokens >= 1.0;
        if has_one {
            state.tokens -= 1.0;
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
