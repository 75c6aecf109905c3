//! Where traces go: `--otlp-endpoint`, and the variables that every OpenTelemetry exporter reads
//! ("OpenTelemetry Protocol Exporter" and "Environment Variable Specification", OpenTelemetry).

use std::path::PathBuf;
use std::time::Duration;

use http::Uri;

use podinit_text::http_url::{ShownUrl, UrlFault, parse_http_url, without_credentials};

/// The path of traces below an endpoint that stands for all signals.
const TRACES_PATH: &str = "v1/traces";

/// The only protocol that podinit speaks.
const PROTOCOL: &str = "http/protobuf";

/// What stands where a collector is named.
pub const EXPECTED_ENDPOINT: &str =
    "the URL of a collector of traces over HTTP, such as http://localhost:4318";

/// How long a collector may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A collector of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpSettings {
    /// Where traces are sent, the path included
    pub url: Uri,
    /// How long the collector may take to answer
    pub timeout: Duration,
    /// The certificates to verify it with, instead of those of the system
    pub ca_file: Option<PathBuf>,
    /// The client certificate to show to it
    pub cert_file: Option<PathBuf>,
    /// The key of the client certificate
    pub key_file: Option<PathBuf>,
}

/// A setting that cannot be used; one line that says what to do.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    #[error("{name}: {}", fault.explained(EXPECTED_ENDPOINT))]
    Url { name: &'static str, fault: UrlFault },
    #[error(
        "{name}={value}: podinit sends traces as {PROTOCOL} only; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to \
         that and the endpoint to the collector's port for HTTP, usually 4318"
    )]
    Protocol { name: &'static str, value: String },
    #[error("{name}={value}: expected a number of milliseconds")]
    Timeout { name: &'static str, value: String },
    #[error("{name}={value}: podinit does not compress traces; unset it, or set it to none")]
    Compression { name: &'static str, value: String },
}

impl OtlpSettings {
    /// The collector that `--otlp-endpoint` or the variables name; `None` where neither does, or where a
    /// variable turns traces off.
    ///
    /// # Errors
    /// When a variable says what podinit cannot do.
    pub fn resolve(
        flag: Option<&Uri>,
        variable: impl Fn(&'static str) -> Option<String>,
    ) -> Result<Option<Self>, SettingsError> {
        let variables = EnvVariables(variable);
        let Some(url) = variables.url(flag)? else {
            return Ok(None);
        };
        variables.check_protocol()?;
        variables.check_compression()?;
        Ok(Some(Self {
            url,
            timeout: variables.timeout()?,
            ca_file: variables
                .file("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"),
            cert_file: variables.file(
                "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
                "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
            ),
            key_file: variables
                .file("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_KEY"),
        }))
    }

    /// Scheme, host and port, fit to be shown: without credentials.
    pub fn shown(&self) -> String {
        let server = ShownUrl(&self.server()).to_string();
        server.trim_end_matches('/').to_owned()
    }

    /// Scheme, host and port, without the path.
    pub fn server(&self) -> Uri {
        let mut parts = self.url.clone().into_parts();
        parts.path_and_query = Some(http::uri::PathAndQuery::from_static("/"));
        Uri::from_parts(parts).unwrap_or_else(|_| self.url.clone())
    }
}

/// The variables of the process, or of a test.
struct EnvVariables<F>(F);

impl<F: Fn(&'static str) -> Option<String>> EnvVariables<F> {
    /// The value of a variable. An empty one counts as unset, as OpenTelemetry demands.
    fn get(&self, name: &'static str) -> Option<(&'static str, String)> {
        let value = (self.0)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| (name, value.to_owned()))
    }

    /// A variable for traces, or else the one for all signals.
    fn of_traces(&self, traces: &'static str, all: &'static str) -> Option<(&'static str, String)> {
        self.get(traces).or_else(|| self.get(all))
    }

    fn file(&self, traces: &'static str, all: &'static str) -> Option<PathBuf> {
        let found = self.of_traces(traces, all);
        found.map(|(_, path)| PathBuf::from(path))
    }

    fn url(&self, flag: Option<&Uri>) -> Result<Option<Uri>, SettingsError> {
        if let Some(base) = flag {
            let base = base.to_string();
            return parse("--otlp-endpoint", &below(&base)).map(Some);
        }
        let is = |name, wanted: &str| {
            let found = self.get(name);
            found.is_some_and(|(_, value)| value.eq_ignore_ascii_case(wanted))
        };
        if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
            return Ok(None);
        }
        // The one for traces is used as it is, the one for all signals is a base.
        if let Some((name, value)) = self.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            return parse(name, &value).map(Some);
        }
        let base = self.get("OTEL_EXPORTER_OTLP_ENDPOINT");
        base.map(|(name, value)| parse(name, &below(&value))).transpose()
    }

    fn check_protocol(&self) -> Result<(), SettingsError> {
        let protocol =
            self.of_traces("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
        match protocol {
            Some((name, value)) if value != PROTOCOL => {
                Err(SettingsError::Protocol { name, value })
            }
            _ => Ok(()),
        }
    }

    fn check_compression(&self) -> Result<(), SettingsError> {
        let compression = self
            .of_traces("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION");
        match compression {
            Some((name, value)) if value != "none" => {
                Err(SettingsError::Compression { name, value })
            }
            _ => Ok(()),
        }
    }

    fn timeout(&self) -> Result<Duration, SettingsError> {
        let timeout =
            self.of_traces("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
        let Some((name, value)) = timeout else {
            return Ok(TIMEOUT);
        };
        match value.parse() {
            Ok(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
            _ => Err(SettingsError::Timeout { name, value }),
        }
    }
}

/// The URL of traces below the base of all signals.
fn below(base: &str) -> String {
    format!("{}/{TRACES_PATH}", base.trim_end_matches('/'))
}

/// The URL `url`, which was made of the value of `name`. An error repeats nothing of it.
fn parse(name: &'static str, url: &str) -> Result<Uri, SettingsError> {
    let url = parse_http_url(url).map_err(|fault| SettingsError::Url { name, fault })?;
    Ok(without_credentials(url))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
