//! The report in Markdown, for issues and wikis.

use std::fmt::Write;

use super::formatting::{
    COLD, COLD_HEAD, ColdSection, HEAD, PROBES, cold, findings, kept, notes, outcomes, pods,
    probes_left_out, rows, seconds, settings, span,
};
use super::summary::Report;
use crate::text::markdown::{Columns, name, table};

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
pub(super) fn render(report: &Report) -> String {
    let mut out = String::from("# Pod startup\n\n");
    out.push_str(&pods(report));
    out.push_str(&span(report));
    let _ = write!(out, " (timestamps: {})", report.timestamps);
    if report.discovered == 0 {
        return out + ".\n";
    }
    let _ = writeln!(out, ": {}.\n", outcomes(report).join(", "));
    if let Some(kept) = kept(report) {
        let _ = writeln!(out, "{kept}\n");
    }
    out += &table(&HEAD, rows(report), Columns::Right);
    if let Some(ColdSection { sentences, rows }) = cold(report) {
        let _ = writeln!(out, "\n## {COLD}\n\n{sentences}\n");
        out += &table(&COLD_HEAD, rows, Columns::Right);
    }
    for (title, found) in notes(report, name) {
        let _ = writeln!(out, "\n**{title}**: {}", found.join(", "));
    }
    if !report.slowest.is_empty() {
        out.push_str("\n## Slowest pods\n\n| scheduled to ready | pod |\n|---:|---|\n");
    }
    for pod in &report.slowest {
        let took = seconds(pod.scheduled_to_ready);
        let _ = writeln!(out, "| {took} | {} |", name(&format!("{}/{}", pod.namespace, pod.name)));
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
                "| {} ({}) | {} | {} | {} | {} | {} | `{}` |",
                name(&format!("{}/{}", workload.namespace, workload.workload)),
                name(&workload.workload_kind),
                name(&advice.container),
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
