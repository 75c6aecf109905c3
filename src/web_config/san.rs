//! The subject alternative names of a certificate (RFC 5280 §4.2.1.6).
//!
//! rustls verifies certificates, and tells neither names nor addresses; so the few fields on the
//! way to them are read here. Nothing is read that was not verified before, or that nobody asked
//! to have verified.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A name in a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum San<'a> {
    /// A DNS name, an e-mail address or a URI
    Text(&'a str),
    Ip(IpAddr),
}

/// An entry of `client_allowed_sans`. It has to be equal: a wildcard stands for itself.
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

const SEQUENCE: u8 = 0x30;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
/// `[3] EXPLICIT`, under which a certificate has its extensions
const EXTENSIONS: u8 = 0xA3;
/// 2.5.29.17
const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1D, 0x11];

/// The tags of a GeneralName that are read: `[1]`, `[2]`, `[6]`, `[7]`
const EMAIL: u8 = 0x81;
const DNS: u8 = 0x82;
const URI: u8 = 0x86;
const IP: u8 = 0x87;

/// The names in a certificate; none where it has none, `None` where it is malformed.
pub(super) fn subject_alternative_names(certificate: &[u8]) -> Option<Vec<San<'_>>> {
    let signed = Der(certificate).expect(SEQUENCE)?;
    let mut fields = Der(Der(signed).expect(SEQUENCE)?);
    let mut extensions = Der(&[]);
    while !fields.0.is_empty() {
        if let (EXTENSIONS, list) = fields.next()? {
            extensions = Der(Der(list).expect(SEQUENCE)?);
        }
    }
    let mut names = Vec::new();
    while !extensions.0.is_empty() {
        let mut extension = Der(extensions.expect(SEQUENCE)?);
        if extension.expect(OID)? != SUBJECT_ALT_NAME {
            continue;
        }
        // A boolean may come first: whether the extension is critical.
        let value = match extension.next()? {
            (OCTET_STRING, value) => value,
            _ => extension.expect(OCTET_STRING)?,
        };
        let mut list = Der(Der(value).expect(SEQUENCE)?);
        while !list.0.is_empty() {
            let (tag, value) = list.next()?;
            names.extend(name(tag, value)?);
        }
    }
    Some(names)
}

/// A GeneralName, if it is one of those that are read; `None` where it is malformed.
fn name(tag: u8, value: &[u8]) -> Option<Option<San<'_>>> {
    Some(match tag {
        EMAIL | DNS | URI => Some(San::Text(std::str::from_utf8(value).ok()?)),
        IP => Some(San::Ip(match value.len() {
            4 => Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).into(),
            16 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?)).to_canonical(),
            _ => return None,
        })),
        _ => None,
    })
}

/// What is left of a sequence of DER elements.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// The tag and the contents of the next element. Tags are of one byte, as all are here.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let [tag, length, rest @ ..] = self.0 else {
            return None;
        };
        let (length, rest) = match *length {
            short @ 0..=0x7F => (usize::from(short), rest),
            // The number of bytes that hold the length; more than three is no certificate.
            long @ 0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(long & 0x7F))?;
                let length = bytes
                    .iter()
                    .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                (length, rest)
            }
            _ => return None,
        };
        let (contents, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, contents))
    }

    /// The contents of the next element, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (found, contents) = self.next()?;
        (found == tag).then_some(contents)
    }
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
