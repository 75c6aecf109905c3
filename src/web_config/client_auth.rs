//! Client certificates: whether they are requested, and which are accepted.
//!
//! A certificate that is not accepted ends the handshake. A missing one does not, even where one is
//! required: the probes of a kubelet have none, and are answered. All other requests without one are
//! refused one by one ([`super::Tls::requires_certificate`]).

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};

use super::files::Files;
use super::pem::{certificates_of, pem};
use super::san::{AllowedSan, subject_alternative_names};
use super::tls_names::find;
use crate::config_file::yaml::{Fault, Node, Section};

/// The most entries of `client_allowed_sans`.
const MAX_SANS: usize = 256;

/// `client_auth_type`, by the names of Go's `tls.ClientAuthType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientAuthType {
    NoClientCert,
    RequestClientCert,
    RequireAnyClientCert,
    VerifyClientCertIfGiven,
    RequireAndVerifyClientCert,
}

const TYPES: [(&str, ClientAuthType); 6] = [
    ("NoClientCert", ClientAuthType::NoClientCert),
    ("RequestClientCert", ClientAuthType::RequestClientCert),
    ("RequireAnyClientCert", ClientAuthType::RequireAnyClientCert),
    (
        "VerifyClientCertIfGiven",
        ClientAuthType::VerifyClientCertIfGiven,
    ),
    (
        "RequireAndVerifyClientCert",
        ClientAuthType::RequireAndVerifyClientCert,
    ),
    // An older name of the toolkit
    ("RequireClientCert", ClientAuthType::RequireAnyClientCert),
];

impl ClientAuthType {
    const fn requires_certificate(self) -> bool {
        matches!(
            self,
            Self::RequireAnyClientCert | Self::RequireAndVerifyClientCert
        )
    }

    const fn verifies(self) -> bool {
        matches!(
            self,
            Self::VerifyClientCertIfGiven | Self::RequireAndVerifyClientCert
        )
    }
}

/// What is required of clients.
pub(super) struct ClientAuth {
    kind: ClientAuthType,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientAuth {
    pub(super) fn of(
        section: &Section<'_>,
        files: &mut Files,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, Fault> {
        let kind = match section.get("client_auth_type") {
            Some(node) => section.text("client_auth_type", node, |name| find(&TYPES, name))?,
            None => ClientAuthType::NoClientCert,
        };
        let roots = roots(section, files, kind)?;
        let algorithms = provider.signature_verification_algorithms;
        let verifier: Arc<dyn ClientCertVerifier> = match (kind, roots) {
            (ClientAuthType::NoClientCert, _) => Arc::new(NoClientAuth),
            (_, Some((roots, key, node))) if kind.verifies() => {
                WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider))
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| section.fault(key, node, error.to_string()))?
            }
            _ => Arc::new(AnyCertificate { algorithms }),
        };
        let verifier = match allowed_sans(section, kind)? {
            Some(allowed) => Arc::new(OneOf { verifier, allowed }),
            None => verifier,
        };
        Ok(Self { kind, verifier })
    }

    pub(super) const fn requires_certificate(&self) -> bool {
        self.kind.requires_certificate()
    }

    pub(super) fn verifier(self) -> Arc<dyn ClientCertVerifier> {
        self.verifier
    }
}

type Roots<'a> = (Arc<RootCertStore>, &'static str, &'a Node);

/// The authorities that must have issued a client certificate.
fn roots<'a>(
    section: &Section<'a>,
    files: &mut Files,
    kind: ClientAuthType,
) -> Result<Option<Roots<'a>>, Fault> {
    let Some(pem) = pem(section, "client_ca", "client_ca_file", files)? else {
        if kind.verifies() {
            let node = section.need("client_auth_type")?;
            let why = "needs client_ca_file, by which client certificates are verified";
            return Err(section.fault("client_auth_type", node, why));
        }
        return Ok(None);
    };
    if kind == ClientAuthType::NoClientCert {
        let why = "has no effect without a client_auth_type, such as RequireAndVerifyClientCert";
        return Err(section.fault(pem.key, pem.node, why));
    }
    let fault = |why: &str| section.fault(pem.key, pem.node, why);
    let mut roots = RootCertStore::empty();
    for certificate in certificates_of(&pem.bytes).map_err(fault)? {
        let added = roots.add(certificate);
        added.map_err(|_| fault("has a certificate that cannot be an authority"))?;
    }
    Ok(Some((Arc::new(roots), pem.key, pem.node)))
}

fn allowed_sans(
    section: &Section<'_>,
    kind: ClientAuthType,
) -> Result<Option<Vec<AllowedSan>>, Fault> {
    let Some(node) = section.get("client_allowed_sans") else {
        return Ok(None);
    };
    if !kind.requires_certificate() {
        let why = "needs client_auth_type RequireAnyClientCert or RequireAndVerifyClientCert";
        return Err(section.fault("client_allowed_sans", node, why));
    }
    let texts = section.texts(
        "client_allowed_sans",
        node,
        MAX_SANS,
        |text| Ok(text.into()),
    )?;
    Ok(Some(texts.into_iter().map(AllowedSan::new).collect()))
}

/// Accepts any certificate whose key the client has, or none.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Accepts what another verifier accepts, if it has one of the allowed names.
#[derive(Debug)]
struct OneOf {
    verifier: Arc<dyn ClientCertVerifier>,
    allowed: Vec<AllowedSan>,
}

impl ClientCertVerifier for OneOf {
    fn offer_client_auth(&self) -> bool {
        self.verifier.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.verifier.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.verifier.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self
            .verifier
            .verify_client_cert(end_entity, intermediates, now)?;
        let names = subject_alternative_names(end_entity);
        let names = names.ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let is_allowed = names
            .iter()
            .any(|name| self.allowed.iter().any(|one| one.is(name)));
        if is_allowed {
            Ok(verified)
        } else {
            let refused = CertificateError::ApplicationVerificationFailure;
            Err(Error::InvalidCertificate(refused))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
