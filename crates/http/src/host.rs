//! The names under which a server answers.
//!
//! A page of any site can point its own name at this machine and read what answers there, in the browser of
//! somebody who can reach it (DNS rebinding). The browser then sends the name of that site as `Host`. So
//! requests under names that are not this server's are refused. An address is no such name: a page under an
//! address is a page of that address.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// A name under which a server answers: `podinit.example`, `.example` for every name below it, or `*` for
/// every name. An empty one, as of an empty variable, stands for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(Box<str>);

impl FromStr for AllowedHost {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let labels = name.strip_prefix('.').unwrap_or(&name);
        let is_label = |label: &str| {
            let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            !label.is_empty() && label.bytes().all(of_name)
        };
        if !text.is_empty() && name != "*" && !labels.split('.').all(is_label) {
            return Err(
                "expected a host name without a port, such as podinit.example, .example for all \
                 names below it, or * for every name",
            );
        }
        Ok(Self(name.into()))
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AllowedHost {
    fn is_every(&self) -> bool {
        &*self.0 == "*"
    }

    fn covers(&self, name: &str) -> bool {
        match self.0.strip_prefix('.') {
            Some(above) => name
                .strip_suffix(above)
                .is_some_and(|below| below.ends_with('.') && below.len() > 1),
            None => name == &*self.0,
        }
    }
}

/// Under which names a server answers. Addresses, `localhost` and names below it always count as its own.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts(Option<Box<[AllowedHost]>>);

impl AllowedHosts {
    /// Those of a server on `address` that was told these names. Without any it answers under every name,
    /// unless it listens on a loopback address.
    pub fn new(names: &[AllowedHost], address: SocketAddr) -> Self {
        let names = names.iter().filter(|name| !name.0.is_empty());
        let names: Box<[AllowedHost]> = names.cloned().collect();
        let is_off = match names.is_empty() {
            true => !address.ip().to_canonical().is_loopback(),
            false => names.iter().any(AllowedHost::is_every),
        };
        Self((!is_off).then_some(names))
    }

    /// Whether a request with this target and these headers is for this server. One that names no host is:
    /// every browser does.
    pub fn allow(&self, target: &Uri, headers: &HeaderMap) -> bool {
        let Some(names) = &self.0 else { return true };
        let mut hosts = headers.get_all(HOST).iter();
        target.authority().is_none_or(|authority| is_allowed(names, authority))
            && hosts.all(|host| {
                // A user before the name belongs into a URL only.
                Authority::try_from(host.as_bytes()).is_ok_and(|authority| {
                    !authority.as_str().contains('@') && is_allowed(names, &authority)
                })
            })
    }
}

fn is_allowed(names: &[AllowedHost], authority: &Authority) -> bool {
    let host = authority.host();
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if address.unwrap_or(host).parse::<IpAddr>().is_ok() {
        return true;
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || names.iter().any(|allowed| allowed.covers(&name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use http::HeaderValue;

    use super::*;

    const LOOPBACK: &str = "127.0.0.1:8080";

    fn hosts(names: &[&str], address: &str) -> AllowedHosts {
        let names: Vec<_> = names.iter().map(|name| name.parse().unwrap()).collect();
        AllowedHosts::new(&names, address.parse().unwrap())
    }

    fn allows(hosts: &AllowedHosts, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        hosts.allow(&Uri::from_static("/metrics"), &headers)
    }

    #[test]
    fn on_loopback_only_its_names_and_addresses_are_allowed() {
        for address in [LOOPBACK, "[::1]:8080", "[::ffff:127.0.0.1]:80"] {
            let hosts = hosts(&[], address);
            for own in [
                "localhost",
                "LocalHost:8080",
                "localhost.",
                "podinit.localhost:1",
                "127.0.0.1",
                "127.0.0.1:8080",
                "[::1]:8080",
                "10.0.0.7:8443",
            ] {
                assert!(allows(&hosts, own), "{own}");
            }
            for foreign in [
                "evil.example",
                "evil.example:8080",
                "localhost.evil.example",
                "notlocalhost",
                "127.0.0.1.evil.example",
                "127.0.0.1@evil.example",
                "evil.example@127.0.0.1",
                "0x7f.1",
                "",
                "a b",
                "[::1",
            ] {
                assert!(!allows(&hosts, foreign), "{foreign}");
            }
        }
    }

    #[test]
    fn elsewhere_every_name_is_allowed_unless_some_are_named() {
        for address in ["[::]:8080", "0.0.0.0:8080", "10.0.0.1:8080"] {
            for none in [&[][..], &[""]] {
                assert!(allows(&hosts(none, address), "evil.example"));
            }
            let named = hosts(&["podinit.example", ".corp.example."], address);
            for (host, expected) in [
                ("podinit.example:8080", true),
                ("PODINIT.example.", true),
                ("a.corp.example", true),
                ("a.b.corp.example", true),
                ("corp.example", false),
                (".corp.example", false),
                ("notcorp.example", false),
                ("a.podinit.example", false),
                ("evil.example", false),
                ("10.0.0.1:8080", true),
                ("localhost", true),
            ] {
                assert_eq!(allows(&named, host), expected, "{host}");
            }
        }
        assert!(allows(&hosts(&["a", "*"], LOOPBACK), "evil.example"));
    }

    #[test]
    fn every_place_that_names_a_host_counts() {
        let hosts = hosts(&[], LOOPBACK);
        let mut headers = HeaderMap::new();
        assert!(hosts.allow(&Uri::from_static("/"), &headers));
        assert!(hosts.allow(&Uri::from_static("http://user:word@localhost/"), &headers));
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        assert!(!hosts.allow(&Uri::from_static("http://evil.example/"), &headers));
        headers.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!hosts.allow(&Uri::from_static("/"), &headers));
    }

    #[test]
    fn a_name_has_neither_a_port_nor_a_scheme() {
        for text in [".", "..", "a..b", "a:80", "http://a", "*.a", "a b", "a/b", "ä"] {
            assert!(text.parse::<AllowedHost>().is_err(), "{text}");
        }
        let name: AllowedHost = "Podinit.Example.".parse().unwrap();
        assert_eq!(name.to_string(), "podinit.example");
    }
}
