//! The options of `doctor`: those of `serve`, because it checks what `serve` would do, and its own.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::exporter::{ServeArgs, parse_duration_above_zero};

/// `podinit doctor`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit doctor
  podinit doctor --namespace shop --labels namespace,node --slo slo.yaml
  podinit doctor -o json | jq '.findings[] | select(.severity == \"error\")'
  kubectl -n podinit exec deploy/podinit -- podinit doctor

Exit status: 0 no warnings or errors, 3 warnings, 4 errors; 1 interrupted, 2 usage error")]
pub struct DoctorArgs {
    /// The options of serve
    #[command(flatten)]
    pub serve: ServeArgs,

    /// Format of the findings on standard output
    #[arg(
        long,
        short = 'o',
        alias = "format",
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Doctor"
    )]
    pub output: DoctorFormat,

    /// How long all checks together may take, such as 30s or 5m
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1m",
        value_parser = parse_duration_above_zero,
        help_heading = "Doctor"
    )]
    pub timeout: Duration,
}

/// The format in which `doctor` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For people
    Text,
    /// For programs
    Json,
}
