//! The implementation, as the oracle's options have it run.

use std::io::Cursor;
use std::sync::Arc;

use podinit_core::lifecycle::{CustomMilestone, TimestampMode, TrackerConfig};
use podinit_core::shard::Shard;
use podinit_core::timestamp::Timestamp;
use podinit_decode::DecodeOptions;
use podinit_decode::node::NodeOptions;
use podinit_expo::metrics::{ExpositionFormat, LabelConfig, SeriesLabel, SloDoc};
use podinit_recordings::reader::{Recording, SoFar};
use podinit_recordings::replay::{ExpositionConfig, ReplayConfig};
use podinit_slo::SloFile;

use super::exposition;
use super::figures::Exposition;
use super::instant::Nanos;
use super::reading::{Options, PRESENT, Slo, Timestamps};

/// The implementation's figures: documents as `podinit replay` reads them to the text exposition
/// that it prints, and that read again.
pub(crate) fn figures(documents: &str, options: &Options) -> Exposition {
    figures_of_shard(documents, options, None)
}

/// The same of the pods of one shard.
pub(crate) fn figures_of_shard(
    documents: &str,
    options: &Options,
    shard: Option<Shard>,
) -> Exposition {
    let slos = slos(options);
    let milestones = Arc::new(milestones(options));
    let docs =
        slos.iter().map(|slo| SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds()));
    let config = ExpositionConfig {
        slos: docs.collect(),
        replay: ReplayConfig {
            tracker: TrackerConfig {
                slos: slos.iter().map(|slo| slo.rule.clone()).collect(),
                timestamps: match options.timestamps {
                    Timestamps::Api => TimestampMode::Api,
                    Timestamps::Fused => TimestampMode::Fused,
                },
                backfill: options.backfill.into(),
                events: options.events,
                nodes: options.nodes,
                milestones: Arc::clone(&milestones),
                ..TrackerConfig::default()
            },
            shard,
            until: options.until.map(timestamp),
            ..ReplayConfig::default()
        },
        labels: labels(options),
    };
    let input = Cursor::new(documents.to_owned());
    let decode = DecodeOptions {
        workload: true,
        node: options.nodes,
        nodes: Some(NodeOptions { pool_label: options.pool_label.map(str::to_owned) }),
        ..DecodeOptions::default()
    };
    let decode = decode.with_milestones(&milestones);
    let recording = Recording::from_reader("history", input, decode);
    let recording = recording.following(&SoFar::new(Arc::new(|| timestamp(PRESENT))));
    let replayed = podinit_recordings::replay::expose(recording, config).unwrap();
    let printed = replayed.encode(ExpositionFormat::Text).unwrap();
    exposition::parse(&String::from_utf8(printed).unwrap())
}

/// The milestones of the options, as `--milestone` states them and the implementation reads it.
pub(crate) fn milestones(options: &Options) -> Vec<CustomMilestone> {
    let stated = options.milestones.iter();
    let read =
        stated.map(|own| CustomMilestone::parse(&format!("{}=condition:{}", own.name, own.kind)));
    read.collect::<Result<_, _>>().unwrap()
}

/// The label set of the options.
pub(crate) fn labels(options: &Options) -> LabelConfig {
    let others = options.labels.iter().map(|label| match *label {
        "workload_type" => SeriesLabel::WorkloadType,
        "workload" => SeriesLabel::Workload,
        "nodepool" => SeriesLabel::NodePool,
        "zone" => SeriesLabel::Zone,
        "instance_type" => SeriesLabel::InstanceType,
        "arch" => SeriesLabel::Arch,
        "capacity_type" => SeriesLabel::CapacityType,
        "kubelet_version" => SeriesLabel::KubeletVersion,
        other => panic!("no label: {other}"),
    });
    LabelConfig {
        labels: [SeriesLabel::Namespace].into_iter().chain(others).collect(),
        ..LabelConfig::default()
    }
}

/// The SLOs of the options, as a file states them and the implementation reads it.
pub(crate) fn slos(options: &Options) -> Vec<podinit_slo::Slo> {
    if options.slos.is_empty() {
        return Vec::new();
    }
    let file = Slo::file(&options.slos);
    SloFile::parse("slo.yaml", file.as_bytes()).unwrap().slos
}

fn timestamp(instant: Nanos) -> Timestamp {
    Timestamp::from_nanos(i64::try_from(instant).unwrap())
}
