//! `podinit rollouts`: the rollouts of a recording, a cluster or an exporter.

use std::process::ExitCode;

use super::output::style;
use super::pod_view::{PodViewOptions, status};
use super::source::{PodSource, SourceQuestion};
use crate::args::{RolloutsArgs, RolloutsFormat};
use podinit_oncall::pods::PodQuestion;
use podinit_oncall::rollouts::Rollouts;

/// Prints the rollouts, once or until a signal.
///
/// # Errors
/// If they cannot be found out, or standard output cannot be written.
pub(super) async fn rollouts(args: RolloutsArgs) -> anyhow::Result<ExitCode> {
    let look = PodViewOptions {
        again: args.look.watch,
        clears: args.output != RolloutsFormat::Json,
        of_recording: !args.recorded.files.is_empty(),
    };
    let open = async || {
        let question = PodQuestion::Rollouts(args.limit);
        PodSource::open(SourceQuestion::of_look(question, &args.recorded, &args.look)?).await
    };
    let ask = async |source: &mut PodSource<'_>| {
        source.answer(|pods| pods.rollouts(args.limit).unwrap_or_default()).await
    };
    let last =
        look.at(open(), ask, |found| Ok(look.dated(found.time, text(found, args.output)?))).await?;
    // A rollout is nothing bad.
    Ok(status(last.fresh, last.freshness.as_ref(), false))
}

fn text(found: &Rollouts, format: RolloutsFormat) -> anyhow::Result<String> {
    Ok(match format {
        RolloutsFormat::Table => found.to_table(false, style()),
        RolloutsFormat::Wide => found.to_table(true, style()),
        RolloutsFormat::Json => found.to_json()?,
    })
}
