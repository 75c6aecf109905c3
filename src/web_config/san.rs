//! The subject alternative names of a client certificate (RFC 5280, section 4.2.1.6), and the list
//! of those that are allowed. rustls verifies certificates, but does not report their names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;

/// A name in a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum San<'a> {
    /// A DNS name, an e-mail address or a URI
    Text(&'a str),
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

    pub(super) fn is(&self, name: &San<'_>) -> bool {
        match name {
            San::Text(text) => *text == &*self.text,
            San::Ip(ip) => self.ip == Some(*ip),
        }
    }
}

/// The DNS names, e-mail addresses, URIs and IP addresses in a certificate. `None` where any part of
/// it is malformed, a name of another kind included, or where it has the extension twice.
pub(super) fn subject_alternative_names(certificate: &[u8]) -> Option<Vec<San<'_>>> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let mut names = Vec::new();
    let extension = certificate.subject_alternative_name().ok()?;
    for name in extension
        .iter()
        .flat_map(|found| &found.value.general_names)
    {
        names.extend(san(name)?);
    }
    Some(names)
}

/// `Some(None)` for a name of a kind that cannot be allowed; `None` for a malformed one.
fn san<'a>(name: &GeneralName<'a>) -> Option<Option<San<'a>>> {
    Some(match *name {
        GeneralName::RFC822Name(text) | GeneralName::DNSName(text) | GeneralName::URI(text) => {
            Some(San::Text(text))
        }
        GeneralName::IPAddress(bytes) => Some(San::Ip(match bytes.len() {
            4 => Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into(),
            16 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)).to_canonical(),
            _ => return None,
        })),
        GeneralName::Invalid(..) => return None,
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, SanType};

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
                San::Text("prometheus.example"),
                San::Text("sre@example.com"),
                San::Text("spiffe://cluster/ns/monitoring"),
                San::Ip(Ipv4Addr::LOCALHOST.into()),
                San::Ip(v6),
                San::Ip("10.0.0.1".parse().unwrap()),
            ]
        );
        assert_eq!(
            subject_alternative_names(&certificate(vec![])),
            Some(vec![])
        );
    }

    #[test]
    fn names_have_to_be_equal() {
        let allowed = |text: &str| AllowedSan::new(text.into());
        assert!(allowed("a.example").is(&San::Text("a.example")));
        assert!(!allowed("*.example").is(&San::Text("a.example")));
        assert!(!allowed("a.example").is(&San::Text("*.example")));
        assert!(!allowed("a.example").is(&San::Text("A.example")));
        let local = San::Ip(Ipv4Addr::LOCALHOST.into());
        assert!(allowed("127.0.0.1").is(&local));
        assert!(allowed("::ffff:127.0.0.1").is(&local));
        assert!(!allowed("127.0.0.2").is(&local));
    }

    #[test]
    fn malformed_names_are_refused() {
        let name = |bytes: &[u8]| -> Vec<u8> {
            let mut der = certificate(vec![SanType::DnsName("a.example".try_into().unwrap())]);
            let at = der
                .windows(9)
                .position(|part| part == b"a.example")
                .unwrap();
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
