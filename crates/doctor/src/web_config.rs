//! Whether the web configuration is valid.

use std::path::Path;

use super::report::{Check, Finding};
use podinit_access::web_config::WebConfig;

/// Reads the file, and those that it names, as `serve` does. `tokens`: `--auth kubernetes` asks for
/// bearer tokens.
pub(super) fn check(path: Option<&Path>, tokens: bool) -> Finding {
    const CHECK: Check = Check::WebConfig;
    let config = match path {
        None => WebConfig::default(),
        Some(path) => match WebConfig::inspect(path).result {
            Ok(config) => config,
            Err(error) => {
                return Finding::error(CHECK, error.to_string())
                    .fix("fix the file, or what it names")
                    .detail("line", error.line());
            }
        },
    };
    let has_users = !config.users.is_empty();
    if tokens && has_users {
        let found = "basic_auth_users and --auth kubernetes exclude each other";
        return Finding::error(CHECK, found).fix("keep one of them");
    }
    if config.tls.is_none() && (tokens || has_users) {
        let found = "clients would send passwords and tokens in clear text";
        return Finding::warning(CHECK, found)
            .fix("configure a certificate (tls_server_config) in the file of --web-config");
    }
    let transport = if config.tls.is_some() { "TLS" } else { "plain HTTP" };
    let who = match (tokens, has_users) {
        (true, _) => "bearer tokens that the API server accepts",
        (false, true) => "users with a password",
        (false, false) => "everybody who can connect",
    };
    let from = path.map_or("no file given".to_owned(), |path| path.display().to_string());
    Finding::ok(CHECK, format!("{from}: {transport}, for {who}"))
}
