//! `podinit stuck`: the stuck pods of a recording, an exporter or a cluster, once or again and again.

use std::process::ExitCode;

use super::output::style;
use super::pod_view::{PodViewOptions, status};
use super::source::{PodSource, SourceQuestion};
use crate::args::{StuckArgs, StuckFormat};
use podinit_oncall::pods::PodQuestion;
use podinit_oncall::stuck::StuckPods;

/// Prints the stuck pods, once or until a signal.
///
/// # Errors
/// If the pods cannot be found out, or standard output cannot be written.
pub(super) async fn stuck(args: StuckArgs) -> anyhow::Result<ExitCode> {
    let look = PodViewOptions {
        again: args.look.watch,
        clears: args.output != StuckFormat::Json,
        of_recording: !args.recorded.files.is_empty(),
    };
    let limit = args.limit.get();
    let open = async || {
        let asked = SourceQuestion::of_look(PodQuestion::Stuck(limit), &args.recorded, &args.look)?;
        PodSource::open(asked).await
    };
    let ask = async |source: &mut PodSource<'_>| {
        let found = source.answer(|pods| StuckPods::from_pods(pods, limit)).await?;
        Ok(StuckPods { source: source.options(), ..found })
    };
    let last =
        look.at(open(), ask, |found| Ok(look.dated(found.time, text(found, args.output)?))).await?;
    Ok(status(last.fresh, last.freshness.as_ref(), !last.pods.is_empty()))
}

fn text(found: &StuckPods, format: StuckFormat) -> anyhow::Result<String> {
    let colour = style().colour;
    Ok(match format {
        StuckFormat::Table => found.to_table(false, colour),
        StuckFormat::Wide => found.to_table(true, colour),
        StuckFormat::Json => found.to_json()?,
    })
}
