//! Bearer tokens, judged by the API server: who holds a token (TokenReview), and may they `get`
//! this path (SubjectAccessReview for a non-resource URL). What kube-rbac-proxy does in a sidecar,
//! and controller-runtime's `WithAuthenticationAndAuthorization` in a process.
//!
//! It fails closed: where the API server does not answer, or answers anything that is not
//! understood, nobody is let in. Decisions are remembered for a while, so that scrapes do not burden
//! it, and cost it nothing when it is away for a moment; that long a revoked token still works.

mod reviews;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, ready};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

pub use self::reviews::ReviewError;
use self::reviews::{Reviewer, User};
use super::credentials;
use super::decisions::Decisions;
use super::fingerprint::{Fingerprint, Fingerprints, NoRandomness};
use crate::cluster::client::Cluster;
use crate::server::{Asked, Verdict};

/// How long a token that may is let in without asking again.
const GRANTED_FOR: Duration = Duration::from_secs(120);

/// How long a token that may not, or is none, is refused without asking again.
const REFUSED_FOR: Duration = Duration::from_secs(10);

/// For both reviews together; scrapes usually have ten seconds.
const DEADLINE: Duration = Duration::from_secs(5);

/// How many decisions are remembered.
const REMEMBERED: usize = 1024;

/// How many tokens are judged at a time. Further ones get status 503.
const UNDER_WAY: usize = 16;

const NO_TOKEN: Verdict = Verdict::Unauthenticated {
    challenge: "Bearer realm=\"podinit\"",
};
const NO_GOOD_TOKEN: Verdict = Verdict::Unauthenticated {
    challenge: "Bearer realm=\"podinit\", error=\"invalid_token\"",
};

/// Judges bearer tokens.
pub struct Kubernetes(Arc<Inner>);

struct Inner {
    reviewer: Reviewer,
    fingerprints: Fingerprints,
    state: Mutex<State>,
    places: Arc<Semaphore>,
    /// Whether the last review failed, so that a change is logged once
    failing: AtomicBool,
}

struct State {
    decisions: Decisions,
    /// By what is being judged: requests for the same wait for the same answer
    under_way: HashMap<Fingerprint, Shared<BoxFuture<'static, Verdict>>>,
}

impl Kubernetes {
    /// Has tokens judged by `cluster`. Where `audiences` are given, a token must be meant for one
    /// of them; otherwise for the API server.
    ///
    /// # Errors
    /// Where the system has no randomness for keys.
    pub fn new(cluster: &Cluster, audiences: Vec<String>) -> Result<Self, NoRandomness> {
        Ok(Self(Arc::new(Inner {
            reviewer: Reviewer::new(cluster, audiences),
            fingerprints: Fingerprints::new()?,
            state: Mutex::new(State {
                decisions: Decisions::new(REMEMBERED),
                under_way: HashMap::new(),
            }),
            places: Arc::new(Semaphore::new(UNDER_WAY)),
            failing: AtomicBool::new(false),
        })))
    }

    /// Finds out whether podinit may ask for reviews.
    ///
    /// # Errors
    /// Why it cannot; [`ReviewError::is_lasting`] tells whether it could pass.
    pub async fn probe(&self) -> Result<(), ReviewError> {
        let reviewer = &self.0.reviewer;
        let probed = timeout(DEADLINE, async {
            reviewer.user_of("podinit asks whether it may ask").await?;
            reviewer.may_get(User::anonymous(), "/metrics").await
        });
        let probed = probed.await;
        probed
            .unwrap_or_else(|_| Err(reviewer.late(DEADLINE)))
            .map(drop)
    }

    /// Judges a request by its token and its path.
    pub fn judge(&self, asked: Asked) -> BoxFuture<'static, Verdict> {
        let header = asked.authorization.as_ref();
        let Some(token) = header.and_then(|header| credentials(header, "Bearer")) else {
            return ready(NO_TOKEN).boxed();
        };
        // A token is of letters, digits and a few signs (RFC 6750), or it is none.
        let Ok(token) = std::str::from_utf8(token) else {
            return ready(NO_GOOD_TOKEN).boxed();
        };
        let key = self
            .0
            .fingerprints
            .of(&[token.as_bytes(), asked.path.as_bytes()]);
        let mut state = self.0.state();
        if let Some(verdict) = state.decisions.get(&key, Instant::now()) {
            return ready(verdict).boxed();
        }
        if let Some(under_way) = state.under_way.get(&key) {
            return under_way.clone().boxed();
        }
        let Ok(place) = Arc::clone(&self.0.places).try_acquire_owned() else {
            return ready(Verdict::Unavailable).boxed();
        };
        let inner = Arc::clone(&self.0);
        let token = token.to_owned();
        // A task, so that the answer comes to be known even if the client that asked has gone.
        let task = tokio::spawn(async move {
            let _place = place;
            let settling = Settling { inner: &inner, key };
            let verdict = inner.review(&token, &asked.path).await;
            settling.settle(verdict)
        });
        let verdict = task.map(|ended| ended.unwrap_or(Verdict::Unavailable));
        let verdict = verdict.boxed().shared();
        state.under_way.insert(key, verdict.clone());
        verdict.boxed()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn review(&self, token: &str, path: &str) -> Verdict {
        let reviewed = timeout(DEADLINE, async {
            let Some(user) = self.reviewer.user_of(token).await? else {
                return Ok(NO_GOOD_TOKEN);
            };
            let may = self.reviewer.may_get(user, path).await?;
            Ok(if may {
                Verdict::Granted
            } else {
                Verdict::Forbidden
            })
        });
        let reviewed = reviewed.await;
        match reviewed.unwrap_or_else(|_| Err(self.reviewer.late(DEADLINE))) {
            Ok(verdict) => {
                if self.failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("bearer tokens are reviewed again");
                }
                verdict
            }
            Err(error) => {
                if !self.failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!("{error}; bearer tokens are refused");
                }
                Verdict::Unavailable
            }
        }
    }
}

/// Ends what is under way, in whatever way it ends.
struct Settling<'a> {
    inner: &'a Inner,
    key: Fingerprint,
}

impl Settling<'_> {
    fn settle(self, verdict: Verdict) -> Verdict {
        let holds = match verdict {
            Verdict::Granted => Some(GRANTED_FOR),
            Verdict::Unauthenticated { .. } | Verdict::Forbidden => Some(REFUSED_FOR),
            // It may be known the next moment.
            Verdict::TooManyRequests | Verdict::Unavailable => None,
        };
        if let Some(holds) = holds {
            let until = Instant::now() + holds;
            self.inner.state().decisions.put(self.key, verdict, until);
        }
        verdict
    }
}

impl Drop for Settling<'_> {
    fn drop(&mut self) {
        self.inner.state().under_way.remove(&self.key);
    }
}
