//! Basic authentication (RFC 7617) against bcrypt hashes.
//!
//! A check takes a tenth of a second of a whole core, and anybody who can connect can cause one. So
//! only one check runs at a time, not on the threads that serve, and none waits for it longer than a scrape
//! may take. Correct credentials are remembered, so that scrapers do not wait; wrong ones are too, so that
//! their repetition costs nothing. Every check takes as many rounds, whether the user exists and whatever
//! the cost of their hash is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::credentials::{FingerprintKey, NoRandomness, SecretFingerprint, credentials};
use crate::web_config::BasicAuthUsers;
use podinit_http::{AccessRequest, AccessVerdict};

/// How many correct credentials are remembered; the oldest are forgotten.
const REMEMBERED: usize = 64;

/// How many wrong credentials are remembered; the oldest are forgotten.
const REMEMBERED_WRONG: usize = 1024;

/// How long a check may wait: scrapers usually have ten seconds. Then the request gets status 503.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How many bytes of a password bcrypt reads.
const LONGEST_PASSWORD: usize = 72;

const CHALLENGE: AccessVerdict =
    AccessVerdict::Unauthenticated { challenge: "Basic realm=\"podinit\", charset=\"UTF-8\"" };

/// Salt and hash of an unknown password, for users who do not exist.
const DECOY: &str = "WvvTPHKwdBJ3uk0Z37EMR.hLA2W6N9AEBhEgrAOljy2Ae5MtaSIUi";

/// Checks names and passwords.
pub(super) struct BasicAuth(Arc<BasicAuthState>);

struct BasicAuthState {
    fingerprints: FingerprintKey,
    correct: CredentialCache,
    wrong: CredentialCache,
    /// The right to check, which one has at a time, in the order of arrival
    turn: Arc<Semaphore>,
}

impl BasicAuth {
    pub(super) fn new() -> Result<Self, NoRandomness> {
        Ok(Self(Arc::new(BasicAuthState {
            fingerprints: FingerprintKey::new()?,
            correct: CredentialCache::new(REMEMBERED),
            wrong: CredentialCache::new(REMEMBERED_WRONG),
            turn: Arc::new(Semaphore::new(1)),
        })))
    }

    pub(super) fn authorize(
        &self,
        users: Arc<BasicAuthUsers>,
        asked: AccessRequest,
    ) -> BoxFuture<'static, AccessVerdict> {
        let Some(login) = asked.authorization.as_ref().and_then(BasicCredentials::parse) else {
            return ready(CHALLENGE).boxed();
        };
        let inner = Arc::clone(&self.0);
        async move { inner.check(&users, login).await }.boxed()
    }
}

/// The name and password that a client sends.
struct BasicCredentials {
    user: String,
    password: Vec<u8>,
}

impl BasicCredentials {
    /// `None` also for a password that bcrypt would not tell from others: it ignores what comes after 72
    /// bytes, and to it `a` and `a`, NUL, `a` are the same.
    fn parse(authorization: &HeaderValue) -> Option<Self> {
        let text = STANDARD.decode(credentials(authorization, "Basic")?).ok()?;
        let colon = text.iter().position(|byte| *byte == b':')?;
        let password = &text[colon + 1..];
        if password.len() > LONGEST_PASSWORD || password.contains(&0) {
            return None;
        }
        Some(Self {
            user: String::from_utf8(text[..colon].to_vec()).ok()?,
            password: password.to_vec(),
        })
    }
}

/// Whether `password` has this hash, after as many rounds as a hash of cost `highest` takes.
fn verify(password: &[u8], hash: &str, cost: u32, highest: u32) -> bool {
    let is_right = bcrypt::verify(password, hash).unwrap_or(false);
    for cost in padding(cost, highest) {
        std::hint::black_box(bcrypt::verify(password, &decoy(cost)).unwrap_or(false));
    }
    is_right
}

/// The costs of what is checked besides a hash of `cost`, so that all takes 2^`highest` rounds: a check of
/// `cost` takes 2^`cost`.
fn padding(cost: u32, highest: u32) -> impl Iterator<Item = u32> {
    cost..highest
}

/// A hash of this cost of a password that nobody knows.
fn decoy(cost: u32) -> String {
    format!("$2b${cost:02}${DECOY}")
}

impl BasicAuthState {
    async fn check(&self, users: &BasicAuthUsers, login: BasicCredentials) -> AccessVerdict {
        let known = users.hash_of(&login.user);
        let highest = users.cost();
        let (hash, cost) = match known {
            Some((hash, cost)) => (hash.to_owned(), cost),
            None => (decoy(highest), highest),
        };
        // The hash is part of it, so that a changed hash invalidates it.
        let parts = [login.user.as_bytes(), hash.as_bytes(), &login.password];
        let fingerprint = self.fingerprints.fingerprint(&parts);
        if let Some(verdict) = self.remembered(fingerprint) {
            return verdict;
        }
        let turn = Arc::clone(&self.turn).acquire_owned();
        let Ok(Ok(turn)) = timeout(LONGEST_WAIT, turn).await else {
            return AccessVerdict::Unavailable;
        };
        // Another request may have checked the same credentials meanwhile.
        if let Some(verdict) = self.remembered(fingerprint) {
            return verdict;
        }
        let is_known = known.is_some();
        let password = login.password;
        let checked = tokio::task::spawn_blocking(move || {
            // Held until the check is over, even if the client has disconnected.
            let _turn = turn;
            verify(&password, &hash, cost, highest)
        });
        match checked.await {
            Ok(is_right) if is_right && is_known => {
                self.correct.add(fingerprint);
                AccessVerdict::Granted
            }
            Ok(_) => {
                self.wrong.add(fingerprint);
                CHALLENGE
            }
            Err(_) => AccessVerdict::Unavailable,
        }
    }

    /// The outcome of an earlier check of the same credentials.
    fn remembered(&self, fingerprint: SecretFingerprint) -> Option<AccessVerdict> {
        if self.correct.has(fingerprint) {
            Some(AccessVerdict::Granted)
        } else {
            self.wrong.has(fingerprint).then_some(CHALLENGE)
        }
    }
}

/// Credentials that were checked, the oldest first.
struct CredentialCache {
    most: usize,
    fingerprints: Mutex<VecDeque<SecretFingerprint>>,
}

impl CredentialCache {
    fn new(most: usize) -> Self {
        let fingerprints = Mutex::default();
        Self { most, fingerprints }
    }

    fn has(&self, fingerprint: SecretFingerprint) -> bool {
        self.fingerprints.lock().contains(&fingerprint)
    }

    fn add(&self, fingerprint: SecretFingerprint) {
        let mut fingerprints = self.fingerprints.lock();
        if fingerprints.len() == self.most {
            fingerprints.pop_front();
        }
        fingerprints.push_back(fingerprint);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokio::sync::OwnedSemaphorePermit;
    use tokio::time::Instant;

    use super::*;
    use crate::web_config::WebConfig;

    fn users(list: &[(&str, &str)]) -> Arc<BasicAuthUsers> {
        let list: Vec<_> = (list.iter()).map(|(name, word)| (*name, *word, 4)).collect();
        users_of(&list)
    }

    /// Names, passwords, and the costs of their hashes.
    fn users_of(list: &[(&str, &str, u32)]) -> Arc<BasicAuthUsers> {
        let lines = list.iter().map(|(name, password, cost)| {
            let hash = bcrypt::hash(password, *cost).unwrap();
            format!("\n  '{name}': {hash}")
        });
        let text = format!("basic_auth_users:{}", lines.collect::<String>());
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        WebConfig::inspect(file.path()).result.unwrap().users
    }

    fn with(authorization: Option<HeaderValue>) -> AccessRequest {
        AccessRequest { path: "/metrics".to_owned(), has_certificate: false, authorization }
    }

    fn login(login: &str) -> AccessRequest {
        let text = format!("Basic {}", STANDARD.encode(login));
        with(Some(HeaderValue::from_str(&text).unwrap()))
    }

    /// The right to check, which keeps all others waiting.
    fn turn(basic: &BasicAuth) -> OwnedSemaphorePermit {
        Arc::clone(&basic.0.turn).try_acquire_owned().unwrap()
    }

    #[tokio::test]
    async fn only_a_user_with_the_right_password_is_granted() {
        let basic = BasicAuth::new().unwrap();
        let users = users(&[("alice", "right"), ("bob", "a:b"), ("", "")]);
        for (text, verdict) in [
            ("alice:right", AccessVerdict::Granted),
            ("alice:right", AccessVerdict::Granted),
            ("bob:a:b", AccessVerdict::Granted),
            (":", AccessVerdict::Granted),
            ("alice:wrong", CHALLENGE),
            ("alice:", CHALLENGE),
            ("bob:right", CHALLENGE),
            ("eve:right", CHALLENGE),
            ("Alice:right", CHALLENGE),
            ("alice", CHALLENGE),
            ("", CHALLENGE),
        ] {
            let judged = basic.authorize(Arc::clone(&users), login(text)).await;
            assert_eq!(judged, verdict, "{text}");
        }
        for text in ["", "Basic", "Basic ", "Basic =", "Bearer YTpi", "BasicYWxpY2U6cmlnaHQ="] {
            let asked = with(Some(HeaderValue::from_static(text)));
            let judged = basic.authorize(Arc::clone(&users), asked).await;
            assert_eq!(judged, CHALLENGE, "{text}");
        }
        assert_eq!(basic.authorize(Arc::clone(&users), with(None)).await, CHALLENGE);
        let other_case = HeaderValue::from_static("bAsIc YWxpY2U6cmlnaHQ=");
        let judged = basic.authorize(users, with(Some(other_case))).await;
        assert_eq!(judged, AccessVerdict::Granted);
    }

    /// So that a check for a user who does not exist takes as long.
    #[test]
    fn the_decoy_is_a_hash_of_every_cost() {
        for cost in [4, 5, 10] {
            assert!(!bcrypt::verify("x", &decoy(cost)).unwrap());
        }
    }

    /// The rounds tell it, not a clock.
    #[test]
    fn a_check_takes_as_long_whatever_the_cost_of_the_hash() {
        for highest in 4..=16 {
            for cost in 4..=highest {
                let besides: u64 = padding(cost, highest).map(|cost| 1 << cost).sum();
                assert_eq!((1 << cost) + besides, 1 << highest, "{cost} of {highest}");
            }
        }
    }

    #[tokio::test]
    async fn users_of_every_cost_are_granted() {
        let basic = BasicAuth::new().unwrap();
        let users = users_of(&[("alice", "right", 4), ("bob", "left", 6)]);
        assert_eq!(users.hash_of("alice").unwrap().1, 4);
        assert_eq!((users.hash_of("bob").unwrap().1, users.cost()), (6, 6));
        for (text, verdict) in [
            ("alice:right", AccessVerdict::Granted),
            ("bob:left", AccessVerdict::Granted),
            ("alice:left", CHALLENGE),
            ("bob:right", CHALLENGE),
        ] {
            let judged = basic.authorize(Arc::clone(&users), login(text)).await;
            assert_eq!(judged, verdict, "{text}");
        }
    }

    /// bcrypt reads neither what comes after 72 bytes, nor tells the second of these from the first.
    #[tokio::test]
    async fn what_bcrypt_cannot_tell_from_the_password_is_refused() {
        let basic = BasicAuth::new().unwrap();
        let long = "x".repeat(LONGEST_PASSWORD);
        let users = users(&[("alice", "right"), ("bob", &long), ("", "")]);
        for (text, verdict) in [
            ("alice:right".to_owned(), AccessVerdict::Granted),
            ("alice:right\0right".to_owned(), CHALLENGE),
            ("alice:right\0".to_owned(), CHALLENGE),
            (":\0".to_owned(), CHALLENGE),
            (format!("bob:{long}"), AccessVerdict::Granted),
            (format!("bob:{long}y"), CHALLENGE),
        ] {
            let judged = basic.authorize(Arc::clone(&users), login(&text)).await;
            assert_eq!(judged, verdict, "{text:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn correct_credentials_are_remembered_until_their_hash_changes() {
        let basic = BasicAuth::new().unwrap();
        let before = users(&[("alice", "right")]);
        assert_eq!(
            basic.authorize(Arc::clone(&before), login("alice:right")).await,
            AccessVerdict::Granted
        );
        // No check can run any more: what is granted is remembered.
        let turn = turn(&basic);
        assert_eq!(basic.authorize(before, login("alice:right")).await, AccessVerdict::Granted);
        let after = users(&[("alice", "other")]);
        let judged = tokio::spawn(basic.authorize(after, login("alice:right")));
        tokio::task::yield_now().await;
        assert!(!judged.is_finished());
        drop(turn);
        assert_eq!(judged.await.unwrap(), CHALLENGE);
    }

    #[test]
    fn the_memory_is_bounded() {
        let basic = BasicAuth::new().unwrap();
        for number in 0..3 * REMEMBERED {
            let fingerprint = basic.0.fingerprints.fingerprint(&[&number.to_be_bytes()]);
            basic.0.correct.add(fingerprint);
        }
        assert_eq!(basic.0.correct.fingerprints.lock().len(), REMEMBERED);
    }

    #[tokio::test]
    async fn a_wrong_password_is_checked_once() {
        let basic = BasicAuth::new().unwrap();
        let users = users(&[("alice", "right")]);
        for wrong in ["alice:wrong", "eve:right"] {
            let judged = basic.authorize(Arc::clone(&users), login(wrong)).await;
            assert_eq!(judged, CHALLENGE);
        }
        // No check can run any more.
        let _turn = turn(&basic);
        for wrong in ["alice:wrong", "eve:right"] {
            let judged = basic.authorize(Arc::clone(&users), login(wrong)).await;
            assert_eq!(judged, CHALLENGE);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_a_scrape() {
        let basic = BasicAuth::new().unwrap();
        let users = users(&[("alice", "right")]);
        let turn = turn(&basic);
        let began = Instant::now();
        let judged = basic.authorize(Arc::clone(&users), login("alice:right")).await;
        assert_eq!((judged, began.elapsed()), (AccessVerdict::Unavailable, LONGEST_WAIT));
        drop(turn);
        assert_eq!(basic.authorize(users, login("alice:right")).await, AccessVerdict::Granted);
    }

    /// The first of them is being checked, and the others wait.
    #[tokio::test(start_paused = true)]
    async fn strangers_do_not_lock_out_a_scraper_that_was_here_before() {
        let basic = BasicAuth::new().unwrap();
        let users = users(&[("alice", "right")]);
        let scrape = || basic.authorize(Arc::clone(&users), login("alice:right"));
        assert_eq!(scrape().await, AccessVerdict::Granted);
        let _turn = turn(&basic);
        let crowd: Vec<_> = (0..200)
            .map(|number| {
                let wrong = login(&format!("alice:{number}"));
                tokio::spawn(basic.authorize(Arc::clone(&users), wrong))
            })
            .collect();
        tokio::task::yield_now().await;
        let began = Instant::now();
        assert_eq!((scrape().await, began.elapsed()), (AccessVerdict::Granted, Duration::ZERO));
        for stranger in crowd {
            assert_eq!(stranger.await.unwrap(), AccessVerdict::Unavailable);
        }
    }

    /// A stranger who has left does not hold up the next.
    #[tokio::test(start_paused = true)]
    async fn who_has_left_holds_nothing_up() {
        let basic = BasicAuth::new().unwrap();
        let users = users(&[("alice", "right")]);
        let turn = turn(&basic);
        let leaves = tokio::spawn(basic.authorize(Arc::clone(&users), login("eve:x")));
        tokio::task::yield_now().await;
        let stays = tokio::spawn(basic.authorize(users, login("alice:right")));
        tokio::task::yield_now().await;
        leaves.abort();
        assert!(leaves.await.unwrap_err().is_cancelled());
        drop(turn);
        assert_eq!(stays.await.unwrap(), AccessVerdict::Granted);
    }
}
