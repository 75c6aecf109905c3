//! `podinit problems`: what is broken in a recording, a cluster or for an exporter.

use std::process::ExitCode;

use super::output::style;
use super::pod_view::{PodViewOptions, status};
use super::source::{PodSource, SourceQuestion};
use crate::args::{ProblemsArgs, ProblemsFormat};
use podinit_oncall::pods::PodQuestion;
use podinit_oncall::problems::Problems;

/// Prints the problems, once or until a signal.
///
/// # Errors
/// If they cannot be found out, or standard output cannot be written.
pub(super) async fn problems(args: ProblemsArgs) -> anyhow::Result<ExitCode> {
    let look = PodViewOptions {
        again: args.look.watch,
        clears: args.output != ProblemsFormat::Json,
        of_recording: !args.recorded.files.is_empty(),
    };
    let open = async || {
        let asked = SourceQuestion::of_look(PodQuestion::Problems, &args.recorded, &args.look)?;
        PodSource::open(asked).await
    };
    let ask = async |source: &mut PodSource<'_>| {
        source.answer(|pods| pods.problems().unwrap_or_default()).await
    };
    let last =
        look.at(open(), ask, |found| Ok(look.dated(found.time, text(found, args.output)?))).await?;
    Ok(status(last.fresh, last.freshness.as_ref(), !last.problems.is_empty()))
}

fn text(found: &Problems, format: ProblemsFormat) -> anyhow::Result<String> {
    Ok(match format {
        ProblemsFormat::Table => found.to_table(false, style()),
        ProblemsFormat::Wide => found.to_table(true, style()),
        ProblemsFormat::Json => found.to_json()?,
    })
}
