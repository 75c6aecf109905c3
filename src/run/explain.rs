//! The command `explain`.

use std::io::Write;

use super::output::{print, style};
use super::recordings::documents;
use crate::args::{ExplainArgs, ExplainFormat};
use crate::decode::DecodeOptions;
use crate::explain;
use crate::lifecycle::{Backfill, TrackerConfig};
use crate::page;
use crate::recordings::replay::ReplayConfig;

/// Explains one startup. If a recording cannot be read, or has no such startup, nothing is printed.
pub(super) fn explain(args: &ExplainArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let options = DecodeOptions {
        node: true,
        workload: true,
        probes: true,
        ..DecodeOptions::default()
    };
    let config = ReplayConfig {
        tracker: TrackerConfig {
            timestamps: args.timestamps,
            // The pods of the first list are explained from their conditions.
            backfill: Backfill::All,
            events: args.evidence.events(),
            ..TrackerConfig::default()
        },
        shard: None,
        until: None,
    };
    let target = args.target();
    let documents = documents(args.files.clone(), options);
    let Some(explanation) = explain::explain(documents, config, &target)? else {
        anyhow::bail!(
            "the recording has no startup of {target}; name the namespace with --namespace, and the pod as \
             `kubectl get pods` does"
        );
    };
    let text = match args.output {
        ExplainFormat::Text => explanation.to_text(style()),
        ExplainFormat::Json => explanation.to_json()?,
        ExplainFormat::Trace => explanation.to_trace()?,
        ExplainFormat::Html => page::pod_page(&explanation, None)?,
    };
    print(text.as_bytes(), out)
}
