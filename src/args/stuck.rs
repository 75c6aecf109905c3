//! The options of `stuck`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use http::Uri;

use super::cluster::{ConnectionArgs, SelectorArgs, chosen, parse_namespace};
use super::evidence::{Evidence, NodeArgs};
use super::exporter_client::{EXPORTER_URL, ExporterClientArgs};
use super::logging::LogArgs;
use crate::cluster::options::ServerOptions;

/// `podinit stuck`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit stuck --url http://localhost:8080
  podinit stuck --namespace shop -o wide
  podinit stuck --watch
  podinit stuck -o json | jq -r '.pods[].next_command'

Exit status: 0 no pod is stuck, 3 some are, 4 the exporter does not know the present; 1 failure,
2 usage error. With --watch it is that of the last table")]
pub struct StuckArgs {
    /// URL of a running podinit to ask, such as http://localhost:8080 [default: list the pods of the
    /// cluster]
    #[arg(long, value_name = "URL", value_parser = EXPORTER_URL)]
    url: Option<Uri>,

    #[command(flatten)]
    exporter: ExporterClientArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Namespace to look at; may be repeated [default: all]
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

    /// What is evidence beside the pods of a cluster: Events, nodes, both, or nothing; not used with --url
    #[arg(long, value_name = "SOURCE", default_value = "events")]
    pub evidence: Evidence,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// SLO file, whose thresholds raise the limits of the stages as they do in serve; not used with
    /// --url [default: the SLOs of podinit]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// Maximum number of pods to list
    #[arg(long, value_name = "NUMBER", default_value = "500")]
    pub limit: NonZeroUsize,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: StuckFormat,

    /// Look again every 5 seconds, until interrupted
    #[arg(long, short = 'w')]
    pub watch: bool,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// The format in which `stuck` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StuckFormat {
    /// For people
    Table,
    /// Also with registries, UIDs and the next command
    Wide,
    /// For programs
    Json,
}

impl StuckArgs {
    /// The namespaces to look at, sorted and each once; none means all.
    pub fn namespaces(&self) -> Vec<String> {
        chosen(&self.namespaces)
    }

    /// The exporter to ask, if one is named.
    pub fn exporter(&self) -> Option<ServerOptions> {
        Some(self.exporter.server(self.url.clone()?))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.url.is_some() && self.selectors.is_any() {
            return Err(
                "--label-selector and --field-selector do not go with --url: the exporter has chosen \
                 its pods"
                    .to_owned(),
            );
        }
        self.exporter.check(self.url.as_ref())
    }
}
