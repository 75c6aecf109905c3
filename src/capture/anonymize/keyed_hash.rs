//! The hashes that stand in the place of names.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use podinit_decode::rfc3339;

/// Replaces names by keyed hashes.
#[derive(Clone, Debug)]
pub struct Anonymizer {
    key: [u8; 32],
}

impl Anonymizer {
    /// With a random key.
    ///
    /// # Errors
    /// If the system has no source of random bytes.
    pub fn with_random_key() -> io::Result<Self> {
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        Ok(Self::with_key(key))
    }

    /// With a given key: the same names become the same hashes.
    pub const fn with_key(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The hash of a name, as a name that Kubernetes would accept. Empty text stays empty.
    pub(super) fn name(&self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        let hash = self.hash(name);
        format!("x{}", hex(&hash[..6]))
    }

    /// The hash of a UID, as a UUID. Empty text stays empty.
    pub(super) fn uid(&self, uid: &str) -> String {
        if uid.is_empty() {
            return String::new();
        }
        let text = hex(&self.hash(uid)[..16]);
        format!(
            "{}-{}-{}-{}-{}",
            &text[..8],
            &text[8..12],
            &text[12..16],
            &text[16..20],
            &text[20..32]
        )
    }

    /// A time stays. What is none is hashed, so that it stays stated.
    pub(super) fn time(&self, time: &str) -> String {
        match rfc3339::parse(time) {
            Some(_) => time.to_owned(),
            None => self.name(time),
        }
    }

    pub(super) fn hash(&self, text: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update(text.as_bytes());
        hash.finalize().into()
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
