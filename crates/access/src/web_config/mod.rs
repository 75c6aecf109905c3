//! The web configuration file: TLS, client certificates, users, response headers and a rate limit,
//! in the format that Prometheus exporters share
//! ([exporter-toolkit](https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md)).
//!
//! The format is read strictly: unknown and unsupported keys are errors that name the line. Messages
//! never repeat contents of the file or of those that it names, since these hold keys and password
//! hashes.

mod client_auth;
mod files;
mod http_server_config;
mod tls;
mod tls_form;
mod tls_names;
mod users;

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_saphyr::Spanned;

pub use self::files::MAX_BYTES;
pub(super) use self::http_server_config::{RateLimit, ResponseHeader};
pub use self::tls::ServerTls;
pub(super) use self::users::BasicAuthUsers;

use self::files::WebConfigFiles;
use self::http_server_config::{HttpForm, RateLimitForm};
use self::tls_form::TlsForm;
use self::users::UsersForm;
use podinit_config::reload::ConfigInspection;
use podinit_config::yaml::{self, SpecifiedSetting};
use podinit_config::{FileError, FileFault};

/// A valid web configuration.
#[derive(Clone, Debug, Default)]
pub struct WebConfig {
    /// `None` for plain HTTP
    pub tls: Option<ServerTls>,
    /// Users and their passwords; without any, no password is required
    pub users: Arc<BasicAuthUsers>,
    /// Additional headers of every response
    pub headers: Arc<[ResponseHeader]>,
    /// `None` for no limit
    pub(super) rate_limit: Option<RateLimit>,
}

impl WebConfig {
    /// Reads the file at `path` and those that it names, relative to its directory.
    pub fn inspect(path: &Path) -> ConfigInspection<Self, FileError> {
        let name = path.display().to_string();
        let mut files = WebConfigFiles::beside(path);
        let result = match files.read(path) {
            Ok(contents) => parse(&contents, &mut files).map_err(|fault| fault.of_file(&name)),
            Err(error) => Err(FileError::unreadable(&name, &error)),
        };
        let files = files.into_states();
        ConfigInspection { files, result }
    }

    /// Whether `next` may replace this configuration while the process runs.
    ///
    /// A file that is being written can be read in part, and that part can be valid. So protection is
    /// never removed without a restart.
    ///
    /// # Errors
    /// What `next` removes: one line.
    pub(super) fn may_become(&self, next: &Self) -> Result<(), String> {
        let demands =
            |tls: &Option<ServerTls>| tls.as_ref().is_some_and(|tls| tls.requires_certificate);
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

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WebForm {
    tls_server_config: SpecifiedSetting<Spanned<TlsForm>>,
    http_server_config: SpecifiedSetting<HttpForm>,
    basic_auth_users: SpecifiedSetting<UsersForm>,
    rate_limit: SpecifiedSetting<Spanned<RateLimitForm>>,
}

fn parse(contents: &[u8], files: &mut WebConfigFiles) -> Result<WebConfig, FileFault> {
    let form: WebForm = yaml::parse(contents, MAX_BYTES, "{}")?;
    Ok(WebConfig {
        tls: form.tls_server_config.0.map(|tls| ServerTls::from_form(&tls, files)).transpose()?,
        headers: form.http_server_config.0.map_or(Ok(Arc::default()), |http| http.headers())?,
        users: Arc::new(form.basic_auth_users.0.map(BasicAuthUsers::from_form).unwrap_or_default()),
        rate_limit: form
            .rate_limit
            .0
            .map_or(Ok(None), |form| http_server_config::rate_limit(&form))?,
    })
}

#[cfg(test)]
mod tests;
