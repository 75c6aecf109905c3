//! The options of `stuck`.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use super::look::LookArgs;

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
    #[command(flatten)]
    pub look: LookArgs,

    /// Maximum number of pods to list
    #[arg(long, value_name = "NUMBER", default_value = "500")]
    pub limit: NonZeroUsize,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: StuckFormat,
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
        if self.look.exporter.is_any() && self.look.selectors.is_any() {
            return Err(
                "--label-selector and --field-selector do not go with --url: the exporter has chosen \
                 its pods"
                    .to_owned(),
            );
        }
        self.look.exporter.check()
    }
}
