//! The address to listen on.

use std::net::{Ipv6Addr, SocketAddr};

/// Parses `ADDRESS:PORT`, with IPv6 addresses in brackets, or `:PORT` for every address of the
/// machine, IPv4 and IPv6.
///
/// # Errors
/// One line that says what is expected.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let port_only = text.strip_prefix(':').and_then(|port| port.parse().ok());
    if let Some(port) = port_only {
        return Ok(SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
    }
    text.parse().map_err(|_| {
        "expected an IP address and a port, such as [::]:8080, 127.0.0.1:0 or :8080".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port() {
        for (text, expected) in [
            ("[::]:8080", Some("[::]:8080")),
            ("127.0.0.1:0", Some("127.0.0.1:0")),
            (":9090", Some("[::]:9090")),
            ("8080", None),
            ("localhost:8080", None),
            ("::1:8080:", None),
            (":65536", None),
            ("", None),
        ] {
            let parsed = parse_listen(text).ok().map(|address| address.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }
}
