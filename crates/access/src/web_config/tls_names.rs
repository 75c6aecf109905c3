//! Protocol versions, cipher suites and curves by their names in Go, as far as ring implements them.
//! Missing are old ones (TLS 1.0 and 1.1, CBC, key exchange by RSA) and P-521.

use rustls::crypto::SupportedKxGroup;
use rustls::crypto::ring::cipher_suite::{
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::crypto::ring::kx_group::{SECP256R1, SECP384R1, X25519};
use rustls::version::{TLS12, TLS13};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};
use serde_saphyr::Spanned;

use podinit_config::FileFault;
use podinit_config::yaml::SpecifiedSetting;

/// From the oldest to the newest.
pub(super) const VERSIONS: [(&str, &SupportedProtocolVersion); 2] =
    [("TLS12", &TLS12), ("TLS13", &TLS13)];

/// The suites of TLS 1.3 can be named, but are always enabled, as in Go.
pub(super) const CIPHER_SUITES: [(&str, SupportedCipherSuite); 9] = [
    ("TLS_AES_128_GCM_SHA256", TLS13_AES_128_GCM_SHA256),
    ("TLS_AES_256_GCM_SHA384", TLS13_AES_256_GCM_SHA384),
    ("TLS_CHACHA20_POLY1305_SHA256", TLS13_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

pub(super) const CURVES: [(&str, &dyn SupportedKxGroup); 3] =
    [("CurveP256", SECP256R1), ("CurveP384", SECP384R1), ("X25519", X25519)];

/// The value with this name.
///
/// # Errors
/// A message with all names.
pub(super) fn find<T: Copy>(known: &[(&str, T)], name: &Spanned<String>) -> Result<T, FileFault> {
    let found = known.iter().find(|(known, _)| *known == name.value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let why = format!("is not supported; supported are {}", names.join(", "));
        FileFault::at(name.referenced, why)
    })
}

/// The values of a list of names; empty without the list.
pub(super) fn find_all<T: Copy>(
    known: &[(&str, T)],
    names: &SpecifiedSetting<Vec<Spanned<String>>>,
) -> Result<Vec<T>, FileFault> {
    names.0.iter().flatten().map(|name| find(known, name)).collect()
}
