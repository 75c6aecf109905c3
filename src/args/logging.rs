//! The options for the log.

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// What is logged, and in which format. The log always goes to standard error.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// Format of the log on standard error
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// Minimum level to log: error, warn, info, debug, trace or off, also by module
    /// (info,podinit::watch=debug)
    #[arg(long, value_name = "FILTER", default_value = "info", value_parser = parse_filter)]
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
    if EnvFilter::builder().parse(text).is_err() {
        return Err("expected a level, or a list such as info,podinit::watch=debug".to_owned());
    }
    match text.split(',').map(str::trim).find(|part| is_misspelt(part)) {
        Some(part) => Err(format!(
            "{part:?} is no level; expected error, warn, info, debug, trace or off, or a list such as \
             info,podinit::watch=debug"
        )),
        None => Ok(text.to_owned()),
    }
}

/// Whether a part of a filter is a word that is neither a level nor a module. `EnvFilter` takes any
/// word for a module, and a filter of modules alone turns off the log of all others.
fn is_misspelt(part: &str) -> bool {
    let is_word = !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    is_word && part != env!("CARGO_CRATE_NAME") && part.parse::<LevelFilter>().is_err()
}
