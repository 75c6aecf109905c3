//! The options of the HTTP server: where it listens, and who may scrape.

use std::net::{Ipv6Addr, SocketAddr};

use clap::{Args, ValueEnum};

/// Access control, in addition to the web configuration.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Access control")]
pub struct AuthArgs {
    /// How bearer tokens are checked: none (no token is required) or kubernetes (TokenReview, and
    /// SubjectAccessReview for the path; the probes stay open)
    #[arg(long, value_name = "MODE", default_value = "none")]
    pub auth: AuthMode,

    /// Audience that tokens must be issued for; may be repeated, then one of them is enough [default:
    /// the API server]
    #[arg(long = "auth-audience", value_name = "AUDIENCE", value_delimiter = ',')]
    audiences: Vec<String>,
}

/// How bearer tokens are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    /// Not at all: no token is required
    None,
    /// By the API server of the cluster that is watched
    Kubernetes,
}

impl AuthArgs {
    /// The audiences, one of which a token must be issued for; none means the API server.
    pub fn audiences(&self) -> Vec<String> {
        let mut audiences = self.audiences.clone();
        // An empty variable in a manifest means the default.
        audiences.retain(|audience| !audience.is_empty());
        audiences
    }

    /// Checks the options together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.auth == AuthMode::None && !self.audiences().is_empty() {
            return Err("--auth-audience needs --auth kubernetes".to_owned());
        }
        Ok(())
    }
}

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
        let port = text.rsplit_once(':').map_or("", |(_, port)| port);
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        match is_number && port.parse::<u16>().is_err() {
            true => "the port must be from 0 to 65535",
            false => "expected an IP address and a port, such as [::]:8080, 127.0.0.1:0 or :8080",
        }
        .to_owned()
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
        for text in [":99999", "127.0.0.1:65536", "[::1]:123456789012"] {
            let why = parse_listen(text).err();
            assert_eq!(
                why.as_deref(),
                Some("the port must be from 0 to 65535"),
                "{text}"
            );
        }
    }
}
