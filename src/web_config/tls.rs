//! `tls_server_config`: from names and files to the configuration of rustls.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedCipherSuite, SupportedProtocolVersion, version};

use super::client_auth::ClientAuth;
use super::files::{Files, certificates_of, pem};
use super::tls_names::{CIPHER_SUITES, CURVES, VERSIONS, find};
use crate::config_file::yaml::{Fault, Node, Section};

/// Only HTTP/1.1 is supported.
const ALPN: &[u8] = b"http/1.1";

const KEY: &str = "tls_server_config";

const KEYS: [&str; 13] = [
    "cert",
    "key",
    "client_ca",
    "cert_file",
    "key_file",
    "client_auth_type",
    "client_ca_file",
    "client_allowed_sans",
    "min_version",
    "max_version",
    "cipher_suites",
    "prefer_server_cipher_suites",
    "curve_preferences",
];

/// The TLS of connections.
#[derive(Clone, Debug)]
pub struct Tls {
    /// For new connections
    pub config: Arc<ServerConfig>,
    /// Whether a client without a certificate is answered only to probes
    pub requires_certificate: bool,
}

impl Tls {
    pub(super) fn of(root: &Section<'_>, node: &Node, files: &mut Files) -> Result<Self, Fault> {
        let section = &root.inner(KEY, node, &KEYS)?;
        let chain = certificates(section, files)?;
        let key = private_key(section, files)?;
        let provider = Arc::new(provider(section)?);
        let versions = versions(section)?;
        let client_auth = ClientAuth::of(section, files, &provider)?;
        let requires_certificate = client_auth.requires_certificate();
        let unusable = |error: rustls::Error| root.fault(KEY, node, format!("{error}"));
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(unusable)?
            .with_client_cert_verifier(client_auth.verifier());
        let mut config = builder.with_single_cert(chain, key).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                root.fault(KEY, node, "the key does not belong to the certificate")
            }
            other => unusable(other),
        })?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.ignore_client_order = match section.get("prefer_server_cipher_suites") {
            Some(node) => section.truth("prefer_server_cipher_suites", node)?,
            None => true,
        };
        Ok(Self { config: Arc::new(config), requires_certificate })
    }
}

fn certificates(
    section: &Section<'_>,
    files: &mut Files,
) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let Some(pem) = pem(section, "cert", "cert_file", files)? else {
        return Err(section.missing("cert_file"));
    };
    certificates_of(&pem.bytes).map_err(|why| section.fault(pem.key, pem.node, why))
}

fn private_key(section: &Section<'_>, files: &mut Files) -> Result<PrivateKeyDer<'static>, Fault> {
    let Some(pem) = pem(section, "key", "key_file", files)? else {
        return Err(section.missing("key_file"));
    };
    PrivateKeyDer::from_pem_slice(&pem.bytes).map_err(|_| {
        let why = "has no private key in PEM (PKCS#8, PKCS#1 or SEC1, and not encrypted)";
        section.fault(pem.key, pem.node, why)
    })
}

fn versions(section: &Section<'_>) -> Result<Vec<&'static SupportedProtocolVersion>, Fault> {
    let position = |name: &str| {
        let known: Vec<(&str, usize)> = VERSIONS.iter().map(|(name, _)| *name).zip(0..).collect();
        find(&known, name)
    };
    let bound = |key: &str, default: usize| match section.get(key) {
        Some(node) => section.text(key, node, position),
        None => Ok(default),
    };
    let least = bound("min_version", 0)?;
    let most = bound("max_version", VERSIONS.len() - 1)?;
    if least > most {
        let node = section.need("min_version")?;
        return Err(section.fault("min_version", node, "is above max_version"));
    }
    Ok(VERSIONS[least..=most].iter().map(|(_, version)| *version).collect())
}

/// ring's cryptography, restricted to the configured suites and curves.
fn provider(section: &Section<'_>) -> Result<CryptoProvider, Fault> {
    let mut provider = ring::default_provider();
    let suites = named(section, "cipher_suites", &CIPHER_SUITES)?;
    if !suites.is_empty() {
        let is_old = |suite: &SupportedCipherSuite| suite.version() != &version::TLS13;
        provider.cipher_suites.retain(|suite| !is_old(suite));
        provider.cipher_suites.extend(suites.into_iter().filter(is_old));
    }
    let curves: Vec<&'static dyn SupportedKxGroup> = named(section, "curve_preferences", &CURVES)?;
    if !curves.is_empty() {
        provider.kx_groups = curves;
    }
    Ok(provider)
}

/// The values of a list of names; empty without the list.
fn named<T: Copy>(section: &Section<'_>, key: &str, known: &[(&str, T)]) -> Result<Vec<T>, Fault> {
    let Some(node) = section.get(key) else {
        return Ok(Vec::new());
    };
    let items = section.items(key, node)?;
    let each = items
        .iter()
        .enumerate()
        .map(|(at, item)| section.text(&format!("{key}[{at}]"), item, |name| find(known, name)));
    each.collect()
}
