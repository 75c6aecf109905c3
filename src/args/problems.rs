//! The options of `problems`.

use clap::{Args, ValueEnum};

use super::look::LookArgs;
use super::recording::RecordedArgs;

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
#[command(mut_arg("files", |files| files.conflicts_with("watch")))]
pub struct ProblemsArgs {
    #[command(flatten)]
    pub recorded: RecordedArgs,

    #[command(flatten)]
    pub look: LookArgs,

    /// Format on standard output
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "table")]
    pub output: ProblemsFormat,
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
        look.exporter.check()
    }
}
