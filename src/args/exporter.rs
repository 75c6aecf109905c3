//! The options of `serve`, and those that `demo` shares with it.

use std::net::{Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use http::Uri;

use super::cluster::{ClusterArgs, Evidence, NodeArgs, ShardArgs};
use super::exporter_client::HttpUrl;
use super::labels::LabelArgs;
use super::logging::LogArgs;
use super::milestones::MilestoneArgs;
use podinit_core::lifecycle::TimestampMode;
use podinit_exporter::config::ExporterConfig;
use podinit_http::{AllowedHost, MetricsPath};
use podinit_oncall::live;
use podinit_text::duration::{DurationError, PrometheusDuration};
use podinit_traces::{EXPECTED_ENDPOINT, SampleRatio};

/// Several times the 150,000 pods that Kubernetes supports; finished, they take 64 MB.
const MAX_PODS: NonZeroUsize = match NonZeroUsize::new(1_000_000) {
    Some(pods) => pods,
    None => unreachable!(),
};

/// `podinit serve`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit serve
  podinit serve --namespace shop --namespace payment --listen 127.0.0.1:9090
  podinit serve --labels namespace,node --label-cap node=2000
  podinit serve --pod-label app.kubernetes.io/name --log-format json
  podinit serve --state-dir /var/lib/podinit
  podinit serve --web-config web.yaml --auth kubernetes

Endpoints: the metrics, /api/v1, /livez (or /healthz), /readyz and the live page at /")]
pub struct ServeArgs {
    /// Directory for the state that survives a restart [default: none, counters begin at zero]
    #[arg(long, value_name = "DIR", help_heading = "Exporter")]
    pub state_dir: Option<PathBuf>,

    /// How long to wait for the API server at the start, such as 30s; 0s waits without end [default:
    /// without end in a pod, 10s elsewhere]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Cluster")]
    pub connect_timeout: Option<Duration>,

    /// How often to list the pods, besides watching them, to find what the watch has lost without a sign, such as
    /// 30m; 0s never does
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1h",
        value_parser = parse_duration,
        help_heading = "Cluster"
    )]
    pub reconcile_interval: Duration,

    /// Which cluster, and which of its pods
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Who may scrape
    #[command(flatten)]
    pub auth: AuthArgs,
    /// How the metrics are exposed
    #[command(flatten)]
    pub exporter: ExporterArgs,
}

/// The options that do not depend on where the pods come from.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Exporter")]
#[allow(rustdoc::bare_urls, reason = "the lines are the help of the flags")]
pub struct ExporterArgs {
    /// Address and port to listen on; port 0 lets the system choose
    #[arg(
        long,
        visible_alias = "web.listen-address",
        value_name = "ADDRESS",
        default_value = "[::]:8080",
        value_parser = parse_listen
    )]
    pub listen: SocketAddr,

    /// Path of the metrics
    #[arg(
        long,
        visible_alias = "web.telemetry-path",
        value_name = "PATH",
        default_value_t = MetricsPath::default(),
        value_parser = parse_metrics_path
    )]
    pub metrics_path: MetricsPath,

    /// Name of the cluster, for the live page [default: the page names none]
    #[arg(long, value_name = "NAME")]
    pub cluster_name: Option<String>,

    /// Base URL of your runbooks, such as https://docs.example/runbooks.md; #cause-CAUSE is appended [default: the
    /// runbooks at /runbooks]
    #[arg(long, value_name = "URL", value_parser = parse_runbook_url)]
    pub runbook_url: Option<String>,

    /// Host names under which requests are answered, but for the probes: .example for all names below
    /// it, * for every name; may be repeated. IP addresses and localhost always are [default: none
    /// besides these where --listen is a loopback address, every name elsewhere]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allowed_hosts: Vec<AllowedHost>,

    /// Web configuration file (TLS, client certificates, basic authentication, headers, rate limit)
    /// in the format of Prometheus exporters, reloaded when it changes
    #[arg(long, visible_alias = "web.config.file", value_name = "FILE")]
    pub web_config: Option<PathBuf>,

    /// Timestamps to measure with: api (whole seconds, as the Kubernetes API states them) or fused
    /// (refined by the arrival times of watch events)
    #[arg(long, value_name = "MODE", default_value_t = TimestampMode::Fused)]
    pub timestamps: TimestampMode,

    /// What is evidence beside pods: the Events about them, their nodes, both, or nothing. Each needs the right
    /// to list and watch it
    #[arg(long, value_name = "SOURCE", default_value = "none")]
    pub evidence: Evidence,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// SLO file, reloaded when it changes [default: network within 10s and scheduled_to_ready
    /// within 2m, for 99 % of pods over 30d]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// Maximum number of pods to remember, at about 72 bytes for a finished pod and 1 KiB for one in
    /// flight. At the cap the oldest finished pods are forgotten, and never counted again
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = MAX_PODS,
        allow_negative_numbers = true,
        value_parser = parse_count
    )]
    pub max_pods: NonZeroUsize,

    /// Which of the pods
    #[command(flatten)]
    pub sharding: ShardArgs,
    #[command(flatten)]
    pub milestones: MilestoneArgs,
    /// The label set of the duration series
    #[command(flatten)]
    pub labels: LabelArgs,
    /// Where startups are sent as traces
    #[command(flatten)]
    pub otlp: OtlpArgs,
    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let duration: PrometheusDuration = text.parse()?;
    Ok(Duration::from_millis(duration.as_millis()))
}

pub(super) fn parse_duration_above_zero(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() {
        return Err("expected a duration above 0".to_owned());
    }
    Ok(duration)
}

/// A page is linked there: nothing but HTTP, and no character that does not belong into a URL.
fn parse_runbook_url(text: &str) -> Result<String, String> {
    let host = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    let is_url = host.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>#\\`".contains(&byte));
    match is_url && is_plain {
        true => Ok(text.to_owned()),
        false => {
            Err("expected a URL such as https://docs.example/runbooks.md, without #".to_owned())
        }
    }
}

fn parse_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse();
    count.map_err(|_| "expected a number above 0".to_owned())
}

impl ExporterArgs {
    /// What the exporter is asked to do.
    pub fn config(&self) -> ExporterConfig {
        ExporterConfig {
            listen: self.listen,
            metrics_path: self.metrics_path.clone(),
            cluster_name: self.cluster_name.clone(),
            allowed_hosts: self.allowed_hosts.clone(),
            timestamps: self.timestamps,
            evidence: self.evidence.into(),
            nodes: self.nodes.options(),
            slo: self.slo.clone(),
            max_pods: self.max_pods,
            shard: self.sharding.shard,
            milestones: self.milestones.milestones(),
            labels: self.labels.config(),
        }
    }
}

/// Where startups are sent as traces, and how many.
#[derive(Args, Clone, Debug)]
pub struct OtlpArgs {
    /// Collector of traces over HTTP, such as http://localhost:4318: gets the sampled startups as
    /// OpenTelemetry traces [default: what OTEL_EXPORTER_OTLP_ENDPOINT names, else none]
    #[arg(long, value_name = "URL", value_parser = ENDPOINT)]
    pub otlp_endpoint: Option<Uri>,

    /// Share of startups to send as traces, from 0 to 1; all that missed an SLO are sent besides
    #[arg(long, value_name = "RATIO", default_value = "0.1", allow_negative_numbers = true)]
    pub otlp_sample_ratio: SampleRatio,
}

/// The values of `--otlp-endpoint`.
const ENDPOINT: HttpUrl = HttpUrl(EXPECTED_ENDPOINT);

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
fn parse_listen(text: &str) -> Result<SocketAddr, String> {
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

/// Parses the path of the metrics, at which podinit must not serve anything else.
///
/// # Errors
/// One line that says what is expected.
fn parse_metrics_path(text: &str) -> Result<MetricsPath, String> {
    match live::serves(text) {
        true => Err("podinit answers this path itself, choose another one".to_owned()),
        false => text.parse(),
    }
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
            assert_eq!(why.as_deref(), Some("the port must be from 0 to 65535"), "{text}");
        }
    }
}
