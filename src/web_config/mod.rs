//! The web configuration file: TLS, client certificates, users, response headers and a rate limit,
//! in the format that Prometheus exporters share
//! ([exporter-toolkit](https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md)).
//!
//! The format is read strictly: unknown and unsupported keys are errors that name the line. Messages
//! never repeat contents of the file or of those that it names, since these hold keys and password
//! hashes.

mod client_auth;
mod files;
mod http;
mod tls;
mod tls_names;
mod users;

use std::path::Path;
use std::sync::Arc;

pub use self::files::MAX_BYTES;
pub use self::http::{Header, RateLimit};
pub use self::tls::Tls;
pub use self::users::{MAX_COST, Users};

use self::files::Files;
use crate::config_file::reload::Inspection;
use crate::config_file::yaml::{self, Fault, FileError, Secrecy, Section, Value};

/// A valid web configuration.
#[derive(Clone, Debug, Default)]
pub struct WebConfig {
    /// `None` for plain HTTP
    pub tls: Option<Tls>,
    /// Users and their passwords; without any, no password is required
    pub users: Arc<Users>,
    /// Additional headers of every response
    pub headers: Arc<[Header]>,
    /// `None` for no limit
    pub rate_limit: Option<RateLimit>,
}

impl WebConfig {
    /// Reads the file at `path` and those that it names, relative to its directory.
    pub fn inspect(path: &Path) -> Inspection<Self, FileError> {
        let name = path.display().to_string();
        let mut files = Files::beside(path);
        let result = match files.read(path) {
            Ok(contents) => {
                parse(&contents, &mut files).map_err(|fault| FileError::new(&name, fault))
            }
            Err(error) => Err(FileError::unreadable(&name, &error)),
        };
        let files = files.into_states();
        Inspection { files, result }
    }

    /// Whether `next` may replace this configuration while the process runs.
    ///
    /// A file that is being written can be read in part, and that part can be valid. So protection is
    /// never removed without a restart.
    ///
    /// # Errors
    /// What `next` removes: one line.
    pub fn may_become(&self, next: &Self) -> Result<(), String> {
        let demands = |tls: &Option<Tls>| tls.as_ref().is_some_and(|tls| tls.requires_certificate);
        let taken = if self.tls.is_some() != next.tls.is_some() {
            "TLS cannot be turned on or off"
        } else if demands(&self.tls) && !demands(&next.tls) {
            "client certificates cannot be made optional"
        } else if !self.users.is_empty() && next.users.is_empty() {
            "basic_auth_users cannot be removed"
        } else {
            return Ok(());
        };
        Err(format!("{taken} while podinit runs; restart it"))
    }
}

fn parse(contents: &[u8], files: &mut Files) -> Result<WebConfig, Fault> {
    let root = yaml::parse(contents, MAX_BYTES, Secrecy::Redact)?;
    if matches!(root.value, Value::Null) {
        let why = "is empty; write {} if nothing is to be configured";
        return Err(Fault::new(0, "", why));
    }
    let known = ["tls_server_config", "http_server_config", "basic_auth_users", "rate_limit"];
    let root = Section::of(&root, String::new(), &known, Secrecy::Redact)?;
    let tls = match root.get("tls_server_config") {
        Some(node) => Some(Tls::of(&root, node, files)?),
        None => None,
    };
    let headers = match root.get("http_server_config") {
        Some(node) => http::headers(&root, node)?,
        None => Arc::default(),
    };
    let users = match root.get("basic_auth_users") {
        Some(node) => Users::of(&root, node)?,
        None => Users::default(),
    };
    let rate_limit = match root.get("rate_limit") {
        Some(node) => http::rate_limit(&root, node)?,
        None => None,
    };
    Ok(WebConfig { tls, users: Arc::new(users), headers, rate_limit })
}

#[cfg(test)]
mod tests;
