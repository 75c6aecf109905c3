//! Basic authentication (RFC 7617) against bcrypt hashes.
//!
//! A check takes a tenth of a second of a whole core, and anybody who can connect can cause one. So
//! only one check runs at a time, not on the threads that serve, with a short queue in front of it.
//! Correct credentials are remembered, so that scrapers do not wait. A check for a user who does not
//! exist takes as long as one for a user who does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use http::HeaderValue;
use tokio::sync::Semaphore;

use super::authorization::credentials;
use super::fingerprint::{Fingerprint, Fingerprints, NoRandomness};
use crate::server::Verdict;
use crate::web_config::Users;

/// How many correct credentials are remembered; the oldest are forgotten.
const REMEMBERED: usize = 64;

/// How many checks may wait. Further requests get status 503.
const QUEUE: usize = 16;

const CHALLENGE: Verdict = Verdict::Unauthenticated {
    challenge: "Basic realm=\"podinit\", charset=\"UTF-8\"",
};

/// Salt and hash of an unknown password, for users who do not exist.
const DECOY: &str = "WvvTPHKwdBJ3uk0Z37EMR.hLA2W6N9AEBhEgrAOljy2Ae5MtaSIUi";

/// Checks names and passwords.
pub(super) struct Basic(Arc<Inner>);

struct Inner {
    fingerprints: Fingerprints,
    /// Correct credentials, the oldest first
    correct: Mutex<VecDeque<Fingerprint>>,
    queue: Semaphore,
    turn: Arc<Semaphore>,
}

impl Basic {
    pub(super) fn new() -> Result<Self, NoRandomness> {
        Ok(Self(Arc::new(Inner {
            fingerprints: Fingerprints::new()?,
            correct: Mutex::default(),
            queue: Semaphore::new(QUEUE),
            turn: Arc::new(Semaphore::new(1)),
        })))
    }

    pub(super) fn authorize(
        &self,
        users: Arc<Users>,
        authorization: Option<HeaderValue>,
    ) -> BoxFuture<'static, Verdict> {
        let Some(login) = authorization.as_ref().and_then(Login::parse) else {
            return ready(CHALLENGE).boxed();
        };
        let inner = Arc::clone(&self.0);
        async move { inner.check(&users, login).await }.boxed()
    }
}

/// The name and password that a client sends.
struct Login {
    user: String,
    password: Vec<u8>,
}

impl Login {
    fn parse(authorization: &HeaderValue) -> Option<Self> {
        let text = STANDARD.decode(credentials(authorization, "Basic")?).ok()?;
        let colon = text.iter().position(|byte| *byte == b':')?;
        Some(Self {
            user: String::from_utf8(text[..colon].to_vec()).ok()?,
            password: text[colon + 1..].to_vec(),
        })
    }
}

impl Inner {
    async fn check(&self, users: &Users, login: Login) -> Verdict {
        let known = users.hash_of(&login.user);
        // The hash is part of it, so that a changed hash invalidates it.
        let fingerprint = known.map(|hash| {
            let parts = [login.user.as_bytes(), hash.as_bytes(), &login.password];
            self.fingerprints.of(&parts)
        });
        let is_correct = |fingerprint: Fingerprint| self.remembers(fingerprint);
        if fingerprint.is_some_and(is_correct) {
            return Verdict::Granted;
        }
        let Ok(_place) = self.queue.try_acquire() else {
            return Verdict::Unavailable;
        };
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else {
            return Verdict::Unavailable;
        };
        // Another request may have checked the same credentials meanwhile.
        if fingerprint.is_some_and(is_correct) {
            return Verdict::Granted;
        }
        let decoy = || format!("$2b${:02}${DECOY}", users.cost());
        let hash = known.map_or_else(decoy, str::to_owned);
        let password = login.password;
        let checked = tokio::task::spawn_blocking(move || {
            // Held until the check is over, even if the client has disconnected.
            let _turn = turn;
            bcrypt::verify(password, &hash).unwrap_or(false)
        });
        match (checked.await, fingerprint) {
            (Ok(true), Some(fingerprint)) => {
                self.remember(fingerprint);
                Verdict::Granted
            }
            (Ok(_), _) => CHALLENGE,
            (Err(_), _) => Verdict::Unavailable,
        }
    }

    fn remembers(&self, fingerprint: Fingerprint) -> bool {
        let correct = self.correct.lock().unwrap_or_else(PoisonError::into_inner);
        correct.contains(&fingerprint)
    }

    fn remember(&self, fingerprint: Fingerprint) {
        let mut correct = self.correct.lock().unwrap_or_else(PoisonError::into_inner);
        if correct.len() == REMEMBERED {
            correct.pop_front();
        }
        correct.push_back(fingerprint);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::web_config::WebConfig;

    fn users(list: &[(&str, &str)]) -> Arc<Users> {
        let lines = list.iter().map(|(name, password)| {
            let hash = bcrypt::hash(password, 4).unwrap();
            format!("\n  '{name}': {hash}")
        });
        let text = format!("basic_auth_users:{}", lines.collect::<String>());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        WebConfig::inspect(file.path()).result.unwrap().users
    }

    fn header(login: &str) -> Option<HeaderValue> {
        let text = format!("Basic {}", STANDARD.encode(login));
        Some(HeaderValue::from_str(&text).unwrap())
    }

    #[tokio::test]
    async fn only_a_user_with_the_right_password_is_granted() {
        let basic = Basic::new().unwrap();
        let users = users(&[("alice", "right"), ("bob", "a:b"), ("", "")]);
        for (login, verdict) in [
            ("alice:right", Verdict::Granted),
            ("alice:right", Verdict::Granted),
            ("bob:a:b", Verdict::Granted),
            (":", Verdict::Granted),
            ("alice:wrong", CHALLENGE),
            ("alice:", CHALLENGE),
            ("bob:right", CHALLENGE),
            ("eve:right", CHALLENGE),
            ("Alice:right", CHALLENGE),
            ("alice", CHALLENGE),
            ("", CHALLENGE),
        ] {
            let judged = basic.authorize(Arc::clone(&users), header(login)).await;
            assert_eq!(judged, verdict, "{login}");
        }
        for text in [
            "",
            "Basic",
            "Basic ",
            "Basic =",
            "Bearer YTpi",
            "BasicYWxpY2U6cmlnaHQ=",
        ] {
            let header = Some(HeaderValue::from_static(text));
            let judged = basic.authorize(Arc::clone(&users), header).await;
            assert_eq!(judged, CHALLENGE, "{text}");
        }
        assert_eq!(basic.authorize(Arc::clone(&users), None).await, CHALLENGE);
        let other_case = HeaderValue::from_static("bAsIc YWxpY2U6cmlnaHQ=");
        let judged = basic.authorize(users, Some(other_case)).await;
        assert_eq!(judged, Verdict::Granted);
    }

    /// So that a check for a user who does not exist takes as long.
    #[test]
    fn the_decoy_is_a_hash_of_every_cost() {
        for cost in [4, 5, 10] {
            let hash = format!("$2b${cost:02}${DECOY}");
            assert!(!bcrypt::verify("x", &hash).unwrap());
        }
    }

    #[tokio::test]
    async fn correct_credentials_are_remembered_until_their_hash_changes() {
        let basic = Basic::new().unwrap();
        let before = users(&[("alice", "right")]);
        assert_eq!(
            basic
                .authorize(Arc::clone(&before), header("alice:right"))
                .await,
            Verdict::Granted
        );
        // No check can run any more: what is granted is remembered.
        let turn = Arc::clone(&basic.0.turn).acquire_owned().await.unwrap();
        assert_eq!(
            basic.authorize(before, header("alice:right")).await,
            Verdict::Granted
        );
        let after = users(&[("alice", "other")]);
        let judged = tokio::spawn(basic.authorize(after, header("alice:right")));
        tokio::task::yield_now().await;
        assert!(!judged.is_finished());
        drop(turn);
        assert_eq!(judged.await.unwrap(), CHALLENGE);
    }

    #[tokio::test]
    async fn the_queue_and_the_memory_are_bounded() {
        let basic = Basic::new().unwrap();
        let users = users(&[("alice", "right")]);
        let turn = Arc::clone(&basic.0.turn).acquire_owned().await.unwrap();
        let mut waiting: Vec<_> = (0..QUEUE)
            .map(|_| tokio::spawn(basic.authorize(Arc::clone(&users), header("eve:x"))))
            .collect();
        while basic.0.queue.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let one_more = basic.authorize(Arc::clone(&users), header("eve:x")).await;
        assert_eq!(one_more, Verdict::Unavailable);
        // A client that disconnects frees its place.
        waiting.pop().unwrap().abort();
        while basic.0.queue.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
        drop(turn);
        for waiting in waiting {
            assert_eq!(waiting.await.unwrap(), CHALLENGE);
        }
        for number in 0..3 * REMEMBERED {
            let fingerprint = basic.0.fingerprints.of(&[&number.to_be_bytes()]);
            basic.0.remember(fingerprint);
        }
        assert_eq!(basic.0.correct.lock().unwrap().len(), REMEMBERED);
    }
}
