//! The commands `replay` and `report`. `report --url` asks running exporters for the records that they have kept.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::output::{buffered, print_data, print_data_with, print_with, style};
use super::progress::WithProgressBar;
use crate::args::{
    Evidence, RecordingArgs, ReplayArgs, ReplayFormat, ReportArgs, ReportFormat, ReportSource,
};
use podinit_connect::options::ServerOptions;
use podinit_core::lifecycle::TrackerConfig;
use podinit_decode::DecodeOptions;
use podinit_exporter::slos::ExporterSlos;
use podinit_instruments::ExpositionFormat;
use podinit_oncall::api::client::ApiClient;
use podinit_oncall::pods::kept_records;
use podinit_recordings::ExporterRecords;
use podinit_recordings::reader::{
    ClockAhead, Recording, RecordingDocument, RecordingError, RecordingFault, SoFar,
};
use podinit_recordings::replay::{self, ExpositionConfig, ReplayConfig};
use podinit_reports::report::{self, DetailedReport};
use podinit_slo::SloFile;
use podinit_slo::file::AvailableEvidence;
use podinit_text::strangers_text::{escaped_json, shown};

/// Replays recordings and prints the metrics at their end. If one of them cannot be read, nothing is
/// printed.
pub(super) fn replay(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let milestones = args.recording.milestones.milestones();
    let available = AvailableEvidence {
        sources: args.evidence.into(),
        milestones: Some(Arc::clone(&milestones)),
    };
    let slos = match &args.slo {
        Some(file) => ExporterSlos::from(&SloFile::read(file, available)?),
        None => ExporterSlos::default(),
    };
    let labels = args.labels.config();
    let mut options = labels.decode_options();
    options = options.with_milestones(&milestones);
    options.workload |= slos.need_workload() || args.evidence.nodes();
    options.node |= args.evidence.nodes();
    options.nodes = Some(args.recording.nodes.options());
    let mut replay = replay_config(&args.recording, args.evidence);
    replay.tracker.slos = slos.rules;
    replay.tracker.stuck_after = slos.stuck_after;
    let config = ExpositionConfig { replay, labels, slos: slos.docs };
    let so_far = SoFar::default();
    let documents = documents(&args.files, options, &so_far);
    let exposition = replay::expose(documents, config)?;
    warn_of_clocks(&so_far.clocks_ahead());
    let text = match args.output {
        ReplayFormat::Text => exposition.encode(ExpositionFormat::Text)?,
        ReplayFormat::OpenMetrics => exposition.encode(ExpositionFormat::OpenMetrics)?,
        ReplayFormat::Json => {
            let json = exposition.encode_json()?;
            escaped_json(&String::from_utf8_lossy(&json)).into_owned().into()
        }
    };
    print_data(text, out)
}

/// Prints a summary of a recording, or of what exporters have kept. If one of them cannot be read, or nothing is in any
/// file, nothing is printed.
pub(super) fn report(args: &ReportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let found = match args.source() {
        ReportSource::Recording(files) => of_recording(args, &files)?,
        ReportSource::Exporters(servers) => {
            let kept = super::block_on(kept_of(&servers))?;
            report::of_records(kept, args.top)
        }
    };
    let text = match args.output {
        ReportFormat::Text => found.summary.to_text(style()),
        ReportFormat::Json => found.summary.to_json()?,
        ReportFormat::Markdown => found.summary.to_markdown(),
        ReportFormat::Html => found.to_html()?,
        // As texts these would take far more memory than the pods.
        ReportFormat::Csv if is_printed(args) => {
            return print_data_with(|to| found.write_csv(to), out);
        }
        ReportFormat::Csv => return write(args, |to| found.write_csv(to), out),
        ReportFormat::Trace => return write(args, |to| found.write_trace(to), out),
    };
    write(args, |to| to.write_all(text.as_bytes()), out)
}

fn of_recording(args: &ReportArgs, files: &[PathBuf]) -> anyhow::Result<DetailedReport> {
    let shows_pods =
        matches!(args.output, ReportFormat::Csv | ReportFormat::Trace | ReportFormat::Html);
    let (mut found, clocks) =
        read(args, files, options(args), |documents, config| match shows_pods {
            true => report::detail(documents, config, args.top),
            // Without the single pods, which take memory.
            false => {
                report::summarize(documents, config, args.top).map(DetailedReport::without_pods)
            }
        })?;
    found.summary.clocks_ahead = clocks;
    Ok(found)
}

/// What is read of a recording for a report.
pub(super) fn options(args: &ReportArgs) -> DecodeOptions {
    DecodeOptions::of_report(args.recording.nodes.options())
        .with_milestones(&args.recording.milestones.milestones())
}

/// What `read` makes of the documents of all files, of a report or of one side of a comparison, and the clocks that
/// are ahead.
///
/// # Errors
/// If one of the files cannot be read, or nothing is in any.
pub(super) fn read<T>(
    args: &ReportArgs,
    files: &[PathBuf],
    options: DecodeOptions,
    read: impl FnOnce(&mut RecordingDocuments<'_>, ReplayConfig) -> Result<T, RecordingError>,
) -> anyhow::Result<(T, Vec<ClockAhead>)> {
    let is_empty = Cell::new(true);
    let so_far = SoFar::default();
    let documents = documents(files, options, &so_far);
    let mut documents = documents.inspect(|_| is_empty.set(false));
    let found = read(&mut documents, replay_config(&args.recording, args.evidence))?;
    let clocks = so_far.clocks_ahead();
    warn_of_clocks(&clocks);
    match is_empty.get() {
        true => Err(nothing_in(files).into()),
        false => Ok((found, clocks)),
    }
}

/// The documents of recordings, in order.
type RecordingDocuments<'a> = dyn Iterator<Item = Result<RecordingDocument, RecordingError>> + 'a;

/// Writes a report to where `--output-file` says.
pub(super) fn write(
    args: &ReportArgs,
    report: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if is_printed(args) {
        return print_with(report, out);
    }
    let file = args.output_file.display();
    let written = File::create(&args.output_file).and_then(|file| buffered(report, file));
    written.with_context(|| format!("cannot write {file}"))
}

fn is_printed(args: &ReportArgs) -> bool {
    RecordingArgs::is_standard_stream(&args.output_file)
}

/// Where files have no documents, a table of dashes would look like a measurement.
fn nothing_in(files: &[PathBuf]) -> RecordingError {
    let names = files.iter().map(|file| file.display().to_string());
    RecordingError {
        name: names.collect::<Vec<_>>().join(", "),
        position: None,
        fault: RecordingFault::Empty,
    }
}

fn replay_config(args: &RecordingArgs, evidence: Evidence) -> ReplayConfig {
    ReplayConfig {
        tracker: TrackerConfig {
            timestamps: args.timestamps,
            backfill: args.backfill.into(),
            events: evidence.events(),
            nodes: evidence.nodes(),
            milestones: args.milestones.milestones(),
            ..TrackerConfig::default()
        },
        shard: args.sharding.shard,
        until: args.until,
        same_moment: args.same_moment,
        ..ReplayConfig::default()
    }
}

/// Says which clocks are ahead, once a recording was read.
pub(super) fn warn_of_clocks(clocks: &[ClockAhead]) {
    if let Some(line) = ClockAhead::line(clocks) {
        tracing::warn!("{}", shown(&line));
    }
}

/// The documents of all files. `so_far` is what they say on the way.
pub(super) fn documents(
    files: &[PathBuf],
    options: DecodeOptions,
    so_far: &SoFar,
) -> impl Iterator<Item = Result<RecordingDocument, RecordingError>> + use<> {
    // In order, with a progress bar for each that takes long.
    let (files, so_far) = (files.to_vec(), so_far.clone());
    files.into_iter().flat_map(move |file| {
        let (recording, failure) = match Recording::open(&file, options.clone()) {
            Ok(recording) => (Some(recording.following(&so_far)), None),
            Err(error) => (None, Some(Err(error))),
        };
        let documents = recording.into_iter().flat_map(WithProgressBar::new);
        failure.into_iter().chain(documents)
    })
}

/// What these exporters have kept.
///
/// # Errors
/// If one of them gives no answer that can be used.
pub(super) async fn kept_of(servers: &[ServerOptions]) -> anyhow::Result<ExporterRecords> {
    let mut exporters = Vec::new();
    for server in servers {
        exporters.push(ApiClient::new(server).await?);
    }
    Ok(kept_records(&exporters).await?)
}
