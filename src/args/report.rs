//! The options of `report`.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Arg, Args, Command, Error, ValueEnum};
use http::Uri;

use super::cluster::Evidence;
use super::exporter_client::{EXPORTER_URL, ExporterClientArgs, begins_as_url};
use super::logging::LogArgs;
use super::recording::RecordingArgs;
use podinit_connect::options::ServerOptions;
use podinit_reports::comparison::{Threshold, percent_of};

/// The command.
pub(super) const NAME: &str = "report";

/// `podinit report`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  kubectl get pods -A -o json | podinit report -
  podinit report -o markdown --top 20 events.json.gz
  podinit report -o html --output-file report.html pods.json events.json
  podinit report --baseline before.json.gz --fail-on 'network:p99>+20%' after.json.gz
  podinit report --baseline before.json.gz --url http://localhost:8080")]
pub struct ReportArgs {
    /// How recordings are read
    #[command(flatten)]
    pub recording: RecordingArgs,

    /// Recordings, read one after the other: pods, Events, lists and watch events as JSON or YAML, also
    /// compressed with gzip; - is standard input
    #[arg(conflicts_with = "url", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Report on the startups that a running exporter has kept, such as http://localhost:8080. These are the
    /// newest 1,000, the pods in flight, and by name the slowest of the last hour. Repeat it for shards
    #[arg(long, value_name = "URL", value_parser = EXPORTER_URL)]
    url: Vec<Uri>,

    #[command(flatten)]
    exporter: ExporterClientArgs,

    /// Compare with this recording or running exporter, from before a change; may be repeated, for a recording
    /// in several files and for shards
    #[arg(long, value_name = "FILE|URL", value_parser = OriginParser)]
    baseline: Vec<BaselineOrigin>,

    /// By how much a median or 90th percentile has to differ to have moved, in percent of its value before. At
    /// least 2s with --timestamps api and 100ms with fused
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "5%",
        value_parser = parse_percent,
        requires = "baseline"
    )]
    pub margin: f64,

    /// End with status 3 if a quantile (p50, p90, p99) has grown by more, as network:p99>+20% or
    /// created_to_ready:p50>+2s; may be repeated. not_started>+5% is about the share of pods that do not start, in
    /// percentage points. Without a rule for it, status 3 is for a significant growth of that share
    #[arg(long, value_name = "RULE", requires = "baseline")]
    pub fail_on: Vec<Threshold>,

    /// End with status 4 if an interval of --fail-on is unclear
    #[arg(long, requires = "fail_on")]
    pub strict: bool,

    /// Format of the report
    #[arg(long, short = 'o', alias = "format", value_name = "FORMAT", default_value = "text")]
    pub output: ReportFormat,

    /// What is evidence beside pods: the Events in the recording, the nodes in it, both, or nothing
    #[arg(long, value_name = "SOURCE", default_value = "events,nodes")]
    pub evidence: Evidence,

    /// File for the report; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub output_file: PathBuf,

    /// How many of the slowest pods to list, and of the workloads whose probes should be changed
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    pub top: usize,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// What is reported on, or one side of a comparison.
#[derive(Clone, Debug)]
pub enum ReportSource {
    /// A recording in these files
    Recording(Vec<PathBuf>),
    /// These running exporters
    Exporters(Vec<ServerOptions>),
}

/// A value of `--baseline`.
#[derive(Clone, Debug)]
enum BaselineOrigin {
    File(PathBuf),
    Exporter(Uri),
}

/// Parses a value of `--baseline`: what begins as a URL of HTTP is one.
#[derive(Clone, Copy, Debug)]
struct OriginParser;

impl TypedValueParser for OriginParser {
    type Value = BaselineOrigin;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<BaselineOrigin, Error> {
        match begins_as_url(&value.to_string_lossy()) {
            true => Ok(BaselineOrigin::Exporter(EXPORTER_URL.parse_ref(command, argument, value)?)),
            false => Ok(BaselineOrigin::File(value.into())),
        }
    }
}

impl ReportArgs {
    /// What is reported on; of a comparison, the side after.
    pub fn source(&self) -> ReportSource {
        match self.url.is_empty() {
            true => ReportSource::Recording(self.files.clone()),
            false => ReportSource::Exporters(self.servers(self.url.iter())),
        }
    }

    /// The side before, if there is to be a comparison.
    pub fn baseline(&self) -> Option<ReportSource> {
        let files: Vec<PathBuf> = self.baseline_files().cloned().collect();
        match (self.baseline.is_empty(), files.is_empty()) {
            (true, _) => None,
            (false, false) => Some(ReportSource::Recording(files)),
            (false, true) => Some(ReportSource::Exporters(self.servers(self.baseline_urls()))),
        }
    }

    fn baseline_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.baseline.iter().filter_map(|origin| match origin {
            BaselineOrigin::File(file) => Some(file),
            BaselineOrigin::Exporter(_) => None,
        })
    }

    fn baseline_urls(&self) -> impl Iterator<Item = &Uri> {
        self.baseline.iter().filter_map(|origin| match origin {
            BaselineOrigin::File(_) => None,
            BaselineOrigin::Exporter(url) => Some(url),
        })
    }

    fn servers<'a>(&self, urls: impl Iterator<Item = &'a Uri>) -> Vec<ServerOptions> {
        let first = self.urls().next();
        urls.map(|url| self.exporter.server(url, first.unwrap_or(url))).collect()
    }

    /// All URLs, the first one first.
    fn urls(&self) -> impl Iterator<Item = &Uri> {
        self.url.iter().chain(self.baseline_urls())
    }

    fn check_exporters(&self) -> Result<(), String> {
        self.exporter.check(&self.urls().collect::<Vec<_>>())?;
        if self.baseline_urls().next().is_some() && self.baseline_files().next().is_some() {
            return Err(
                "--baseline takes files or URLs, not both: a side is one recording, or the shards of one \
                 exporter"
                    .to_owned(),
            );
        }
        let reads_files = !self.files.is_empty() || self.baseline_files().next().is_some();
        if !reads_files && self.recording.is_any() {
            return Err(
                "--backfill, --same-moment, --until and --shard go with recordings only: an exporter has \
                 chosen its pods"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// That rules name milestones that are configured. What an exporter has followed its records say.
    fn check_rules(&self) -> Result<(), String> {
        if self.urls().next().is_some() {
            return Ok(());
        }
        let milestones = self.recording.milestones.milestones();
        let rules = self.fail_on.iter().filter_map(|rule| Some((rule, rule.milestone()?)));
        for (rule, name) in rules {
            if milestones.iter().all(|one| one.name != *name) {
                return Err(format!("--fail-on {rule}: {}", Threshold::unknown_milestone(name)));
            }
        }
        Ok(())
    }

    /// Checks the options together.
    ///
    /// # Errors
    /// One line, if standard input would be read twice, the format shows no comparison, or options of exporters
    /// and recordings do not fit together.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.files.is_empty() && self.url.is_empty() {
            return Err("name a recording: a file, or - for standard input; or name a running exporter with --url"
                .to_owned());
        }
        self.check_exporters()?;
        let files: Vec<PathBuf> = self.baseline_files().chain(&self.files).cloned().collect();
        self.recording.milestones.check()?;
        RecordingArgs::check_files(&files)?;
        self.check_rules()?;
        match self.output {
            ReportFormat::Csv | ReportFormat::Trace if !self.baseline.is_empty() => {
                Err("csv and trace show no comparison: use --output text, markdown, json or html"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    percent_of(number).ok_or_else(|| "expected a percentage such as 5%".to_owned())
}

/// The format in which `report` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For a terminal
    Text,
    /// For programs
    Json,
    /// For issues and wikis
    Markdown,
    /// A row for each pod (RFC 4180)
    Csv,
    /// A trace for Perfetto and Chrome: nodes, pods, stages
    Trace,
    /// One file for browsers: findings, charts and tables
    Html,
}
