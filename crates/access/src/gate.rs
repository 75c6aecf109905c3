//! Access control: the implementation of [`AccessControl`].
//!
//! ```text
//! Gate ─┬─► rate limit            ─┐
//!       ├─► Basic (bcrypt)         ├─ of the web configuration in force
//!       ├─► TLS, response headers ─┘
//!       └─► Kubernetes (TokenReview, SubjectAccessReview)
//! ```
//!
//! A request that cannot be decided is refused. Passwords and tokens are remembered only as keyed
//! hashes, and appear in no message. The rate limit is a token bucket.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use futures::{FutureExt, TryFutureExt};
use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use tokio::time::Instant;

use crate::basic::BasicAuth;
use crate::credentials::NoRandomness;
use crate::kubernetes::{KubernetesAccess, ReviewError};
use crate::web_config::{RateLimit, ResponseHeader, WebConfig};
use podinit_http::{AccessControl, AccessRequest, AccessStats, AccessVerdict, Undecidable};

/// Decides by the web configuration in force, which can be replaced, and by bearer tokens if they are
/// required.
pub struct AccessGate {
    in_force: RwLock<Arc<ActiveConfig>>,
    basic: BasicAuth,
    tokens: Option<KubernetesAccess>,
    stats: Arc<AccessStats>,
}

struct ActiveConfig {
    config: WebConfig,
    bucket: Option<TokenBucket>,
}

impl From<WebConfig> for ActiveConfig {
    fn from(config: WebConfig) -> Self {
        let bucket = config.rate_limit.map(TokenBucket::new);
        Self { config, bucket }
    }
}

impl AccessGate {
    /// A gate by `config`. If it has users, clients need a password; otherwise, if there is `tokens`,
    /// they need a bearer token that it accepts.
    ///
    /// # Errors
    /// Where the system has no randomness for keys.
    pub fn new(
        config: WebConfig,
        tokens: Option<KubernetesAccess>,
        stats: Arc<AccessStats>,
    ) -> Result<Self, NoRandomness> {
        Ok(Self {
            in_force: RwLock::new(Arc::new(config.into())),
            basic: BasicAuth::new()?,
            tokens,
            stats,
        })
    }

    /// Replaces the configuration, for connections and requests from now on.
    pub fn set(&self, config: WebConfig) {
        let next = Arc::new(ActiveConfig::from(config));
        *self.in_force.write() = next;
    }

    fn in_force(&self) -> Arc<ActiveConfig> {
        Arc::clone(&self.in_force.read())
    }

    fn verdict(&self, asked: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let in_force = self.in_force();
        let has_room = in_force.bucket.as_ref().is_none_or(TokenBucket::take);
        let users = &in_force.config.users;
        let tls = in_force.config.tls.as_ref();
        let requires_certificate = tls.is_some_and(|tls| tls.requires_certificate);
        if !has_room {
            ready(AccessVerdict::TooManyRequests).boxed()
        } else if requires_certificate && !asked.has_certificate {
            ready(AccessVerdict::Forbidden).boxed()
        } else if !users.is_empty() {
            self.basic.authorize(Arc::clone(users), asked)
        } else if let Some(tokens) = &self.tokens {
            tokens.authorize(asked)
        } else {
            ready(AccessVerdict::Granted).boxed()
        }
    }
}

impl AccessControl for AccessGate {
    fn tls(&self) -> Option<Arc<ServerConfig>> {
        let in_force = self.in_force();
        let tls = in_force.config.tls.as_ref();
        tls.map(|tls| Arc::clone(&tls.config))
    }

    fn handshake_failed(&self) {
        self.stats.count_handshake_failure();
    }

    fn foreign_host(&self) {
        self.stats.count_foreign_host();
    }

    fn headers(&self) -> Arc<[ResponseHeader]> {
        Arc::clone(&self.in_force().config.headers)
    }

    fn authorize(&self, asked: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let stats = Arc::clone(&self.stats);
        let verdict = self.verdict(asked);
        verdict.inspect(move |verdict| stats.count(*verdict)).boxed()
    }

    fn check(&self) -> BoxFuture<'static, Result<(), Undecidable>> {
        let tokens = self.tokens.clone();
        let checked = async move {
            match tokens {
                Some(tokens) => tokens.probe().await,
                None => Ok(()),
            }
        };
        let undecidable = |error: ReviewError| Undecidable {
            is_lasting: error.is_lasting(),
            why: error.to_string(),
        };
        checked.map_err(undecidable).boxed()
    }
}

/// Holds at most `burst` tokens, gains one in each interval, and gives one for each request.
#[derive(Debug)]
struct TokenBucket {
    limit: RateLimit,
    level: Mutex<BucketLevel>,
}

#[derive(Debug)]
struct BucketLevel {
    tokens: f64,
    at: Instant,
}

impl TokenBucket {
    /// A full bucket.
    fn new(limit: RateLimit) -> Self {
        let level = BucketLevel { tokens: f64::from(limit.burst), at: Instant::now() };
        let level = Mutex::new(level);
        Self { limit, level }
    }

    /// Takes a token; false if there is none.
    fn take(&self) -> bool {
        let mut level = self.level.lock();
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
        let bucket = TokenBucket::new(RateLimit { interval: Duration::from_secs(2), burst: 3 });
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
