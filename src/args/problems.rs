//! The options of `problems`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use http::Uri;

use super::cluster::{ConnectionArgs, SelectorArgs, chosen, parse_namespace};
use super::evidence::{Evidence, NodeArgs};
use super::exporter_client::{EXPORTER_URL, ExporterClientArgs};
use super::logging::LogArgs;
use crate::cluster::options::ServerOptions;
use podinit_core::lifecycle::TimestampMode;

/// `podinit problems`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit problems --url http://localhost:8080
  podinit problems --namespace shop -o wide
  podinit problems --file events.json.gz -o json | jq -r '.problems[].sentence'
  podinit problems --watch

Exit status: 0 there is no problem, 3 there are some, 4 the source does not know the present; 1 failure,
2 usage error. With --watch it is that of the last table")]
pub struct ProblemsArgs {
    /// Recording to look at, at its end; may be repeated, - is standard input [default: list the pods of
    /// the cluster]
    #[arg(
        long = "file",
        short = 'f',
        value_name = "FILE",
        conflicts_with_all = ["url", "watch"]
    )]
    pub files: Vec<PathBuf>,

    /// Take all lists before the first watch event for one list: files of one moment, such as one for each
    /// namespace
    #[arg(long)]
    pub same_moment: bool,

    /// URL of a running podinit to ask, such as http://localhost:8080 [default: list the pods of the
    /// cluster]
    #[arg(long, value_name = "URL", value_parser = EXPORTER_URL)]
    url: Option<Uri>,

    #[command(flatten)]
    exporter: ExporterClientArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Namespace to look at in a cluster; may be repeated [default: all]
    #[arg(
        long = "namespace",
        short = 'n',
        value_name = "NAME",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = parse_namespace
    )]
    namespaces: Vec<String>,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// Timestamps to measure a recording with: api (whole seconds, as the API states them) or fused
    /// (refined by the recorded arrival times of watch events)
    #[arg(long, value_name = "MODE", default_value_t = TimestampMode::Api)]
    pub timestamps: TimestampMode,

    /// What is evidence beside pods: Events, nodes, both, or nothing; in the recording or in the cluster, not
    /// used with --url
    #[arg(long, value_name = "SOURCE", default_value = "events")]
    pub evidence: Evidence,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// SLO file, whose thresholds raise the limits of the stages as they do in serve; not used with
    /// --url [default: the SLOs of podinit]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: ProblemsFormat,

    /// Look again every 5 seconds, until interrupted
    #[arg(long, short = 'w')]
    pub watch: bool,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// The format in which `problems` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProblemsFormat {
    /// For people
    Table,
    /// Also what Kubernetes says, the next command and the runbook
    Wide,
    /// For programs
    Json,
}

impl ProblemsArgs {
    /// The namespaces to look at, sorted and each once; none means all.
    pub fn namespaces(&self) -> Vec<String> {
        chosen(&self.namespaces)
    }

    /// The exporter to ask, if one is named.
    pub fn exporter(&self) -> Option<ServerOptions> {
        Some(self.exporter.server(self.url.clone()?))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let of_cluster = self.selectors.is_any() || !self.namespaces.is_empty();
        if of_cluster && (self.url.is_some() || !self.files.is_empty()) {
            return Err(
                "--namespace, --label-selector and --field-selector go only with a cluster: an exporter \
                 or a recording has chosen its pods"
                    .to_owned(),
            );
        }
        self.exporter.check(self.url.as_ref())
    }
}
