//! The report in Markdown, for issues and wikis.

use std::fmt::Write;

use super::formatting::{HEAD, notes, outcomes, row, seconds, span};
use super::summary::Report;

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::from("# Pod startup\n\n");
    let _ = write!(out, "{} pods", report.discovered);
    out.push_str(&span(report));
    let _ = writeln!(
        out,
        " (timestamps: {}): {}.\n",
        report.timestamps,
        outcomes(report).join(", ")
    );
    let _ = writeln!(out, "| {} |", HEAD.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(HEAD.len() - 1));
    for summary in &report.intervals {
        let _ = writeln!(out, "| {} |", row(summary).join(" | "));
    }
    for (title, found) in notes(report) {
        let _ = writeln!(out, "\n**{title}**: {}", found.join(", "));
    }
    if !report.slowest.is_empty() {
        out.push_str("\n## Slowest pods\n\n| scheduled to ready | pod |\n|---:|---|\n");
    }
    for pod in &report.slowest {
        let took = seconds(pod.scheduled_to_ready);
        let _ = writeln!(
            out,
            "| {took} | {}/{} |",
            plain(&pod.namespace),
            plain(&pod.name)
        );
    }
    out
}

/// Names are not trusted: nothing in them may end a table cell or begin markup.
fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    name.chars()
        .map(|c| if allowed(c) { c } else { '?' })
        .collect()
}
