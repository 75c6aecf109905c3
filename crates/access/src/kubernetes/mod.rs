//! Bearer tokens, reviewed by the API server: who holds a token (TokenReview), and may that user `get`
//! the path (SubjectAccessReview for a non-resource URL)? kube-rbac-proxy does the same in a sidecar,
//! and controller-runtime's `WithAuthenticationAndAuthorization` in a process.
//!
//! It fails closed: if the API server does not answer, or its answer cannot be read, access is
//! denied. Decisions are cached for a while, so that scrapes do not burden the API server and survive
//! its short outages; for as long, a revoked token still works.

mod reviews;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, ready};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

pub use self::reviews::ReviewError;
use self::reviews::{AccessReviewer, TokenUser};
use super::credentials::{
    DecisionCache, FingerprintKey, NoRandomness, SecretFingerprint, credentials,
};
use podinit_http::{AccessRequest, AccessVerdict};
use podinit_kube::cluster::client::ClusterClient;

/// How long a grant is cached.
const GRANTED_FOR: Duration = Duration::from_secs(120);

/// How long a refusal is cached.
const REFUSED_FOR: Duration = Duration::from_secs(10);

/// The deadline of both reviews together; scrapes usually have ten seconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// How many decisions are cached.
const CACHED: usize = 1024;

/// How many tokens are reviewed at a time. Requests with further ones get status 503.
const MAX_REVIEWS: usize = 16;

const NO_TOKEN: AccessVerdict =
    AccessVerdict::Unauthenticated { challenge: "Bearer realm=\"podinit\"" };
const INVALID_TOKEN: AccessVerdict = AccessVerdict::Unauthenticated {
    challenge: "Bearer realm=\"podinit\", error=\"invalid_token\"",
};

/// Decides over requests by their bearer tokens. Clones share their decisions.
#[derive(Clone)]
pub struct KubernetesAccess(Arc<KubernetesAccessState>);

struct KubernetesAccessState {
    reviewer: AccessReviewer,
    fingerprints: FingerprintKey,
    reviews: Mutex<AccessReviews>,
    permits: Arc<Semaphore>,
    /// Whether the last review failed, so that only changes are logged
    failing: AtomicBool,
}

struct AccessReviews {
    decisions: DecisionCache,
    /// Reviews in progress; requests with the same token and path share one
    in_progress: HashMap<SecretFingerprint, Shared<BoxFuture<'static, AccessVerdict>>>,
}

impl KubernetesAccess {
    /// Has `cluster` review tokens. A token must be issued for one of `audiences`, or for the API server
    /// if there are none.
    ///
    /// # Errors
    /// Where the system has no randomness for keys.
    pub fn new(cluster: &ClusterClient, audiences: Vec<String>) -> Result<Self, NoRandomness> {
        Ok(Self(Arc::new(KubernetesAccessState {
            reviewer: AccessReviewer::new(cluster, audiences),
            fingerprints: FingerprintKey::new()?,
            reviews: Mutex::new(AccessReviews {
                decisions: DecisionCache::new(CACHED),
                in_progress: HashMap::new(),
            }),
            permits: Arc::new(Semaphore::new(MAX_REVIEWS)),
            failing: AtomicBool::new(false),
        })))
    }

    /// Finds out whether podinit is allowed to create reviews.
    ///
    /// # Errors
    /// Why it is not; see [`ReviewError::is_lasting`].
    pub async fn probe(&self) -> Result<(), ReviewError> {
        let reviewer = &self.0.reviewer;
        let probed = timeout(DEADLINE, async {
            reviewer.user_of("podinit asks whether it may ask").await?;
            reviewer.may_get(TokenUser::anonymous(), "/metrics").await
        });
        let probed = probed.await;
        probed.unwrap_or_else(|_| Err(reviewer.late(DEADLINE))).map(drop)
    }

    /// Decides by the token and the path of a request.
    pub fn authorize(&self, asked: AccessRequest) -> BoxFuture<'static, AccessVerdict> {
        let header = asked.authorization.as_ref();
        let Some(token) = header.and_then(|header| credentials(header, "Bearer")) else {
            return ready(NO_TOKEN).boxed();
        };
        // A token consists of letters, digits and a few signs (RFC 6750).
        let Ok(token) = std::str::from_utf8(token) else {
            return ready(INVALID_TOKEN).boxed();
        };
        let key = self.0.fingerprints.fingerprint(&[token.as_bytes(), asked.path.as_bytes()]);
        let mut reviews = self.0.reviews.lock();
        if let Some(verdict) = reviews.decisions.get(&key, Instant::now()) {
            return ready(verdict).boxed();
        }
        if let Some(review) = reviews.in_progress.get(&key) {
            return review.clone().boxed();
        }
        let Ok(permit) = Arc::clone(&self.0.permits).try_acquire_owned() else {
            return ready(AccessVerdict::Unavailable).boxed();
        };
        let inner = Arc::clone(&self.0);
        let token = token.to_owned();
        // A task, so that the review completes even if the client disconnects.
        let task = tokio::spawn(async move {
            let _permit = permit;
            let settling = SettlingReview { inner: &inner, key };
            let verdict = inner.review(&token, &asked.path).await;
            settling.settle(verdict)
        });
        let verdict = task.map(|ended| ended.unwrap_or(AccessVerdict::Unavailable));
        let verdict = verdict.boxed().shared();
        reviews.in_progress.insert(key, verdict.clone());
        verdict.boxed()
    }
}

impl KubernetesAccessState {
    async fn review(&self, token: &str, path: &str) -> AccessVerdict {
        let reviewed = timeout(DEADLINE, async {
            let Some(user) = self.reviewer.user_of(token).await? else {
                return Ok(INVALID_TOKEN);
            };
            let may = self.reviewer.may_get(user, path).await?;
            Ok(if may { AccessVerdict::Granted } else { AccessVerdict::Forbidden })
        });
        let reviewed = reviewed.await;
        match reviewed.unwrap_or_else(|_| Err(self.reviewer.late(DEADLINE))) {
            Ok(verdict) => {
                if self.failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("the API server reviews bearer tokens again");
                }
                verdict
            }
            Err(error) => {
                if !self.failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!("{error}; refusing bearer tokens");
                }
                AccessVerdict::Unavailable
            }
        }
    }
}

/// Removes a review from those in progress, however it ends.
struct SettlingReview<'a> {
    inner: &'a KubernetesAccessState,
    key: SecretFingerprint,
}

impl SettlingReview<'_> {
    fn settle(self, verdict: AccessVerdict) -> AccessVerdict {
        let valid_for = match verdict {
            AccessVerdict::Granted => Some(GRANTED_FOR),
            AccessVerdict::Unauthenticated { .. } | AccessVerdict::Forbidden => Some(REFUSED_FOR),
            // The next attempt may succeed.
            AccessVerdict::TooManyRequests | AccessVerdict::Unavailable => None,
        };
        if let Some(valid_for) = valid_for {
            let until = Instant::now() + valid_for;
            self.inner.reviews.lock().decisions.put(self.key, verdict, until);
        }
        verdict
    }
}

impl Drop for SettlingReview<'_> {
    fn drop(&mut self) {
        self.inner.reviews.lock().in_progress.remove(&self.key);
    }
}
