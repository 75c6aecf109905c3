//! `replay` (and, from the same input, `report`).

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::labels::{decode_options, label_config};
use crate::args::{RecordingArgs, ReplayArgs, ReplayFormat};
use crate::lifecycle::tracker::TrackerConfig;
use crate::metrics::Format;
use crate::recording::{Document, Recording, RecordingError};
use crate::replay::{self, ExpositionConfig, ReplayConfig};
use crate::watch::decode::DecodeOptions;

/// Runs recordings through the pipeline and prints the final exposition. Nothing is printed unless
/// all of them can be read.
pub(super) fn replay(args: &ReplayArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let config = ExpositionConfig {
        replay: replay_config(&args.recording),
        labels: label_config(&args.labels),
        slos: Vec::new(),
    };
    let format = match args.format {
        ReplayFormat::Text => Format::Text,
        ReplayFormat::OpenMetrics => Format::OpenMetrics,
        ReplayFormat::Json => Format::Json,
    };
    let documents = documents(args.recording.files.clone(), decode_options(&args.labels));
    let exposition = replay::expose(documents, config, format)?;
    print(&exposition, out)
}

fn replay_config(args: &RecordingArgs) -> ReplayConfig {
    ReplayConfig {
        tracker: TrackerConfig {
            timestamps: args.timestamps,
            backfill: args.backfill,
            ..TrackerConfig::default()
        },
        until: args.until,
    }
}

/// The documents of all files, one file after the other.
fn documents(
    files: Vec<PathBuf>,
    options: DecodeOptions,
) -> impl Iterator<Item = Result<Document, RecordingError>> {
    files.into_iter().flat_map(move |file| {
        let (recording, failure) = match Recording::open(&file, options.clone()) {
            Ok(recording) => (Some(recording), None),
            Err(error) => (None, Some(Err(error))),
        };
        failure.into_iter().chain(recording.into_iter().flatten())
    })
}

/// A reader that goes away early (`| head`) has had what it wanted.
fn print(text: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
