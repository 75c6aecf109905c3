//! URLs of HTTP servers: how they are read, and how errors, logs and reports show them.

use std::fmt;

use http::Uri;

/// A URL as anybody may see it: without user, password and query, which may be secrets.
#[derive(Clone, Copy, Debug)]
pub struct ShownUrl<'a>(pub &'a Uri);

impl fmt::Display for ShownUrl<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.0.scheme_str() {
            write!(f, "{scheme}://")?;
        }
        let authority = self.0.authority().map_or("", |all| all.as_str());
        f.write_str(without_user(authority))?;
        f.write_str(self.0.path())
    }
}

/// The server of a URL: scheme, host and port. A secret is for one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpOrigin {
    is_https: bool,
    host: String,
    port: u16,
}

impl From<&Uri> for HttpOrigin {
    fn from(url: &Uri) -> Self {
        let is_https = url.scheme_str() == Some("https");
        let host = url.host().unwrap_or_default();
        Self {
            is_https,
            host: host.trim_end_matches('.').to_ascii_lowercase(),
            port: url.port_u16().unwrap_or(if is_https { 443 } else { 80 }),
        }
    }
}

/// Why a text is not the URL of an HTTP server. Says nothing of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlFault {
    /// It is not a URL of HTTP or HTTPS with a host
    NotHttp,
    /// Its port is not a number from 1 to 65535
    Port,
}

impl UrlFault {
    /// What is wrong, where `expected` says what should stand there.
    pub fn explained(self, expected: &str) -> String {
        match self {
            Self::NotHttp => format!("expected {expected}"),
            Self::Port => "the port of a URL is a number from 1 to 65535".to_owned(),
        }
    }
}

/// An absolute URL of HTTP or HTTPS.
///
/// # Errors
/// What else the text is.
pub fn parse_http_url(text: &str) -> Result<Uri, UrlFault> {
    let url: Uri = text.parse().map_err(|_| UrlFault::NotHttp)?;
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let has_host = url.host().is_some_and(|host| !host.is_empty());
    match is_http && has_host {
        true if has_wrong_port(&url) => Err(UrlFault::Port),
        true => Ok(url),
        false => Err(UrlFault::NotHttp),
    }
}

/// Whether a port is given that none can be. The type of the URL ignores it, so that a client would connect to
/// the port of the scheme.
pub fn has_wrong_port(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    let authority = url.authority().map_or("", |all| all.as_str());
    let port = without_user(authority).strip_prefix(host);
    let port = port.and_then(|port| port.strip_prefix(':'));
    port.is_some_and(|port| !port.is_empty() && !matches!(port.parse::<u16>(), Ok(1..)))
}

/// The URL without user and password. No client shows them to the server, but libraries log the URLs of requests.
#[must_use]
pub fn without_credentials(url: Uri) -> Uri {
    let authority = url.authority().map_or("", |all| all.as_str());
    let Ok(authority) = without_user(authority).parse() else {
        return url;
    };
    let mut parts = url.clone().into_parts();
    parts.authority = Some(authority);
    Uri::from_parts(parts).unwrap_or(url)
}

fn without_user(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        for (url, shown) in [
            ("http://user:secret@proxy:3128", "http://proxy:3128/"),
            ("http://secret@proxy:3128/", "http://proxy:3128/"),
            ("https://10.0.0.1:6443", "https://10.0.0.1:6443/"),
            ("https://u@[::1]:6443/k8s/c-1?token=secret", "https://[::1]:6443/k8s/c-1"),
            ("https://host?secret", "https://host/"),
            ("/path?secret", "/path"),
        ] {
            assert_eq!(ShownUrl(&url.parse().unwrap()).to_string(), shown);
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |url: &str| HttpOrigin::from(&url.parse::<Uri>().unwrap());
        let one = origin("https://podinit.example/a");
        for same in ["https://PODINIT.example:443", "HTTPS://podinit.example./b"] {
            assert_eq!(origin(same), one, "{same}");
        }
        for other in [
            "http://podinit.example",
            "https://podinit.example:8443",
            "https://a.podinit.example",
            "https://podinit.example.evil.example",
            "http://podinit.example:443",
        ] {
            assert_ne!(origin(other), one, "{other}");
        }
    }

    #[test]
    fn a_request_names_no_user() {
        for (url, expected) in [
            ("http://u:secret@host:1/a?b", "http://host:1/a?b"),
            ("http://host:1/a?b", "http://host:1/a?b"),
            ("/a", "/a"),
        ] {
            assert_eq!(without_credentials(url.parse().unwrap()), expected);
        }
    }

    #[test]
    fn a_url_has_a_scheme_a_host_and_a_port_that_exists() {
        for (text, fault) in [
            ("http://host", None),
            ("https://user:99999@host:65535/a?b", None),
            ("http://[::1]:80", None),
            ("http://host:", None),
            ("http://host:99999", Some(UrlFault::Port)),
            ("http://host:0", Some(UrlFault::Port)),
            ("http://u:p@[::1]:65536/", Some(UrlFault::Port)),
            ("host:80", Some(UrlFault::NotHttp)),
            ("ftp://host", Some(UrlFault::NotHttp)),
            ("/metrics", Some(UrlFault::NotHttp)),
            ("", Some(UrlFault::NotHttp)),
        ] {
            assert_eq!(parse_http_url(text).err(), fault, "{text}");
        }
    }
}
