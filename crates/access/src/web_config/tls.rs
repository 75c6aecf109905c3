//! `tls_server_config`: from names and files to the configuration of rustls.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, SupportedCipherSuite, SupportedProtocolVersion, version};
use serde_saphyr::{Location, Spanned};

use super::client_auth::ClientAuth;
use super::files::{PemForm, PemSource, WebConfigFiles, certificates_of};
use super::tls_form::TlsForm;
use super::tls_names::{CIPHER_SUITES, CURVES, VERSIONS, find, find_all};
use podinit_config::FileFault;
use podinit_config::yaml::SpecifiedSetting;

/// Only HTTP/1.1 is supported.
const ALPN: &[u8] = b"http/1.1";

/// The TLS of connections.
#[derive(Clone, Debug)]
pub struct ServerTls {
    /// For new connections
    pub config: Arc<ServerConfig>,
    /// Whether a client without a certificate is answered only to probes
    pub(crate) requires_certificate: bool,
}

impl ServerTls {
    pub(super) fn from_form(
        form: &Spanned<TlsForm>,
        files: &mut WebConfigFiles,
    ) -> Result<Self, FileFault> {
        let Spanned { value: form, referenced, .. } = form;
        let fault = |why: String| FileFault::at(*referenced, why);
        let missing = |key: &str| fault(format!("{key} is missing"));
        let chain = form.certificates(files)?.ok_or_else(|| missing("cert_file"))?;
        let key = form.private_key(files)?.ok_or_else(|| missing("key_file"))?;
        let provider = Arc::new(form.provider()?);
        let versions = form.versions()?;
        let client_auth = ClientAuth::from_form(form, files, &provider)?;
        let requires_certificate = client_auth.requires_certificate();
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| fault(error.to_string()))?
            .with_client_cert_verifier(client_auth.verifier());
        let config = builder.with_single_cert(chain, key);
        let mut config = config.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                fault("the key does not belong to the certificate".to_owned())
            }
            other => fault(other.to_string()),
        })?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.ignore_client_order = form.prefer_server_cipher_suites.0.unwrap_or(true);
        Ok(Self { config: Arc::new(config), requires_certificate })
    }
}

impl TlsForm {
    fn certificates(
        &self,
        files: &mut WebConfigFiles,
    ) -> Result<Option<Vec<CertificateDer<'static>>>, FileFault> {
        let pem = PemForm { key: "cert", inline: &self.cert, file: &self.cert_file }.read(files)?;
        let certificates = |pem: PemSource| {
            certificates_of(&pem.bytes).map_err(|why| FileFault::at(pem.place, why))
        };
        pem.map(certificates).transpose()
    }

    fn private_key(
        &self,
        files: &mut WebConfigFiles,
    ) -> Result<Option<PrivateKeyDer<'static>>, FileFault> {
        let pem = PemForm { key: "key", inline: &self.key, file: &self.key_file }.read(files)?;
        let key = |pem: PemSource| {
            PrivateKeyDer::from_pem_slice(&pem.bytes).map_err(|_| {
                let why = "has no private key in PEM (PKCS#8, PKCS#1 or SEC1, and not encrypted)";
                FileFault::at(pem.place, why)
            })
        };
        pem.map(key).transpose()
    }

    fn versions(&self) -> Result<Vec<&'static SupportedProtocolVersion>, FileFault> {
        let known: Vec<(&str, usize)> = VERSIONS.iter().map(|(name, _)| *name).zip(0..).collect();
        let bound = |version: &SpecifiedSetting<Spanned<String>>, default: usize| {
            version.0.as_ref().map_or(Ok(default), |name| find(&known, name))
        };
        let least = bound(&self.min_version, 0)?;
        let most = bound(&self.max_version, VERSIONS.len() - 1)?;
        if least > most {
            let place = self.min_version.0.as_ref().map(|name| name.referenced);
            let place = place.unwrap_or(Location::UNKNOWN);
            return Err(FileFault::at(place, "min_version is above max_version"));
        }
        Ok(VERSIONS[least..=most].iter().map(|(_, version)| *version).collect())
    }

    /// ring's cryptography, restricted to the configured suites and curves.
    fn provider(&self) -> Result<CryptoProvider, FileFault> {
        let mut provider = ring::default_provider();
        let suites = find_all(&CIPHER_SUITES, &self.cipher_suites)?;
        if !suites.is_empty() {
            let is_old = |suite: &SupportedCipherSuite| suite.version() != &version::TLS13;
            provider.cipher_suites.retain(|suite| !is_old(suite));
            provider.cipher_suites.extend(suites.into_iter().filter(is_old));
        }
        let curves: Vec<&'static dyn SupportedKxGroup> =
            find_all(&CURVES, &self.curve_preferences)?;
        if !curves.is_empty() {
            provider.kx_groups = curves;
        }
        Ok(provider)
    }
}
