//! The options of the commands that serve metrics: `serve` and `demo`.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::cluster::ClusterArgs;
use super::evidence::{Evidence, NodeArgs};
use super::http_server::{AuthArgs, parse_listen};
use super::labels::LabelArgs;
use super::logging::LogArgs;
use super::otlp::OtlpArgs;
use super::shard::ShardArgs;
use crate::server::AllowedHost;
use crate::slo::duration::{DurationError, SloDuration};
use podinit_core::lifecycle::TimestampMode;
use podinit_sim::scene::Scene;

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

Endpoints: /metrics, /api/v1, /livez (or /healthz), /readyz and a landing page at /")]
pub struct ServeArgs {
    /// Directory for the state that survives a restart [default: none, counters begin at zero]
    #[arg(long, value_name = "DIR", help_heading = "Exporter")]
    pub state_dir: Option<PathBuf>,

    /// How long to wait for the API server at the start, such as 30s; 0s waits without end [default:
    /// without end in a pod, 10s elsewhere]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Cluster")]
    pub connect_timeout: Option<Duration>,

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
pub struct ExporterArgs {
    /// Address and port to listen on; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS", default_value = "[::]:8080", value_parser = parse_listen)]
    pub listen: SocketAddr,

    /// Name of the cluster, for the live page [default: the page names none]
    #[arg(long, value_name = "NAME")]
    pub cluster_name: Option<String>,

    /// Host names under which requests are answered, but for the probes: .example for all names below
    /// it, * for every name; may be repeated. IP addresses and localhost always are [default: none
    /// besides these where --listen is a loopback address, every name elsewhere]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allowed_hosts: Vec<AllowedHost>,

    /// Web configuration file (TLS, client certificates, basic authentication, headers, rate limit)
    /// in the format of Prometheus exporters, reloaded when it changes
    #[arg(long, alias = "web.config.file", value_name = "FILE")]
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

    /// Maximum number of pods to remember, at about 64 bytes for a finished pod and 1 KiB for one in
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

/// `podinit demo`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit demo
  podinit demo --rate 50 --speed 10 --duration 5m --listen 127.0.0.1:0
  podinit demo --scene registry-down --scene-after 2m")]
#[command(mut_arg("listen", |listen| listen.default_value("127.0.0.1:8080")))]
#[command(mut_arg("evidence", |evidence| evidence.default_value("events,nodes")))]
pub struct DemoArgs {
    /// The simulated cluster
    #[command(flatten)]
    pub simulation: SimulationArgs,
    /// How the metrics are exposed
    #[command(flatten)]
    pub exporter: ExporterArgs,
}

/// The simulated cluster.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub struct SimulationArgs {
    /// Pods created per second
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "PODS",
        default_value_t = 5.0,
        value_parser = parse_positive
    )]
    pub rate: f64,

    /// How many times faster than real time the simulated pods live
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "FACTOR",
        default_value_t = 1.0,
        value_parser = parse_positive
    )]
    pub speed: f64,

    /// Seed of the simulation; the same seed gives the same pods
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,

    /// Break something [default: nothing]: registry-down, cni-outage, bad-node, no-capacity, crashloop,
    /// gang, two-problems, bad-image, zone-outage, secret-missing or slow-nodes. docs/demo.md says what each breaks
    #[arg(long, value_name = "SCENE", value_parser = parse_scene)]
    pub scene: Option<Scene>,

    /// Simulated time after which the scene begins, such as 5m
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    pub scene_after: Duration,

    /// Simulated time after which no sandbox starts any more, such as 5m: the same as --scene
    /// cni-outage --scene-after TIME [default: no outage]
    #[arg(long, value_name = "TIME", conflicts_with = "scene", value_parser = parse_duration)]
    pub outage_after: Option<Duration>,

    /// Exit after this time, such as 90s or 1h30m [default: when interrupted]
    #[arg(long, value_name = "TIME", value_parser = parse_duration_above_zero)]
    pub duration: Option<Duration>,

    /// Where to write the kubeconfig of the simulated cluster; removed at the end [default: in a
    /// private temporary directory]
    #[arg(long, value_name = "FILE")]
    pub write_kubeconfig: Option<PathBuf>,

    /// In a terminal: print where to look, and show no moving bars
    #[arg(long, short = 'q')]
    pub quiet: bool,
}

impl SimulationArgs {
    /// What breaks, and how long after the start.
    pub fn scene(&self) -> Option<(Scene, Duration)> {
        let outage = self.outage_after.map(|after| (Scene::CniOutage, after));
        outage.or_else(|| Some((self.scene?, self.scene_after)))
    }
}

fn parse_scene(text: &str) -> Result<Scene, String> {
    Scene::named(text).ok_or_else(|| {
        let names = Scene::ALL.map(Scene::as_str).join(", ");
        format!("expected one of {names}")
    })
}

pub(super) fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let duration: SloDuration = text.parse()?;
    Ok(Duration::from_millis(duration.as_millis()))
}

pub(super) fn parse_duration_above_zero(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    if duration.is_zero() {
        return Err("expected a duration above 0".to_owned());
    }
    Ok(duration)
}

fn parse_count(text: &str) -> Result<NonZeroUsize, String> {
    let count = text.parse();
    count.map_err(|_| "expected a number above 0".to_owned())
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}
