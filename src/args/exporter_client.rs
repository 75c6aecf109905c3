//! Which running exporter to ask, and the credentials to show to it. An error repeats no URL: there may be a
//! password in one.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Error};
use http::Uri;

use podinit_connect::options::ServerOptions;
use podinit_text::http_url::{HttpOrigin, UrlFault, parse_http_url};

/// Above these options in the help. A heading of all that comes next would also stand above the others.
const HEADING: &str = "Access to the exporter of --url";

/// How the exporter of `--url` and podinit trust each other. Secrets are in files, never on the command
/// line.
#[derive(Args, Clone, Debug)]
pub(super) struct ExporterClientArgs {
    /// File with the bearer token. It goes to the server of the first URL alone; URL=FILE names one for another
    #[arg(long, help_heading = HEADING, value_name = "[URL=]FILE", value_parser = SecretFileParser)]
    token_file: Vec<SecretFile>,

    /// User of basic authentication
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    username: Option<String>,

    /// File with the password of --username. It goes to the server of the first URL alone; URL=FILE names one
    /// for another
    #[arg(long, help_heading = HEADING, value_name = "[URL=]FILE", value_parser = SecretFileParser)]
    password_file: Vec<SecretFile>,

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
    /// The exporter at `url`, with the credentials that are for it. `first` is the first URL of the command line: the
    /// secrets that name no URL are for its server.
    pub(super) fn server(&self, url: &Uri, first: &Uri) -> ServerOptions {
        let (origin, first) = (HttpOrigin::from(url), HttpOrigin::from(first));
        let secret = |files: &[SecretFile]| {
            let of = |file: &&SecretFile| *file.of.as_ref().unwrap_or(&first) == origin;
            files.iter().find(of).map(|found| found.file.clone())
        };
        let token_file = secret(&self.token_file);
        let password_file = secret(&self.password_file);
        let is_any = !self.token_file.is_empty() || !self.password_file.is_empty();
        ServerOptions {
            url: url.clone(),
            withholds_secret: is_any && token_file.is_none() && password_file.is_none(),
            token_file,
            username: self.username.clone().filter(|_| password_file.is_some()),
            password_file,
            ca_file: self.ca_file.clone(),
            cert_file: self.cert_file.clone(),
            key_file: self.key_file.clone(),
        }
    }

    /// Checks the options together, and with all URLs.
    ///
    /// # Errors
    /// One line, which repeats no value.
    pub(super) fn check(&self, urls: &[&Uri]) -> Result<(), String> {
        let has_password = !self.password_file.is_empty();
        let has_token = !self.token_file.is_empty();
        let basic = [self.username.is_some(), has_password];
        let certificate = [self.cert_file.is_some(), self.key_file.is_some()];
        let others = [has_token, self.ca_file.is_some()];
        let is_any = [basic, certificate, others].concat().contains(&true);
        let in_url = |url: &&Uri| (url.authority()).is_some_and(|text| text.as_str().contains('@'));
        let has_colon = |name: &String| name.contains(':');
        let servers: Vec<_> = urls.iter().map(|url| HttpOrigin::from(*url)).collect();
        let secrets = [&self.token_file, &self.password_file];
        let is_twice = |files: &&Vec<SecretFile>| {
            let of = |file: &SecretFile| file.of.as_ref().or(servers.first()).cloned();
            let mut rest = files.iter().enumerate();
            rest.any(|(place, file)| files[..place].iter().any(|before| of(before) == of(file)))
        };
        let is_unasked =
            |file: &SecretFile| file.of.as_ref().is_some_and(|of| !servers.contains(of));
        Err(if is_any && urls.is_empty() {
            "--token-file, --username, --password-file, --ca-file, --cert-file and --key-file need --url"
        } else if urls.iter().any(in_url) {
            "--url must not hold a user: name it with --username, and the file of its password with \
             --password-file"
        } else if basic[0] != basic[1] {
            "--username and --password-file need each other"
        } else if certificate[0] != certificate[1] {
            "--cert-file and --key-file need each other"
        } else if basic[0] && has_token {
            "--token-file and --username cannot both be shown to the exporter"
        } else if self.username.as_ref().is_some_and(has_colon) {
            "the name of a user of basic authentication has no colon"
        } else if secrets.iter().any(is_twice) {
            "a server has one --token-file or --password-file; name those of other servers with URL=FILE"
        } else if secrets.into_iter().flatten().any(is_unasked) {
            "a --token-file or --password-file is for a server that no URL names"
        } else {
            return Ok(());
        }
        .to_owned())
    }
}

/// A file with a secret, and the server that it is for; without one, the server of the first URL.
#[derive(Clone, Debug)]
struct SecretFile {
    of: Option<HttpOrigin>,
    file: PathBuf,
}

/// Parses `FILE` or `URL=FILE`. No file begins as a URL of HTTP does.
#[derive(Clone, Copy, Debug)]
struct SecretFileParser;

impl TypedValueParser for SecretFileParser {
    type Value = SecretFile;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<SecretFile, Error> {
        let text = value.to_string_lossy();
        if !begins_as_url(&text) {
            let file = value.into();
            return Ok(SecretFile { of: None, file });
        }
        let (url, file) = text.split_once('=').unwrap_or((&text, ""));
        if file.is_empty() {
            let why = "expected FILE or URL=FILE, such as http://localhost:8080=token".to_owned();
            return Err(invalid(command, argument, &why));
        }
        let url = EXPORTER_URL.parse_ref(command, argument, OsStr::new(url))?;
        Ok(SecretFile { of: Some(HttpOrigin::from(&url)), file: file.into() })
    }
}

/// Whether a text is meant as a URL of HTTP, and not as the name of a file.
pub(super) fn begins_as_url(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    text.starts_with("http://") || text.starts_with("https://")
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
        let url = self.url.as_ref()?;
        Some(self.client.server(url, url))
    }

    /// Checks the options together.
    ///
    /// # Errors
    /// One line, which repeats no value.
    pub(super) fn check(&self) -> Result<(), String> {
        self.client.check(&self.url.iter().collect::<Vec<_>>())
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
        no_query.map_err(|why| invalid(command, argument, &why))
    }
}

/// The error of a value that does not repeat it.
fn invalid(command: &Command, argument: Option<&Arg>, why: &str) -> Error {
    let name = argument.map(ToString::to_string).unwrap_or_default();
    let message = format!("invalid value for '{name}': {why}");
    Error::raw(ErrorKind::ValueValidation, message).format(&mut command.clone())
}
