//! The command line. Flags and `PODINIT_*` variables become types here and nowhere else.

mod candidates;
mod capture;
mod cluster;
mod demo;
mod doctor;
mod explain;
mod exporter;
mod exporter_client;
mod labels;
mod logging;
mod milestones;
mod pod_view;
mod recording;
mod report;
mod rollouts;
mod rules;
mod variables;
mod wait;

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use candidates::{CompletionsArgs, ManArgs, Shell, kubectl_candidates};
pub use capture::{CaptureArgs, Compress};
pub use cluster::ShardArgs;
pub use cluster::{ApiEncoding, ClusterArgs, ConnectionArgs, NamespaceArgs, SelectorArgs};
pub use cluster::{Evidence, NodeArgs};
pub use demo::{DemoArgs, SimulationArgs};
pub use doctor::{DoctorArgs, DoctorFormat};
pub use explain::{ExplainArgs, ExplainFormat};
pub use exporter::OtlpArgs;
pub use exporter::{AuthArgs, AuthMode};
pub use exporter::{ExporterArgs, ServeArgs};
pub use labels::{LabelArgs, LabelCap, LabelList};
pub use logging::{LogArgs, LogFormat};
pub use pod_view::{PodViewArgs, ProblemsArgs, ProblemsFormat, StuckArgs, StuckFormat};
pub use recording::{RecordedArgs, RecordingArgs, ReplayArgs, ReplayFormat};
pub use report::{ReportArgs, ReportFormat, ReportSource};
pub use rollouts::{RolloutsArgs, RolloutsFormat};
pub use rules::RulesArgs;
pub use variables::Program;
pub use variables::unknown_variables;
pub use wait::{WaitArgs, WaitFormat};

use podinit_text::nearest::nearest;

/// The command that runs if none is named.
const DEFAULT_COMMAND: &str = "serve";

#[derive(Parser, Debug)]
#[command(
    name = "podinit",
    version,
    about = "Measures how fast, and how reliably, a Kubernetes cluster starts its pods",
    subcommand_required = true,
    after_help = "\
Without a command, podinit serves: `podinit --listen :9090` is `podinit serve --listen :9090`.
Every flag is also a variable: --label-selector is PODINIT_LABEL_SELECTOR, and --output of replay is
PODINIT_REPLAY_OUTPUT. Flags win.
See `podinit COMMAND --help` for details."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Subcommand, Clone, Debug)]
pub enum Command {
    /// Watch a cluster and expose what its pods do (the default)
    Serve(ServeArgs),
    /// Simulate a cluster and expose what its pods do
    Demo(DemoArgs),
    /// Run recorded pods through the pipeline and print the metrics
    Replay(ReplayArgs),
    /// Summarize recorded pods for people
    Report(ReportArgs),
    /// Explain where the time of one pod's startup went
    Explain(ExplainArgs),
    /// Say what is broken, where and since when
    Problems(ProblemsArgs),
    /// List the pods that are stuck: since when, and why
    Stuck(StuckArgs),
    /// List the rollouts: how far they are, what holds them, and how the last ones ended
    Rollouts(RolloutsArgs),
    /// Wait until a workload is rolled out, and say why it is not
    Wait(WaitArgs),
    /// Write Prometheus rules for an SLO file
    Rules(RulesArgs),
    /// Record what replay and report read: lists, watch events and Events of pods
    Capture(CaptureArgs),
    /// Check everything that serve needs, and say how to fix what is missing
    Doctor(DoctorArgs),
    /// Print the script that completes podinit's command line in a shell
    Completions(CompletionsArgs),
    /// Write the manual pages into a directory
    Man(ManArgs),
}

/// The whole command line. Every flag of a command is also a variable.
pub fn command_line() -> clap::Command {
    CommandLine::command().mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|flag| with_variable(flag, &name))
    })
}

/// The flag with its variable: `PODINIT_` and its name. The command stands before a name that means something else
/// for each command, and before those by which `explain` finds its pod, `report` its exporter and `wait` its pods, which no
/// variable for others may choose.
fn with_variable(flag: clap::Arg, command: &str) -> clap::Arg {
    let name = match flag.get_long() {
        Some(name @ "output") => format!("podinit_{command}_{name}"),
        Some(name @ ("namespace" | "file" | "url")) if command == explain::NAME => {
            format!("podinit_{command}_{name}")
        }
        Some(name @ "url") if command == report::NAME => format!("podinit_{command}_{name}"),
        Some(name @ ("namespace" | "label-selector" | "timeout")) if command == wait::NAME => {
            format!("podinit_{command}_{name}")
        }
        Some(name) => format!("podinit_{name}"),
        None => return flag,
    };
    flag.env(name.replace('-', "_").to_uppercase())
}

/// Why nodes are no evidence of a namespace.
const NODES_OF_NAMESPACE: &str = "--evidence nodes does not go with --namespace: nodes belong to the whole cluster; \
                                  leave one of them out";

impl Command {
    /// Parses the arguments of the process. If there is nothing to run, prints help or a usage error
    /// and exits with status 0 or 2.
    pub fn from_process() -> Self {
        Self::parse(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// Parses arguments, the first of which is the name of the program, and the environment.
    ///
    /// # Errors
    /// Usage errors, and requests for help or the version; [`clap::Error::exit`] handles each.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let args = with_command(args.into_iter().collect());
        let mut line = command_line().bin_name(Program::from_words(&args).usage_name());
        let matches = line.try_get_matches_from_mut(args);
        let mut matches = matches.map_err(helpful)?;
        let parsed = CommandLine::from_arg_matches_mut(&mut matches);
        let command = parsed.map_err(|error| error.format(&mut line))?.command;
        match command.check() {
            Ok(()) => Ok(command),
            Err(message) => Err(line.error(ErrorKind::ValueValidation, message)),
        }
    }

    /// What is logged; nothing by the commands that only describe the command line.
    pub const fn log(&self) -> Option<&LogArgs> {
        Some(match self {
            Self::Serve(args) => &args.exporter.log,
            Self::Demo(args) => &args.exporter.log,
            Self::Replay(args) => &args.log,
            Self::Report(args) => &args.log,
            Self::Explain(args) => &args.log,
            Self::Problems(args) => &args.log,
            Self::Stuck(args) => &args.log,
            Self::Rollouts(args) => &args.log,
            Self::Wait(args) => &args.log,
            Self::Rules(args) => &args.log,
            Self::Capture(args) => &args.log,
            Self::Doctor(args) => &args.serve.exporter.log,
            Self::Completions(_) | Self::Man(_) => return None,
        })
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::Serve(args) | Self::Doctor(DoctorArgs { serve: args, .. }) => {
                args.auth.check()?;
                args.exporter.labels.check(args.exporter.evidence)?;
                args.exporter.milestones.check()?;
                match args.exporter.evidence.nodes() && args.cluster.namespaces.is_any() {
                    true => Err(NODES_OF_NAMESPACE.to_owned()),
                    false => Ok(()),
                }
            }
            Self::Demo(args) => {
                args.exporter.labels.check(args.exporter.evidence)?;
                args.exporter.milestones.check()
            }
            Self::Replay(args) => args.check(),
            Self::Report(args) => args.check(),
            Self::Explain(args) => args.check(),
            Self::Problems(args) => args.check(),
            Self::Stuck(args) => args.check(),
            Self::Rollouts(args) => args.check(),
            Self::Capture(args) if args.evidence.nodes() && args.namespace.is_some() => {
                Err(NODES_OF_NAMESPACE.to_owned())
            }
            Self::Wait(_) => Ok(()),
            Self::Rules(_) | Self::Capture(_) | Self::Completions(_) | Self::Man(_) => Ok(()),
        }
    }
}

/// The error where it suggests only what was likely meant, and where it says what to do.
fn helpful(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    // clap takes tcsh for zsh.
    if let (Some(given), Some(suggested)) =
        (text(ContextKind::InvalidValue), text(ContextKind::SuggestedValue))
        && nearest(&given, &[&suggested]).is_none()
    {
        error.remove(ContextKind::SuggestedValue);
    }
    error
}

/// Inserts the default command if the first argument is a flag, unless it is one of podinit's own
/// flags.
fn with_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let own = ["-h", "--help", "-V", "--version"].map(OsStr::new);
    let is_default = match args.get(1) {
        None => true,
        Some(first) => {
            first.as_encoded_bytes().starts_with(b"-") && !own.contains(&first.as_os_str())
        }
    };
    if is_default {
        args.insert(args.len().min(1), DEFAULT_COMMAND.into());
    }
    args
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
