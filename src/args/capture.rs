//! The options of `capture`.

use std::ffi::OsStr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::cluster::{ConnectionArgs, Evidence, SelectorArgs, parse_namespace};
use super::exporter::parse_duration_above_zero;
use super::logging::LogArgs;

/// `podinit capture`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit capture --output-dir /var/tmp --duration 1h
  podinit capture --namespace shop --anonymize
  podinit capture --until-ready 300 --for 15m
  podinit capture --output-dir - --duration 30s > recording.json
  podinit report /var/tmp/podinit-*.json.gz")]
pub struct CaptureArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Namespace to record [default: all]
    #[arg(long, short = 'n', value_name = "NAME", value_parser = parse_namespace)]
    pub namespace: Option<String>,

    #[command(flatten)]
    pub selectors: SelectorArgs,

    /// What to record beside pods: the Events about them, nodes, both, or nothing
    #[arg(long, value_name = "SOURCE", default_value = "events")]
    pub evidence: Evidence,

    /// Directory for the files of the recording, made if it is not there; - is standard output
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub output_dir: PathBuf,

    /// Compression [default: gzip for files, none for standard output]
    #[arg(long, value_name = "FORMAT")]
    pub compress: Option<Compress>,

    /// Begin a new file after this many MiB
    #[arg(long, value_name = "MIB", default_value = "256")]
    pub rotate_size: NonZeroU64,

    /// How many files of this recording to keep; older ones are removed
    #[arg(long, value_name = "NUMBER", default_value = "10")]
    pub keep_files: NonZeroUsize,

    /// End after this time, such as 90s or 1h30m [default: when interrupted]
    #[arg(
        long,
        visible_alias = "for",
        value_name = "TIME",
        value_parser = parse_duration_above_zero
    )]
    pub duration: Option<Duration>,

    /// End after this many startups of the recording have become Ready; with --duration, whichever comes first
    #[arg(long, value_name = "STARTUPS")]
    pub until_ready: Option<NonZeroU64>,

    /// Replace names, labels, UIDs, images and unknown words by keyed hashes, and leave out what
    /// podinit does not read
    #[arg(long)]
    pub anonymize: bool,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// How a recording is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compress {
    /// gzip
    Gzip,
    /// Not at all
    None,
}

impl CaptureArgs {
    /// Whether the recording goes to standard output.
    pub fn to_standard_output(&self) -> bool {
        self.output_dir.as_os_str() == OsStr::new("-")
    }

    /// Whether the recording is compressed.
    pub fn compresses(&self) -> bool {
        match self.compress {
            Some(compress) => compress == Compress::Gzip,
            None => !self.to_standard_output(),
        }
    }
}
