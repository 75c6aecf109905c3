//! The credentials of a request as a header shows them, their fingerprints, and what was decided on them.
//! A fingerprint is a keyed hash, to recognize secrets without keeping them.

use std::collections::HashMap;

use http::HeaderValue;
use rustls::crypto::ring;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use podinit_http::AccessVerdict;

/// The system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers, which access control needs")]
pub struct NoRandomness;

/// Stands for a secret. Useless without the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SecretFingerprint([u8; 32]);

/// Makes fingerprints with a key that never leaves the process. Nobody else can compute one, so the
/// time that a comparison takes reveals nothing.
pub(super) struct FingerprintKey {
    key: [u8; 32],
}

impl FingerprintKey {
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut key = [0; 32];
        let random = ring::default_provider().secure_random;
        random.fill(&mut key).map_err(|_| NoRandomness)?;
        Ok(Self { key })
    }

    /// The fingerprint of all of these, in this order.
    pub(super) fn fingerprint(&self, parts: &[&[u8]]) -> SecretFingerprint {
        let mut hash = Sha256::new();
        hash.update(self.key);
        for part in parts {
            // The length separates the parts.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        SecretFingerprint(hash.finalize().into())
    }
}

/// The credentials of `Authorization: SCHEME credentials`; `None` for another scheme.
pub(super) fn credentials<'a>(authorization: &'a HeaderValue, scheme: &str) -> Option<&'a [u8]> {
    let (found, rest) = authorization.as_bytes().split_at_checked(scheme.len())?;
    let rest = found.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)?;
    let credentials = rest.strip_prefix(b" ")?.trim_ascii();
    (!credentials.is_empty()).then_some(credentials)
}

/// A bounded cache of decisions. When it is full, the one that expires next is evicted: refusals expire
/// sooner than grants, so unknown clients cannot evict known ones.
#[derive(Debug)]
pub(super) struct DecisionCache {
    most: usize,
    entries: HashMap<SecretFingerprint, CachedDecision>,
}

#[derive(Clone, Copy, Debug)]
struct CachedDecision {
    verdict: AccessVerdict,
    until: Instant,
}

impl DecisionCache {
    /// Room for `most` decisions, at least one.
    pub(super) fn new(most: usize) -> Self {
        Self { most, entries: HashMap::new() }
    }

    /// The decision, if it is still valid at `now`.
    pub(super) fn get(&self, key: &SecretFingerprint, now: Instant) -> Option<AccessVerdict> {
        let decision = self.entries.get(key)?;
        (now < decision.until).then_some(decision.verdict)
    }

    /// Caches a decision that expires at `until`.
    pub(super) fn put(&mut self, key: SecretFingerprint, verdict: AccessVerdict, until: Instant) {
        if self.entries.len() >= self.most && !self.entries.contains_key(&key) {
            let next = self.entries.iter().min_by_key(|(_, decision)| decision.until);
            let next = next.map(|(key, decision)| (*key, decision.until));
            if let Some((next, forgotten)) = next {
                if forgotten > until {
                    return;
                }
                self.entries.remove(&next);
            }
        }
        self.entries.insert(key, CachedDecision { verdict, until });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parts_stay_apart_and_keys_differ() {
        let one = FingerprintKey::new().unwrap();
        assert_eq!(one.fingerprint(&[b"ab", b"c"]), one.fingerprint(&[b"ab", b"c"]));
        assert_ne!(one.fingerprint(&[b"ab", b"c"]), one.fingerprint(&[b"a", b"bc"]));
        let other = FingerprintKey::new().unwrap();
        assert_ne!(one.fingerprint(&[b"ab"]), other.fingerprint(&[b"ab"]));
    }
}

#[cfg(test)]
mod authorization_tests {
    use super::*;

    #[test]
    fn the_scheme_is_compared_without_case_and_credentials_are_trimmed() {
        let of = |text: &'static str| {
            let header = HeaderValue::from_static(text);
            credentials(&header, "Bearer").map(<[u8]>::to_vec)
        };
        assert_eq!(of("Bearer token"), Some(b"token".to_vec()));
        assert_eq!(of("bEARER   token "), Some(b"token".to_vec()));
        for none in ["", "Bearer", "Bearer ", "Bearertoken", "Basic token"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}

#[cfg(test)]
mod decisions_tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;
    use crate::credentials::FingerprintKey;

    #[tokio::test(start_paused = true)]
    async fn decisions_expire() {
        let fingerprints = FingerprintKey::new().unwrap();
        let key = fingerprints.fingerprint(&[b"a"]);
        let mut decisions = DecisionCache::new(8);
        let now = Instant::now();
        let until = now + Duration::from_secs(10);
        decisions.put(key, AccessVerdict::Granted, until);
        let just_before = until - Duration::from_nanos(1);
        assert_eq!(decisions.get(&key, just_before), Some(AccessVerdict::Granted));
        assert_eq!(decisions.get(&key, until), None);
        assert_eq!(decisions.get(&fingerprints.fingerprint(&[b"b"]), now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_clients_cannot_evict_known_ones() {
        let fingerprints = FingerprintKey::new().unwrap();
        let known = fingerprints.fingerprint(&[b"known"]);
        let mut decisions = DecisionCache::new(8);
        let now = Instant::now();
        decisions.put(known, AccessVerdict::Granted, now + Duration::from_secs(120));
        for stranger in 0..1000_u32 {
            let key = fingerprints.fingerprint(&[&stranger.to_be_bytes()]);
            decisions.put(key, AccessVerdict::Forbidden, now + Duration::from_secs(10));
            assert_eq!(decisions.get(&key, now), Some(AccessVerdict::Forbidden));
            assert!(decisions.entries.len() <= 8);
        }
        assert_eq!(decisions.get(&known, now), Some(AccessVerdict::Granted));
    }
}
