//! Client certificates: whether they are requested, and which are accepted.
//!
//! A certificate that is not accepted ends the handshake. A missing one does not, even where one is
//! required: the probes of a kubelet have none, and are answered. All other requests without one are
//! refused one by one ([`super::ServerTls::requires_certificate`]).
//! The subject alternative names of a certificate are those of RFC 5280, section 4.2.1.6. rustls verifies certificates,
//! but does not report their names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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
use serde_saphyr::Location;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use super::files::{PemForm, WebConfigFiles, certificates_of};
use super::tls_form::TlsForm;
use super::tls_names::find;
use podinit_config::FileFault;

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
    ("VerifyClientCertIfGiven", ClientAuthType::VerifyClientCertIfGiven),
    ("RequireAndVerifyClientCert", ClientAuthType::RequireAndVerifyClientCert),
    // An older name of the toolkit
    ("RequireClientCert", ClientAuthType::RequireAnyClientCert),
];

impl ClientAuthType {
    const fn requires_certificate(self) -> bool {
        matches!(self, Self::RequireAnyClientCert | Self::RequireAndVerifyClientCert)
    }

    const fn verifies(self) -> bool {
        matches!(self, Self::VerifyClientCertIfGiven | Self::RequireAndVerifyClientCert)
    }
}

/// What is required of clients.
pub(super) struct ClientAuth {
    kind: ClientAuthType,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl ClientAuth {
    pub(super) fn from_form(
        form: &TlsForm,
        files: &mut WebConfigFiles,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, FileFault> {
        let kind = match &form.client_auth_type.0 {
            Some(name) => find(&TYPES, name)?,
            None => ClientAuthType::NoClientCert,
        };
        let roots = roots(form, files, kind)?;
        let algorithms = provider.signature_verification_algorithms;
        let verifier: Arc<dyn ClientCertVerifier> = match (kind, roots) {
            (ClientAuthType::NoClientCert, _) => Arc::new(NoClientAuth),
            (_, Some((roots, place))) if kind.verifies() => {
                WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider))
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| FileFault::at(place, error.to_string()))?
            }
            _ => Arc::new(AnyCertificate { algorithms }),
        };
        let verifier = match allowed_sans(form, kind)? {
            Some(allowed) => Arc::new(AllowedNamesVerifier { verifier, allowed }),
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

/// The authorities that must have issued a client certificate, and where they are named.
fn roots(
    form: &TlsForm,
    files: &mut WebConfigFiles,
    kind: ClientAuthType,
) -> Result<Option<(Arc<RootCertStore>, Location)>, FileFault> {
    let pem = PemForm { key: "client_ca", inline: &form.client_ca, file: &form.client_ca_file };
    let Some(pem) = pem.read(files)? else {
        return match &form.client_auth_type.0 {
            Some(name) if kind.verifies() => {
                let why = "client_auth_type needs client_ca_file, by which client certificates are \
                           verified";
                Err(FileFault::at(name.referenced, why))
            }
            _ => Ok(None),
        };
    };
    let fault = |why: &str| FileFault::at(pem.place, why);
    if kind == ClientAuthType::NoClientCert {
        return Err(fault(
            "client_ca_file has no effect without a client_auth_type, such as \
             RequireAndVerifyClientCert",
        ));
    }
    let mut roots = RootCertStore::empty();
    for certificate in certificates_of(&pem.bytes).map_err(fault)? {
        let added = roots.add(certificate);
        added.map_err(|_| fault("has a certificate that cannot be an authority"))?;
    }
    Ok(Some((Arc::new(roots), pem.place)))
}

fn allowed_sans(
    form: &TlsForm,
    kind: ClientAuthType,
) -> Result<Option<Vec<AllowedSan>>, FileFault> {
    let Some(names) = &form.client_allowed_sans.0 else {
        return Ok(None);
    };
    let fault = |why: &str| Err(FileFault::at(names.referenced, why));
    if !kind.requires_certificate() {
        return fault(
            "client_allowed_sans needs client_auth_type RequireAnyClientCert or \
             RequireAndVerifyClientCert",
        );
    }
    if !(1..=MAX_SANS).contains(&names.value.len()) {
        return fault(&format!("client_allowed_sans must have from 1 to {MAX_SANS} items"));
    }
    Ok(Some(names.value.iter().cloned().map(AllowedSan::new).collect()))
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
struct AllowedNamesVerifier {
    verifier: Arc<dyn ClientCertVerifier>,
    allowed: Vec<AllowedSan>,
}

impl ClientCertVerifier for AllowedNamesVerifier {
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
        let verified = self.verifier.verify_client_cert(end_entity, intermediates, now)?;
        let names = subject_alternative_names(end_entity);
        let names = names.ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let is_allowed = names.iter().any(|name| self.allowed.iter().any(|one| one.is(name)));
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
        self.verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// A name in a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CertificateName {
    /// A DNS name, an e-mail address or a URI
    Text(String),
    Ip(IpAddr),
}

/// An entry of `client_allowed_sans`. A name has to be equal to it: a wildcard matches only itself.
#[derive(Clone, Debug)]
pub(super) struct AllowedSan {
    text: Box<str>,
    ip: Option<IpAddr>,
}

impl AllowedSan {
    pub(super) fn new(text: Box<str>) -> Self {
        let ip: Option<IpAddr> = text.parse().ok();
        let ip = ip.map(|ip| ip.to_canonical());
        Self { text, ip }
    }

    pub(super) fn is(&self, name: &CertificateName) -> bool {
        match name {
            CertificateName::Text(text) => **text == *self.text,
            CertificateName::Ip(ip) => self.ip == Some(*ip),
        }
    }
}

/// The DNS names, e-mail addresses, URIs and IP addresses in a certificate. `None` where any part of
/// it is malformed, a name of another kind included, or where it has the extension twice.
pub(super) fn subject_alternative_names(certificate: &[u8]) -> Option<Vec<CertificateName>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let extension: Option<(bool, SubjectAltName)> = certificate.tbs_certificate.get().ok()?;
    let mut names = Vec::new();
    for name in extension.iter().flat_map(|(_, found)| &found.0) {
        names.extend(san(name)?);
    }
    Some(names)
}

/// `Some(None)` for a name of a kind that cannot be allowed; `None` for a malformed one.
fn san(name: &GeneralName) -> Option<Option<CertificateName>> {
    Some(match name {
        GeneralName::Rfc822Name(text)
        | GeneralName::DnsName(text)
        | GeneralName::UniformResourceIdentifier(text) => {
            Some(CertificateName::Text(text.to_string()))
        }
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            Some(CertificateName::Ip(match bytes.len() {
                4 => Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into(),
                16 => {
                    IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)).to_canonical()
                }
                _ => return None,
            }))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use rcgen::{CertificateParams, CustomExtension, KeyPair, SanType};

    use super::*;

    fn certificate(names: Vec<SanType>) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.subject_alt_names = names;
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn every_kind_of_name_is_read() {
        let v6: IpAddr = "2001:db8::1".parse().unwrap();
        let mapped: IpAddr = "::ffff:10.0.0.1".parse().unwrap();
        let der = certificate(vec![
            SanType::DnsName("prometheus.example".try_into().unwrap()),
            SanType::Rfc822Name("sre@example.com".try_into().unwrap()),
            SanType::URI("spiffe://cluster/ns/monitoring".try_into().unwrap()),
            SanType::IpAddress(Ipv4Addr::LOCALHOST.into()),
            SanType::IpAddress(v6),
            SanType::IpAddress(mapped),
        ]);
        assert_eq!(
            subject_alternative_names(&der).unwrap(),
            [
                CertificateName::Text("prometheus.example".to_owned()),
                CertificateName::Text("sre@example.com".to_owned()),
                CertificateName::Text("spiffe://cluster/ns/monitoring".to_owned()),
                CertificateName::Ip(Ipv4Addr::LOCALHOST.into()),
                CertificateName::Ip(v6),
                CertificateName::Ip("10.0.0.1".parse().unwrap()),
            ]
        );
        assert_eq!(subject_alternative_names(&certificate(vec![])), Some(vec![]));
    }

    #[test]
    fn names_have_to_be_equal() {
        let allowed = |text: &str| AllowedSan::new(text.into());
        assert!(allowed("a.example").is(&CertificateName::Text("a.example".into())));
        assert!(!allowed("*.example").is(&CertificateName::Text("a.example".into())));
        assert!(!allowed("a.example").is(&CertificateName::Text("*.example".into())));
        assert!(!allowed("a.example").is(&CertificateName::Text("A.example".into())));
        let local = CertificateName::Ip(Ipv4Addr::LOCALHOST.into());
        assert!(allowed("127.0.0.1").is(&local));
        assert!(allowed("::ffff:127.0.0.1").is(&local));
        assert!(!allowed("127.0.0.2").is(&local));
    }

    #[test]
    fn malformed_names_are_refused() {
        let name = |bytes: &[u8]| -> Vec<u8> {
            let mut der = certificate(vec![SanType::DnsName("a.example".try_into().unwrap())]);
            let at = der.windows(9).position(|part| part == b"a.example").unwrap();
            der[at - 2..at + 9].copy_from_slice(bytes);
            der
        };
        let read = |der: &[u8]| subject_alternative_names(der).map(|names| names.len());
        assert_eq!(read(&name(b"\x82\x09a.example")), Some(1));
        for bytes in [
            b"\x82\x09a.\xFFxample", // not UTF-8
            b"\x87\x09a.example",    // an address of nine bytes
            b"\x82\x7Fa.example",    // longer than the list
            b"\x82\x08a.example",    // a byte too many
            b"\x02\x09a.example",    // no GeneralName
        ] {
            assert_eq!(read(&name(bytes)), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_certificate_with_two_lists_of_names_is_refused() {
        let list = b"\x30\x0b\x82\x09b.example".to_vec();
        let named = |names: Vec<SanType>| {
            let mut params = CertificateParams::default();
            params.subject_alt_names = names;
            let second = CustomExtension::from_oid_content(&[2, 5, 29, 17], list.clone());
            params.custom_extensions = vec![second];
            let key = KeyPair::generate().unwrap();
            params.self_signed(&key).unwrap().der().to_vec()
        };
        let read = |names| subject_alternative_names(&named(names));
        assert_eq!(read(vec![]), Some(vec![CertificateName::Text("b.example".to_owned())]));
        assert_eq!(read(vec![SanType::DnsName("a.example".try_into().unwrap())]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = subject_alternative_names(&bytes);
        }

        #[test]
        fn no_damage_makes_it_panic(at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let mut der = certificate(vec![SanType::DnsName("a.example".try_into().unwrap())]);
            let at = at.index(der.len());
            der[at] = to;
            let _ = subject_alternative_names(&der[..]);
            let _ = subject_alternative_names(&der[..at]);
        }
    }
}
