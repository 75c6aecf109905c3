//! Keyed hashes, to recognize secrets without keeping them.

use rustls::crypto::ring;
use sha2::{Digest, Sha256};

/// The system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers, which access control needs")]
pub struct NoRandomness;

/// Stands for a secret. Useless without the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint([u8; 32]);

/// Makes fingerprints with a key that never leaves the process. Nobody else can compute one, so the
/// time that a comparison takes reveals nothing.
pub(super) struct Fingerprints {
    key: [u8; 32],
}

impl Fingerprints {
    pub(super) fn new() -> Result<Self, NoRandomness> {
        let mut key = [0; 32];
        let random = ring::default_provider().secure_random;
        random.fill(&mut key).map_err(|_| NoRandomness)?;
        Ok(Self { key })
    }

    /// The fingerprint of all of these, in this order.
    pub(super) fn of(&self, parts: &[&[u8]]) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(self.key);
        for part in parts {
            // The length separates the parts.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Fingerprint(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn parts_stay_apart_and_keys_differ() {
        let one = Fingerprints::new().unwrap();
        assert_eq!(one.of(&[b"ab", b"c"]), one.of(&[b"ab", b"c"]));
        assert_ne!(one.of(&[b"ab", b"c"]), one.of(&[b"a", b"bc"]));
        let other = Fingerprints::new().unwrap();
        assert_ne!(one.of(&[b"ab"]), other.of(&[b"ab"]));
    }
}
