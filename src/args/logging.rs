//! The options for the log.

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

/// What is logged, and in which format. The log always goes to standard error.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Format of the log on standard error
    #[arg(
        long,
        env = "PODINIT_LOG_FORMAT",
        value_name = "FORMAT",
        value_enum,
        default_value_t = LogFormat::Text
    )]
    pub log_format: LogFormat,

    /// Minimum level to log: error, warn, info, debug, trace or off, also by module
    /// (info,podinit::watch=debug)
    #[arg(
        long,
        env = "PODINIT_LOG_LEVEL",
        value_name = "FILTER",
        default_value = "info",
        value_parser = parse_filter
    )]
    pub log_level: String,
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text for each event
    Text,
    /// One JSON object for each event
    Json,
}

/// Checks the filter and returns its text, because an `EnvFilter` cannot be cloned.
fn parse_filter(text: &str) -> Result<String, String> {
    match EnvFilter::builder().parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("expected a level, or a list such as info,podinit::watch=debug".to_owned()),
    }
}
