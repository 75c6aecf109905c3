//! The command `explain`: from a cluster, from recordings or from a running exporter.

mod cluster;
mod exporter;

use std::io::Write;

use super::output::{print, style};
use super::reports::{recorded, warn_of_clocks};
use crate::args::{ExplainArgs, ExplainFormat};
use crate::inspect::explain::{self, Explanation, Worst};
use crate::inspect::page;
use crate::reports::reader::{ClockAhead, SoFar};
use crate::reports::replay::ReplayConfig;
use podinit_core::lifecycle::{Backfill, TrackerConfig};
use podinit_decode::DecodeOptions;

/// Explains one startup. If the source cannot be read, or has no such startup, nothing is printed.
pub(super) fn explain(args: &ExplainArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let kubeconfig = args.connection.kubeconfig.as_ref();
    let kubeconfig = kubeconfig.and_then(|path| path.to_str());
    if args.name.is_none() {
        let worst = worst(args)?.about_cluster(kubeconfig);
        let text = match args.output {
            ExplainFormat::Json => worst.to_json()?,
            _ => worst.to_table(style().colour),
        };
        return print(text.as_bytes(), out);
    }
    let explanation = match args.exporter() {
        Some(exporter) => super::block_on(exporter::explain(&exporter, &args.target()))?,
        None if args.recorded.files.is_empty() => {
            super::block_on(cluster::explain(args))?.about_cluster(kubeconfig)
        }
        None => from_recordings(args)?,
    };
    let text = match args.output {
        ExplainFormat::Text => explanation.to_text(style()),
        ExplainFormat::Json => explanation.to_json()?,
        ExplainFormat::Trace => explanation.to_trace()?,
        ExplainFormat::Html => page::pod_page(&explanation, None)?,
    };
    print(text.as_bytes(), out)
}

/// The worst startups of the source.
fn worst(args: &ExplainArgs) -> anyhow::Result<Worst> {
    if let Some(exporter) = args.exporter() {
        return super::block_on(exporter::worst(&exporter, &args.target()));
    }
    if args.recorded.files.is_empty() {
        return super::block_on(cluster::worst(args));
    }
    let so_far = SoFar::default();
    let documents = recorded(&args.recorded, decode_options(), &so_far);
    let found = Worst::of_documents(documents, replay_config(args), &args.target())?;
    let clocks_ahead = so_far.clocks_ahead();
    warn_of_clocks(&clocks_ahead);
    Ok(Worst { clocks_ahead, ..found })
}

fn from_recordings(args: &ExplainArgs) -> anyhow::Result<Explanation> {
    let target = args.target();
    let so_far = SoFar::default();
    let documents = recorded(&args.recorded, decode_options(), &so_far);
    let explained = explain::explain(documents, replay_config(args), &target)?;
    let clocks_ahead = so_far.clocks_ahead();
    warn_of_clocks(&clocks_ahead);
    let explained = explained.map(|mut explanation| {
        explanation.doubts.extend(ClockAhead::line(&clocks_ahead));
        explanation
    });
    explained.map_err(|why| {
        let unknown = || {
            format!(
                "the recording has no startup of {target}; name the namespace with --namespace, and the pod \
                 as `kubectl get pods` does"
            )
        };
        anyhow::anyhow!(why.sentence(&target, unknown))
    })
}

fn decode_options() -> DecodeOptions {
    DecodeOptions {
        node: true,
        workload: true,
        probes: true,
        images: true,
        messages: true,
        endings: true,
        ..DecodeOptions::default()
    }
}

fn replay_config(args: &ExplainArgs) -> ReplayConfig {
    ReplayConfig { tracker: tracker_config(args), shard: None, until: None }
}

fn tracker_config(args: &ExplainArgs) -> TrackerConfig {
    TrackerConfig {
        timestamps: args.recorded.timestamps,
        // The pods of the first list are explained from their conditions.
        backfill: Backfill::All,
        events: args.evidence.events(),
        nodes: args.evidence.nodes(),
        ..TrackerConfig::default()
    }
}
