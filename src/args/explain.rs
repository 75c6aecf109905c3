//! The options of `explain`.

use clap::{Args, ValueEnum};

use super::cluster::{ConnectionArgs, Evidence, NodeArgs, SelectorArgs, parse_namespace};
use super::exporter_client::AskedExporterArgs;
use super::logging::LogArgs;
use super::recording::RecordedArgs;
use podinit_connect::options::ServerOptions;
use podinit_oncall::explain::{ExplainTarget, TargetName};

/// The command.
pub(super) const NAME: &str = "explain";
/// How its argument is named.
const POD: &str = "POD|KIND/NAME";

/// `podinit explain`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit explain
  podinit explain -n shop web-7c9d8f6b5d-x2x4z
  kubectl get pods,events -A -o json | podinit explain --file - -n shop web-7c9d8f6b5d-x2x4z
  podinit explain --url http://localhost:8080 -n shop web-7c9d8f6b5d-x2x4z
  podinit explain --file events.json.gz deployment/web
  podinit explain --file events.json.gz -n shop -o json web-0 | jq -r .verdict")]
pub struct ExplainArgs {
    /// A pod by its name, or a workload such as deployment/web. Of a workload it explains the pod that has been
    /// starting up longest, or else the slowest [default: list the ten worst startups]
    #[arg(value_name = POD, value_parser = clap::builder::ValueParser::new(parse_name))]
    pub name: Option<TargetName>,

    /// Namespace of the pod [default: any]
    #[arg(
        long,
        short = 'n',
        value_name = "NAME",
        allow_hyphen_values = true,
        value_parser = parse_namespace
    )]
    namespace: Option<String>,

    #[command(flatten)]
    pub recorded: RecordedArgs,

    #[command(flatten)]
    exporter: AskedExporterArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// What is evidence beside pods: Events, nodes, both, or nothing; in the recording, or in the cluster
    #[arg(long, value_name = "SOURCE", default_value = "events,nodes")]
    pub evidence: Evidence,

    #[command(flatten)]
    pub nodes: NodeArgs,

    /// Format of the explanation on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "text")]
    pub output: ExplainFormat,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// The format in which `explain` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// For a terminal
    Text,
    /// For programs
    Json,
    /// A page by itself, for a browser
    Html,
    /// For Perfetto and Chrome
    Trace,
}

impl ExplainArgs {
    /// What to explain.
    pub fn target(&self) -> ExplainTarget {
        ExplainTarget {
            // An empty variable means the default.
            namespace: self.namespace.clone().filter(|name| !name.is_empty()),
            name: self.name.clone().unwrap_or(TargetName::Any),
        }
    }

    /// The exporter to ask, if one is named.
    pub fn exporter(&self) -> Option<ServerOptions> {
        self.exporter.server()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let of_one = matches!(self.output, ExplainFormat::Html | ExplainFormat::Trace);
        if self.name.is_none() && of_one {
            return Err("--output html and trace are of one pod: name it".to_owned());
        }
        self.exporter.check()?;
        if (self.exporter.is_any() || !self.recorded.files.is_empty()) && self.selectors.is_any() {
            return Err(
                "--label-selector and --field-selector do not go with --file and --url: they select \
                 pods of a cluster"
                    .to_owned(),
            );
        }
        self.recorded.check()
    }
}

fn parse_name(text: &str) -> Result<TargetName, &'static str> {
    text.parse()
}
