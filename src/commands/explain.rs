//! The command `explain`: from a cluster, from recordings or from a running exporter.

use std::io;

use super::output::{print, style};
use super::source::{PodSource, SourceQuestion};
use crate::args::{ExplainArgs, ExplainFormat};
use podinit_core::lifecycle::{Backfill, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_oncall::page;
use podinit_oncall::pods::PodQuestion;

/// Explains one startup, or lists the worst. If the source cannot be read, or has no such startup, nothing is printed.
pub(super) async fn explain(args: &ExplainArgs) -> anyhow::Result<()> {
    let target = args.target();
    let kubeconfig = args.connection.kubeconfig.as_ref();
    let kubeconfig = kubeconfig.and_then(|path| path.to_str());
    let question = match &args.name {
        None => PodQuestion::Worst(target.clone()),
        Some(_) => PodQuestion::Startup(target.clone()),
    };
    let mut source = PodSource::open(asked(args, question)).await?;
    let text = if args.name.is_none() {
        let worst = source.answer(|pods| pods.worst(&target)).await?.about_cluster(kubeconfig);
        match args.output {
            ExplainFormat::Json => worst.to_json()?,
            _ => worst.to_table(style().colour),
        }
    } else {
        let explained = source.answer(|pods| pods.explanation(&target)).await?;
        let explanation = explained
            .map_err(|why| anyhow::anyhow!(why.sentence(&target, || source.unknown(&target))))?;
        let of_cluster = kubeconfig.filter(|_| matches!(source, PodSource::Cluster(_)));
        let explanation = explanation.about_cluster(of_cluster);
        match args.output {
            ExplainFormat::Text => explanation.to_text(style()),
            ExplainFormat::Json => explanation.to_json()?,
            ExplainFormat::Trace => explanation.to_trace()?,
            ExplainFormat::Html => page::pod_page(&explanation, None, None)?,
        }
    };
    print(text.as_bytes(), &mut io::stdout().lock())
}

fn asked(args: &ExplainArgs, question: PodQuestion) -> SourceQuestion<'_> {
    SourceQuestion {
        exporter: args.exporter(),
        namespaces: args.target().namespace.into_iter().collect(),
        question,
        recorded: &args.recorded,
        connection: &args.connection,
        selectors: &args.selectors,
        evidence: args.evidence,
        nodes: &args.nodes,
        tracker: TrackerConfig {
            timestamps: args.recorded.timestamps,
            // The pods of the first list are explained from their conditions.
            backfill: Backfill::All,
            events: args.evidence.events(),
            nodes: args.evidence.nodes(),
            milestones: args.recorded.milestones.milestones(),
            ..TrackerConfig::default()
        },
        decode: DecodeOptions { probes: true, ..DecodeOptions::of_records() }
            .with_claims()
            .with_milestones(&args.recorded.milestones.milestones()),
    }
}
