//! The hashes that stand in the place of names. Image references among them.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use podinit_core::image_registry;
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

/// Registries that everybody may use: their names say nothing about whose recording it is.
const PUBLIC_REGISTRIES: [&str; 9] = [
    "docker.io",
    "index.docker.io",
    "gcr.io",
    "ghcr.io",
    "k8s.gcr.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "quay.io",
    "registry.k8s.io",
];

impl Anonymizer {
    /// An image reference with the form that it had: registry, path, and a tag or digest. A public
    /// registry stays.
    pub(super) fn image(&self, image: &str) -> String {
        let (registry, path) = image_registry::split(image);
        let (path, version) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(("@sha256:", digest))),
            None => match path.split_once(':') {
                Some((path, tag)) => (path, Some((":", tag))),
                None => (path, None),
            },
        };
        let mut out = String::new();
        if let Some(registry) = registry {
            if PUBLIC_REGISTRIES.contains(&registry) {
                out.push_str(registry);
            } else {
                out.push_str(&self.name(registry));
                out.push_str(".example");
            }
            out.push('/');
        }
        out.push_str(&self.name(path));
        if let Some((separator, version)) = version {
            out.push_str(separator);
            match separator {
                ":" => out.push_str(&self.name(version)),
                _ => out.push_str(&super::keyed_hash::hex(&self.hash(version))),
            }
        }
        out
    }
}
