//! The options of the commands that look at pods once, or again and again: `stuck` and `problems`, and what `rollouts` shares
//! with them.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cluster::{ConnectionArgs, Evidence, NamespaceArgs, NodeArgs, SelectorArgs};
use super::exporter_client::AskedExporterArgs;
use super::logging::LogArgs;
use super::recording::RecordedArgs;
use podinit_connect::options::ServerOptions;

/// `podinit stuck`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit stuck --url http://localhost:8080
  podinit stuck --namespace shop -o wide
  podinit stuck --file events.json.gz
  kubectl get pods,events -A -o json | podinit stuck --file -
  podinit stuck --watch
  podinit stuck -o json | jq -r '.pods[].next_command'

Exit status: 0 no pod is stuck, 3 some are, 4 the exporter does not know the present; 1 failure,
2 usage error. With --watch it is that of the last table")]
#[command(mut_arg("files", |files| files.conflicts_with("watch").help(RECORDING_AT_ITS_END)))]
pub struct StuckArgs {
    #[command(flatten)]
    pub recorded: RecordedArgs,

    #[command(flatten)]
    pub look: PodViewArgs,

    /// Maximum number of pods to list
    #[arg(long, value_name = "NUMBER", default_value = "500")]
    pub limit: NonZeroUsize,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: StuckFormat,

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
    pub(super) fn check(&self) -> Result<(), String> {
        self.look.check(&self.recorded)
    }
}

impl PodViewArgs {
    /// Whether the options go together, where a namespace goes with an exporter too.
    pub(super) fn check(&self, recorded: &RecordedArgs) -> Result<(), String> {
        let (look, of_recording) = (self, !recorded.files.is_empty());
        if look.exporter.is_any() && look.selectors.is_any() {
            return Err(
                "--label-selector and --field-selector do not go with --url: the exporter has chosen \
                 its pods"
                    .to_owned(),
            );
        }
        if of_recording && (look.selectors.is_any() || look.namespaces.is_any()) {
            return Err(
                "--namespace, --label-selector and --field-selector do not go with --file: the recording \
                 has chosen its pods"
                    .to_owned(),
            );
        }
        look.exporter.check()?;
        recorded.check()
    }
}

/// Whom to ask about which pods, and how often.
#[derive(Args, Clone, Debug)]
pub struct PodViewArgs {
    #[command(flatten)]
    pub(super) exporter: AskedExporterArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub namespaces: NamespaceArgs,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// What is evidence beside pods: Events, nodes, both, or nothing; not used with --url [default: events of a
    /// cluster, all that a recording holds]
    #[arg(long, value_name = "SOURCE")]
    evidence: Option<Evidence>,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// SLO file, whose thresholds raise the limits of the stages as they do in serve; not used with
    /// --url [default: the SLOs of podinit]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// Look again every 5 seconds, until interrupted
    #[arg(long, short = 'w')]
    pub watch: bool,
}

impl PodViewArgs {
    /// What is evidence: of a recording all that it holds, where nothing is chosen.
    pub fn evidence(&self, of_recording: bool) -> Evidence {
        self.evidence.unwrap_or(match of_recording {
            true => Evidence::EventsAndNodes,
            false => Evidence::Events,
        })
    }

    /// The exporter to ask, if one is named.
    pub fn exporter(&self) -> Option<ServerOptions> {
        self.exporter.server()
    }
}

/// What `stuck`, `problems` and `rollouts` look at in a recording.
pub(super) const RECORDING_AT_ITS_END: &str = "Recording to look at, at its end; may be repeated, - is standard input [default: \
                                    list the pods of the cluster]";

/// `podinit problems`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit problems --url http://localhost:8080
  podinit problems --namespace shop -o wide
  podinit problems --file events.json.gz -o json | jq -r '.problems[].sentence'
  kubectl get pods,events -A -o json | podinit problems --file -
  podinit problems --watch

Exit status: 0 there is no problem, 3 there are some, 4 the source does not know the present; 1 failure,
2 usage error. With --watch it is that of the last table")]
#[command(mut_arg("files", |files| files.conflicts_with("watch").help(RECORDING_AT_ITS_END)))]
pub struct ProblemsArgs {
    #[command(flatten)]
    pub recorded: RecordedArgs,

    #[command(flatten)]
    pub look: PodViewArgs,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: ProblemsFormat,

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
    pub(super) fn check(&self) -> Result<(), String> {
        let look = &self.look;
        let of_cluster = look.selectors.is_any() || look.namespaces.is_any();
        if of_cluster && (look.exporter.is_any() || !self.recorded.files.is_empty()) {
            return Err(
                "--namespace, --label-selector and --field-selector go only with a cluster: an exporter \
                 or a recording has chosen its pods"
                    .to_owned(),
            );
        }
        look.exporter.check()?;
        self.recorded.check()
    }
}
