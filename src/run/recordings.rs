//! The commands `replay` and `report`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::output::{print, style};
use super::progress::WithProgressBar;
use super::slos::Slos;
use crate::args::{Evidence, RecordingArgs, ReplayArgs, ReplayFormat, ReportArgs, ReportFormat};
use crate::decode::DecodeOptions;
use crate::instruments::Format;
use crate::lifecycle::TrackerConfig;
use crate::recordings::reader::{Document, Recording, RecordingError};
use crate::recordings::replay::{self, ExpositionConfig, ReplayConfig};
use crate::recordings::report;
use crate::slo::SloFile;

/// Replays recordings and prints the metrics at their end. If one of them cannot be read, nothing is
/// printed.
pub(super) fn replay(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let slos = match &args.slo {
        Some(file) => Slos::from(&SloFile::read(file)?),
        None => Slos::default(),
    };
    let labels = args.labels.config();
    let mut options = labels.decode_options();
    options.workload |= slos.need_workload();
    let mut replay = replay_config(&args.recording, args.evidence);
    replay.tracker.slos = slos.rules;
    replay.tracker.stuck_after = slos.stuck_after;
    let config = ExpositionConfig {
        replay,
        labels,
        slos: slos.docs,
    };
    let documents = documents(args.recording.files.clone(), options);
    let exposition = replay::expose(documents, config)?;
    let text = match args.format {
        ReplayFormat::Text => exposition.encode(Format::Text)?,
        ReplayFormat::OpenMetrics => exposition.encode(Format::OpenMetrics)?,
        ReplayFormat::Json => exposition.encode_json()?,
    };
    print(&text, out)
}

/// Prints a summary of recordings. If one of them cannot be read, nothing is printed.
pub(super) fn report(args: &ReportArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let shows_pods = matches!(
        args.format,
        ReportFormat::Csv | ReportFormat::Trace | ReportFormat::Html
    );
    let options = DecodeOptions {
        workload: true,
        probes: true,
        node: shows_pods,
        images: shows_pods,
        ..DecodeOptions::default()
    };
    let documents = documents(args.recording.files.clone(), options);
    let config = replay_config(&args.recording, args.evidence);
    let summary = |documents, config| report::summarize(documents, config, args.top);
    let detail = |documents, config| report::detail(documents, config, args.top);
    let text = match args.format {
        ReportFormat::Text => summary(documents, config)?.to_text(style()).into(),
        ReportFormat::Json => summary(documents, config)?.to_json()?.into(),
        ReportFormat::Markdown => summary(documents, config)?.to_markdown().into(),
        ReportFormat::Csv => detail(documents, config)?.to_csv()?,
        ReportFormat::Trace => detail(documents, config)?.to_trace()?.into(),
        ReportFormat::Html => detail(documents, config)?.to_html()?.into(),
    };
    if RecordingArgs::is_standard_stream(&args.output) {
        return print(&text, out);
    }
    let file = args.output.display();
    std::fs::write(&args.output, text).with_context(|| format!("cannot write {file}"))
}

fn replay_config(args: &RecordingArgs, evidence: Evidence) -> ReplayConfig {
    ReplayConfig {
        tracker: TrackerConfig {
            timestamps: args.timestamps,
            backfill: args.backfill.into(),
            events: evidence.events(),
            ..TrackerConfig::default()
        },
        shard: args.sharding.shard,
        until: args.until,
    }
}

/// The documents of all files, in order, with a progress bar for each that takes long.
pub(super) fn documents(
    files: Vec<PathBuf>,
    options: DecodeOptions,
) -> impl Iterator<Item = Result<Document, RecordingError>> {
    files.into_iter().flat_map(move |file| {
        let (recording, failure) = match Recording::open(&file, options.clone()) {
            Ok(recording) => (Some(recording), None),
            Err(error) => (None, Some(Err(error))),
        };
        let documents = recording.into_iter().flat_map(WithProgressBar::new);
        failure.into_iter().chain(documents)
    })
}
