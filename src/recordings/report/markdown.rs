//! The report in Markdown, for issues and wikis.

use std::fmt::Write;

use super::formatting::{
    HEAD, PROBES, findings, notes, outcomes, probes_left_out, row, seconds, settings, span,
};
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
    probes(&mut out, report);
    out
}

fn probes(out: &mut String, report: &Report) {
    if report.probes.well == report.probes.workloads {
        return;
    }
    let _ = write!(
        out,
        "\n## {PROBES}\n\n| workload | container | pods | p50 | p99 | what is wrong | what to set |\n\
         |---|---|---:|---:|---:|---|---|\n"
    );
    for workload in &report.probes.advice {
        for advice in &workload.containers {
            let _ = writeln!(
                out,
                "| {}/{} ({}) | {} | {} | {} | {} | {} | `{}` |",
                plain(&workload.namespace),
                plain(&workload.workload),
                plain(&workload.workload_kind),
                plain(&advice.container),
                workload.pods,
                seconds(workload.p50),
                seconds(workload.p99),
                findings(advice),
                settings(advice)
            );
        }
    }
    if let Some(more) = probes_left_out(&report.probes) {
        let _ = writeln!(out, "\n{more}");
    }
}

/// Names are not trusted: nothing in them may end a table cell or begin markup.
fn plain(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    name.chars()
        .map(|c| if allowed(c) { c } else { '?' })
        .collect()
}
