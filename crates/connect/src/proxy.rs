//! Which servers are reached without the proxy of the environment.
//!
//! kube 5 compares `NO_PROXY` with the URL of the proxy instead of the server's, so that it has no
//! effect there. This follows the rules of Go's clients, and so of kubectl
//! (golang.org/x/net/http/httpproxy).

use std::net::IpAddr;

use http::Uri;

/// `NO_PROXY` or `no_proxy`; empty where neither is set.
pub(crate) fn no_proxy() -> String {
    let given = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
    given("NO_PROXY").or_else(|| given("no_proxy")).unwrap_or_default()
}

/// Whether `server` is reached directly: it is this machine, or `exceptions` (as in `NO_PROXY`)
/// names it.
pub(crate) fn is_direct(server: &Uri, exceptions: &str) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let port = server.port_u16().unwrap_or(443);
    exceptions
        .split(',')
        .map(|exception| exception.trim().to_ascii_lowercase())
        .any(|exception| names(&exception, &host, address, port))
}

fn names(exception: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if exception == "*" {
        return true;
    }
    if let Some((network, bits)) = exception.split_once('/') {
        let network = network.parse().ok().zip(bits.parse().ok());
        return network.is_some_and(|(network, bits)| within(address, network, bits));
    }
    if let Ok(named) = exception.trim_matches(['[', ']']).parse::<IpAddr>() {
        return address == Some(named);
    }
    let (name, only_port) = match exception.rsplit_once(':') {
        Some((name, digits)) => (name, digits.parse().ok()),
        None => (exception, None),
    };
    if name.is_empty() || only_port.is_some_and(|only: u16| only != port) {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    match (name.parse::<IpAddr>(), name.trim_start_matches('*')) {
        (Ok(named), _) => address == Some(named),
        // ".example.com" names what is below it, "example.com" itself as well.
        (Err(_), domain) if domain.starts_with('.') => host.ends_with(domain),
        (Err(_), domain) => {
            let above = host.strip_suffix(domain);
            above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
        }
    }
}

/// Whether `address` lies in the network whose first `bits` bits are those of `network`.
fn within(address: Option<IpAddr>, network: IpAddr, bits: u32) -> bool {
    let (address, network, width) = match (address, network) {
        (Some(IpAddr::V4(address)), IpAddr::V4(network)) => {
            (u128::from(address.to_bits()), u128::from(network.to_bits()), 32)
        }
        (Some(IpAddr::V6(address)), IpAddr::V6(network)) => {
            (address.to_bits(), network.to_bits(), 128)
        }
        _ => return false,
    };
    let Some(host_bits) = u32::checked_sub(width, bits) else {
        return false;
    };
    // Shifting by all 128 bits leaves nothing to differ in.
    (address ^ network).checked_shr(host_bits).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn direct(server: &str, exceptions: &str) -> bool {
        is_direct(&server.parse().unwrap(), exceptions)
    }

    #[test]
    fn this_machine_needs_no_proxy() {
        for server in ["https://127.0.0.1:6443", "https://[::1]:6443", "http://localhost"] {
            assert!(direct(server, ""), "{server}");
        }
        assert!(!direct("https://10.0.0.1", ""));
        assert!(!direct("https://localhost.example:6443", ""));
    }

    #[test]
    fn exceptions_are_hosts_domains_addresses_and_networks() {
        for (server, exceptions, expected) in [
            ("https://api.example.com", "example.com", true),
            ("https://example.com", "example.com", true),
            ("https://badexample.com", "example.com", false),
            ("https://API.Example.com.", "x, Example.COM", true),
            ("https://example.com", ".example.com", false),
            ("https://api.example.com", "*.example.com", true),
            ("https://api.example.com:6443", "example.com:6443", true),
            ("https://api.example.com", "example.com:6443", false),
            ("https://10.1.2.3:6443", "10.0.0.0/8", true),
            ("https://11.1.2.3:6443", "10.0.0.0/8", false),
            ("https://11.1.2.3", "0.0.0.0/0", true),
            ("https://10.1.2.3", "10.1.2.3", true),
            ("https://10.1.2.3", "10.1.2.3:443", true),
            ("https://10.1.2.3", "10.1.2.3/33", false),
            ("https://[fd00::7]:6443", "fd00::/8", true),
            ("https://[fd00::7]:6443", "::/0", true),
            ("https://[fd00::7]:6443", "10.0.0.0/8,fd00::7", true),
            ("https://anything", "*", true),
            ("https://anything", " ,,", false),
        ] {
            assert_eq!(direct(server, exceptions), expected, "{server} {exceptions}");
        }
    }
}
