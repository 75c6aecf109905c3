//! The options of `rollouts`.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};

use super::logging::LogArgs;
use super::pod_view::{PodViewArgs, RECORDING_AT_ITS_END};
use super::recording::RecordedArgs;

/// `podinit rollouts`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit rollouts --url http://localhost:8080
  podinit rollouts --namespace shop -o wide
  podinit rollouts --file events.json.gz -o json | jq -r '.rollouts[].sentence'
  podinit rollouts --watch

One list of the pods shows only which rollouts are in progress, and when they began is a guess.

Exit status: 0 there is an answer, whatever it is, 4 the source does not know the present; 1 failure,
2 usage error")]
#[command(mut_arg("files", |files| files.conflicts_with("watch").help(RECORDING_AT_ITS_END)))]
pub struct RolloutsArgs {
    #[command(flatten)]
    pub recorded: RecordedArgs,

    #[command(flatten)]
    pub look: PodViewArgs,

    /// Maximum number of rollouts to list, up to 500
    #[arg(long, value_name = "NUMBER", default_value = "500", value_parser = RangedU64ValueParser::<usize>::new().range(1..=500))]
    pub limit: usize,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: RolloutsFormat,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// The format in which `rollouts` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RolloutsFormat {
    /// For people
    Table,
    /// Also what Kubernetes says, the next command, and all that have ended
    Wide,
    /// For programs
    Json,
}

impl RolloutsArgs {
    pub(super) fn check(&self) -> Result<(), String> {
        self.look.check(&self.recorded)
    }
}
