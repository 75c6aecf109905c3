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
    /// (info,podinit_kube::watch=debug)
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

/// The crates of podinit that log.
const CRATES: [&str; 11] = [
    "podinit",
    "podinit_access",
    "podinit_capture",
    "podinit_connect",
    "podinit_exporter",
    "podinit_http",
    "podinit_kube",
    "podinit_oncall",
    "podinit_recordings",
    "podinit_sim",
    "podinit_traces",
];

/// Checks the filter and returns its text, because an `EnvFilter` cannot be cloned.
fn parse_filter(text: &str) -> Result<String, String> {
    if EnvFilter::builder().parse(text).is_err() {
        return Err("expected a level, or a list such as info,podinit_kube::watch=debug".to_owned());
    }
    let parts = || text.split(',').map(str::trim);
    if let Some(part) = parts().find(|part| is_misspelt(part)) {
        return Err(format!(
            "{part:?} is no level; expected error, warn, info, debug, trace or off, or a list such as \
             info,podinit_kube::watch=debug"
        ));
    }
    match parts().find_map(unknown_crate) {
        Some(unknown) => Err(format!(
            "podinit has no module {unknown}; expected one of the crates {}, such as in info,podinit_kube::watch=debug",
            CRATES.join(", ")
        )),
        None => Ok(text.to_owned()),
    }
}

/// Whether a part of a filter is a word that is neither a level nor a module. `EnvFilter` takes any
/// word for a module, and a filter of modules alone turns off the log of all others.
fn is_misspelt(part: &str) -> bool {
    let is_word = !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    is_word && !part.starts_with("podinit") && part.parse::<LevelFilter>().is_err()
}

/// What a part of a filter names of podinit that is not there: nothing would be logged for it. A filter means all
/// modules whose path begins as it says, so `podinit` means all crates.
fn unknown_crate(part: &str) -> Option<&str> {
    let path = part.split(['=', '[']).next().unwrap_or(part);
    let (named, module) = path.split_once("::").unwrap_or((path, "commands"));
    let is_known = match named {
        // The other modules are crates of their own.
        "podinit" => module.starts_with("commands"),
        named => CRATES.contains(&named) || !named.starts_with("podinit"),
    };
    (!is_known).then_some(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_crates_that_log_are_those_that_use_tracing() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
        let mut logging = vec!["podinit".to_owned()];
        for entry in fs::read_dir(&crates).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let manifest = fs::read_to_string(crates.join(&name).join("Cargo.toml")).unwrap();
            let (shipped, _) = manifest.split_once("[dev-dependencies]").unwrap_or((&manifest, ""));
            if shipped.lines().any(|line| line.starts_with("tracing.")) {
                logging.push(format!("podinit_{name}"));
            }
        }
        logging.sort();
        assert_eq!(logging, CRATES);
    }
}
