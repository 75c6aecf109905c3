//! The options of the commands that look at pods once, or again and again: at those of an exporter, or of a
//! cluster.

use std::path::PathBuf;

use clap::Args;

use super::cluster::{ConnectionArgs, NamespaceArgs, SelectorArgs};
use super::evidence::{Evidence, NodeArgs};
use super::exporter_client::AskedExporterArgs;
use super::logging::LogArgs;
use crate::cluster::options::ServerOptions;

/// Whom to ask about which pods, and how often.
#[derive(Args, Clone, Debug)]
pub struct LookArgs {
    #[command(flatten)]
    pub(super) exporter: AskedExporterArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub namespaces: NamespaceArgs,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// What is evidence beside pods: Events, nodes, both, or nothing; not used with --url
    #[arg(long, value_name = "SOURCE", default_value = "events")]
    pub evidence: Evidence,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// SLO file, whose thresholds raise the limits of the stages as they do in serve; not used with
    /// --url [default: the SLOs of podinit]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// Look again every 5 seconds, until interrupted
    #[arg(long, short = 'w')]
    pub watch: bool,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

impl LookArgs {
    /// The exporter to ask, if one is named.
    pub fn exporter(&self) -> Option<ServerOptions> {
        self.exporter.server()
    }
}
