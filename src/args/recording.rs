//! How recordings are read, by every command that reads them, and the options of `replay`.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::cluster::{Evidence, NodeArgs, ShardArgs};
use super::labels::LabelArgs;
use super::logging::LogArgs;
use super::milestones::MilestoneArgs;
use podinit_core::lifecycle::TimestampMode;
use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;
use podinit_oncall::pods::AsOf;

/// `podinit replay`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  kubectl get pods -A -o json | podinit replay --backfill -
  kubectl get pods -A -w -o json --output-watch-events > events.json
  kubectl get pods,events -A -o json | podinit replay --backfill --evidence events -
  podinit replay -o openmetrics list.json events.json.gz")]
pub struct ReplayArgs {
    /// How the recording is read
    #[command(flatten)]
    pub recording: RecordingArgs,

    /// Recordings, read one after the other: pods, Events, lists and watch events as JSON or YAML, also
    /// compressed with gzip; - is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Format of the exposition on standard output
    #[arg(long, short = 'o', alias = "format", value_name = "FORMAT", default_value = "text")]
    pub output: ReplayFormat,

    /// What is evidence beside pods: the Events in the recording, the nodes in it, both, or nothing
    #[arg(long, value_name = "SOURCE", default_value = "none")]
    pub evidence: Evidence,

    /// SLO file [default: no SLOs]
    #[arg(long = "slo", value_name = "FILE")]
    pub slo: Option<PathBuf>,

    /// The label set of the duration series
    #[command(flatten)]
    pub labels: LabelArgs,
    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

impl ReplayArgs {
    /// Checks the options together.
    ///
    /// # Errors
    /// One line, if there is no recording, standard input would be read twice, or options do not fit together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.files.is_empty() {
            return Err("name a recording: a file, or - for standard input".to_owned());
        }
        self.labels.check(self.evidence)?;
        self.recording.milestones.check()?;
        RecordingArgs::check_files(&self.files)
    }
}

/// The format in which `replay` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    /// Prometheus text 0.0.4
    Text,
    /// OpenMetrics text 1.0
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// JSON
    Json,
}

/// A recording to look at in the place of a cluster, or nothing.
#[derive(Args, Clone, Debug)]
pub struct RecordedArgs {
    /// Recording to look at; may be repeated, - is standard input [default: list the pods of the cluster]
    #[arg(long = "file", short = 'f', value_name = "FILE", conflicts_with = "url")]
    pub files: Vec<PathBuf>,

    /// Take all lists before the first watch event for one list: files of one moment, such as one for each
    /// namespace
    #[arg(long)]
    pub same_moment: bool,

    /// Timestamps to measure with: api (whole seconds, as the Kubernetes API states them) or fused
    /// (refined by the recorded arrival times of watch events)
    #[arg(long, value_name = "MODE", default_value_t = TimestampMode::Api)]
    pub timestamps: TimestampMode,

    /// As of when a lone list is answered: now, newest (the newest time in it) or an instant (RFC 3339).
    /// Without it, a list on standard input of the last day is of now, and any other of its newest time
    #[arg(long, value_name = "TIME", value_parser = parse_as_of)]
    pub as_of: Option<AsOfArg>,

    #[command(flatten)]
    pub milestones: MilestoneArgs,
}

/// An instant, as it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsOfArg(pub AsOf);

impl fmt::Display for AsOfArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            AsOf::Now => f.write_str("now"),
            AsOf::Newest => f.write_str("newest"),
            AsOf::At(at) => f.write_str(&rfc3339::format(at)),
        }
    }
}

fn parse_as_of(text: &str) -> Result<AsOfArg, String> {
    Ok(AsOfArg(match text {
        "now" => AsOf::Now,
        "newest" => AsOf::Newest,
        text => AsOf::At(parse_instant(text).map_err(|why| format!("{why}, now or newest"))?),
    }))
}

impl RecordedArgs {
    /// Checks the options together.
    ///
    /// # Errors
    /// One line, if standard input would be read twice, or the milestones cannot be.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.as_of.is_some() && self.files.is_empty() {
            return Err("--as-of goes with --file: a cluster and an exporter are of now".to_owned());
        }
        self.milestones.check()?;
        RecordingArgs::check_files(&self.files)
    }
}

/// A recording and how it is read.
#[derive(Args, Clone, Debug)]
pub struct RecordingArgs {
    /// Timestamps to measure with: api (whole seconds, as the Kubernetes API states them) or fused
    /// (refined by the recorded arrival times of watch events)
    #[arg(long, value_name = "MODE", default_value_t = TimestampMode::Api)]
    pub timestamps: TimestampMode,

    /// Observe the pods of the first list as if they had been watched. report does so with a lone list, and sets
    /// aside pods whose times are lost
    #[arg(long)]
    pub backfill: bool,

    /// Take all lists before the first watch event for one list: files of one moment, such as one for each
    /// namespace. report does so with lists of different namespaces
    #[arg(long)]
    pub same_moment: bool,

    /// Stop at the first document later than this instant (RFC 3339), and move time there
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub until: Option<Timestamp>,

    /// Which of the pods
    #[command(flatten)]
    pub sharding: ShardArgs,

    #[command(flatten)]
    pub nodes: NodeArgs,

    #[command(flatten)]
    pub milestones: MilestoneArgs,
}

impl RecordingArgs {
    /// Whether `file` means standard input or output.
    pub fn is_standard_stream(file: &Path) -> bool {
        file.as_os_str() == OsStr::new("-")
    }

    /// Whether an option chooses pods or moments of a recording.
    pub(super) const fn is_any(&self) -> bool {
        self.backfill || self.same_moment || self.until.is_some() || self.sharding.shard.is_some()
    }

    /// Checks the files together.
    ///
    /// # Errors
    /// One line, if standard input would be read twice.
    pub(super) fn check_files(files: &[PathBuf]) -> Result<(), String> {
        let inputs = files.iter().filter(|file| Self::is_standard_stream(file));
        if inputs.count() > 1 {
            return Err("standard input (-) can be read only once".to_owned());
        }
        Ok(())
    }
}

fn parse_instant(text: &str) -> Result<Timestamp, String> {
    let instant: jiff::Timestamp =
        text.parse().map_err(|_| "expected a time such as 2026-01-31T12:00:00Z".to_owned())?;
    let nanos = instant.as_nanosecond();
    // Instants beyond the range of `Timestamp` saturate.
    let nanos = i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX });
    Ok(Timestamp::from_nanos(nanos))
}
