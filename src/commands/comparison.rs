//! `podinit report --baseline`: two recordings or exporters, compared.

use std::io::Write;
use std::process::ExitCode;

use super::output::style;
use super::reports::{kept_of, options, read, write};
use crate::args::{ReportArgs, ReportFormat, ReportSource};
use podinit_reports::comparison::{
    Comparison, ComparisonConfig, ComparisonSide, Threshold, ThresholdResult, compare as compared,
};
use podinit_text::strangers_text::shown;

/// The exit status if a rule of `--fail-on` is broken, or more pods do not start.
const EXCEEDED: u8 = 3;
/// The exit status if an interval of such a rule is unclear, with `--strict`.
const UNCLEAR: u8 = 4;

/// Prints a comparison, and says what breaks the rules of `--fail-on`.
///
/// # Errors
/// If one of the recordings cannot be read, or nothing is in it; then nothing is printed.
pub(super) fn compare(
    args: &ReportArgs,
    before: ReportSource,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    let (before, after) = (side(args, before)?, side(args, args.source())?);
    check_milestones(args, [&before, &after])?;
    let config =
        ComparisonConfig { timestamps: args.recording.timestamps, margin_percent: args.margin };
    let found = compared(&before, &after, config).checked(&args.fail_on, args.strict);
    drop((before, after));
    let text = match args.output {
        ReportFormat::Text => found.to_text(style()),
        ReportFormat::Markdown => found.to_markdown(),
        ReportFormat::Html => found.to_html()?,
        // The command line refuses the others with --baseline.
        ReportFormat::Json | ReportFormat::Csv | ReportFormat::Trace => found.to_json()?,
    };
    write(args, |to| to.write_all(text.as_bytes()), out)?;
    Ok(status(&found))
}

fn side(args: &ReportArgs, source: ReportSource) -> anyhow::Result<ComparisonSide> {
    match source {
        ReportSource::Recording(files) => {
            let options = ComparisonSide::decode_options(options(args));
            let (side, _) = read(args, &files, options, |documents, config| {
                ComparisonSide::of_recording(documents, config)
            })?;
            Ok(side)
        }
        ReportSource::Exporters(servers) => {
            let kept = super::block_on(kept_of(&servers))?;
            Ok(ComparisonSide::of_records(kept.in_account()))
        }
    }
}

/// That each rule names a milestone that one side has.
///
/// # Errors
/// One line, if one does not.
fn check_milestones(args: &ReportArgs, sides: [&ComparisonSide; 2]) -> anyhow::Result<()> {
    for rule in &args.fail_on {
        if let Some(name) = rule.milestone()
            && !sides.iter().any(|side| side.has_milestone(name))
        {
            anyhow::bail!("--fail-on {rule}: {}", Threshold::unknown_milestone(name));
        }
    }
    Ok(())
}

/// The exit status, with a line on standard error for each reason. That more pods do not start is one without being
/// asked for, unless a rule says how many may.
fn status(found: &Comparison) -> ExitCode {
    let checks = &found.checks;
    let starts = found.not_started.as_ref().filter(|_| checks.is_failed_unasked);
    if let Some(starts) = starts {
        eprintln!("podinit: {}", shown(&starts.text));
    }
    for check in &checks.rules {
        match check.result {
            ThresholdResult::Kept => {}
            ThresholdResult::Exceeded => eprintln!("podinit: {}", check.text),
            ThresholdResult::Unclear => eprintln!("podinit: cannot tell: {}", check.text),
        }
    }
    match (checks.is_failed(), checks.is_unclear()) {
        (true, _) => ExitCode::from(EXCEEDED),
        (false, true) => ExitCode::from(UNCLEAR),
        (false, false) => ExitCode::SUCCESS,
    }
}
