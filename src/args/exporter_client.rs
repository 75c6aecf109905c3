//! Which running exporter to ask, and the credentials to show to it. An error repeats no URL: there may be a
//! password in one.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error};
use http::Uri;

use crate::cluster::options::ServerOptions;
use crate::text::http_url::{UrlFault, parse_http_url};

/// Above these options in the help. A heading of all that comes next would also stand above the others.
const HEADING: &str = "Access to the exporter of --url";

/// How the exporter of `--url` and podinit trust each other. Secrets are in files, never on the command
/// line.
#[derive(Args, Clone, Debug)]
pub(super) struct ExporterClientArgs {
    /// File with the bearer token
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// User of basic authentication
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    username: Option<String>,

    /// File with the password of --username
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    password_file: Option<PathBuf>,

    /// File with the CA certificates to verify the exporter with, as PEM [default: those of the system]
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// File with the client certificate, as PEM
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    cert_file: Option<PathBuf>,

    /// File with the key of --cert-file, as PEM
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl ExporterClientArgs {
    /// The exporter at `url`, with these credentials.
    pub(super) fn server(&self, url: Uri) -> ServerOptions {
        ServerOptions {
            url,
            token_file: self.token_file.clone(),
            username: self.username.clone(),
            password_file: self.password_file.clone(),
            ca_file: self.ca_file.clone(),
            cert_file: self.cert_file.clone(),
            key_file: self.key_file.clone(),
        }
    }

    /// Checks the options together, and with the URL.
    ///
    /// # Errors
    /// One line, which repeats no value.
    pub(super) fn check(&self, url: Option<&Uri>) -> Result<(), String> {
        let basic = [self.username.is_some(), self.password_file.is_some()];
        let certificate = [self.cert_file.is_some(), self.key_file.is_some()];
        let others = [self.token_file.is_some(), self.ca_file.is_some()];
        let is_any = [basic, certificate, others].concat().contains(&true);
        let in_url = |url: &Uri| (url.authority()).is_some_and(|text| text.as_str().contains('@'));
        let has_colon = |name: &String| name.contains(':');
        Err(match url {
            None if is_any => {
                "--token-file, --username, --password-file, --ca-file, --cert-file and --key-file need --url"
            }
            Some(url) if in_url(url) => {
                "--url must not hold a user: name it with --username, and the file of its password with \
                 --password-file"
            }
            _ if basic[0] != basic[1] => "--username and --password-file need each other",
            _ if certificate[0] != certificate[1] => "--cert-file and --key-file need each other",
            _ if basic[0] && self.token_file.is_some() => {
                "--token-file and --username cannot both be shown to the exporter"
            }
            _ if self.username.as_ref().is_some_and(has_colon) => {
                "the name of a user of basic authentication has no colon"
            }
            _ => return Ok(()),
        }
        .to_owned())
    }
}

/// A running exporter to ask in the place of a cluster.
#[derive(Args, Clone, Debug)]
pub(super) struct AskedExporterArgs {
    /// URL of a running podinit to ask, such as http://localhost:8080 [default: list the pods of the
    /// cluster]
    #[arg(long, value_name = "URL", value_parser = EXPORTER_URL)]
    url: Option<Uri>,

    #[command(flatten)]
    client: ExporterClientArgs,
}

impl AskedExporterArgs {
    /// Whether an exporter is to be asked.
    pub(super) const fn is_any(&self) -> bool {
        self.url.is_some()
    }

    /// The exporter, if one is named.
    pub(super) fn server(&self) -> Option<ServerOptions> {
        Some(self.client.server(self.url.clone()?))
    }

    /// Checks the options together.
    ///
    /// # Errors
    /// One line, which repeats no value.
    pub(super) fn check(&self) -> Result<(), String> {
        self.client.check(self.url.as_ref())
    }
}

/// The values of `--url`.
pub(super) const EXPORTER_URL: HttpUrl =
    HttpUrl("the URL of a running podinit, such as http://localhost:8080");

/// Parses an absolute URL of HTTP or HTTPS, without a query. Holds what is expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpUrl(pub(super) &'static str);

impl TypedValueParser for HttpUrl {
    type Value = Uri;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Uri, Error> {
        let url = value.to_str().ok_or(UrlFault::NotHttp);
        let url = url.and_then(parse_http_url);
        let url = url.map_err(|fault| fault.explained(self.0));
        let no_query = url.and_then(|url| match url.query() {
            None => Ok(url),
            Some(_) => Err("the URL has a query, which is not used; remove it".to_owned()),
        });
        no_query.map_err(|why| {
            let name = argument.map(ToString::to_string).unwrap_or_default();
            let message = format!("invalid value for '{name}': {why}");
            Error::raw(ErrorKind::ValueValidation, message).format(&mut command.clone())
        })
    }
}
