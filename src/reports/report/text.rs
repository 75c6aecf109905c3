//! The report for a terminal.

use std::fmt::Write;

use super::formatting::{
    COLD, COLD_HEAD, ColdSection, HEAD, PROBES, cold, findings, kept, notes, outcomes, pods,
    probes_left_out, rows, seconds, settings, span,
};
use super::summary::Report;
use crate::text::strangers_text::shown;
use crate::text::table::table as aligned;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use colours
    pub colour: bool,
    /// The number of columns
    pub width: usize,
}

/// The columns of the chart that are not bars.
const CHART_MARGIN: usize = 20;

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
pub(super) fn render(report: &Report, style: Style) -> String {
    let mut out = String::new();
    out.push_str(&pods(report));
    out.push_str(&span(report));
    let _ = writeln!(out, " (timestamps: {})", report.timestamps);
    if let Some(kept) = kept(report) {
        let _ = writeln!(out, "{kept}");
    }
    if report.discovered == 0 {
        return out;
    }
    let _ = writeln!(out, "{}\n", outcomes(report).join(", "));
    table(&mut out, report, style);
    cold_startups(&mut out, report, style);
    chart(&mut out, report, style);
    for (title, found) in notes(report, |name| shown(name).into_owned()) {
        let _ = writeln!(out, "{}: {}", bold(title, style), found.join(", "));
    }
    if !report.slowest.is_empty() {
        let _ = writeln!(out, "\n{}", bold("Slowest pods, scheduled to ready", style));
    }
    for pod in &report.slowest {
        let took = seconds(pod.scheduled_to_ready);
        let _ = writeln!(out, "{took:>10}  {}/{}", shown(&pod.namespace), shown(&pod.name));
    }
    probes(&mut out, report, style);
    out
}

fn probes(out: &mut String, report: &Report, style: Style) {
    if report.probes.well == report.probes.workloads {
        return;
    }
    let _ = writeln!(out, "\n{}", bold(PROBES, style));
    let _ = writeln!(out, "{:>10} {:>8} {:>6}  workload", "p50", "p99", "pods");
    for workload in &report.probes.advice {
        let (p50, p99) = (seconds(workload.p50), seconds(workload.p99));
        let _ = writeln!(
            out,
            "{p50:>10} {p99:>8} {:>6}  {}/{} ({})",
            workload.pods,
            shown(&workload.namespace),
            shown(&workload.workload),
            shown(&workload.workload_kind)
        );
        for advice in &workload.containers {
            let _ = writeln!(out, "    {}: {}", shown(&advice.container), findings(advice));
            let _ = writeln!(out, "      set {}", settings(advice));
        }
    }
    if let Some(more) = probes_left_out(&report.probes) {
        let _ = writeln!(out, "    {more}");
    }
}

fn table(out: &mut String, report: &Report, style: Style) {
    let line = |cells: [&str; 8]| {
        let [name, rest @ ..] = cells;
        let mut text = format!("{name:<28}");
        for cell in rest {
            let _ = write!(text, " {cell:>8}");
        }
        text
    };
    let head = line(HEAD);
    let _ = writeln!(out, "{}", bold(&head, style));
    for cells in rows(report) {
        let _ = writeln!(out, "{}", line(cells.each_ref().map(String::as_str)));
    }
    out.push('\n');
}

fn cold_startups(out: &mut String, report: &Report, style: Style) {
    if let Some(ColdSection { sentences, rows }) = cold(report) {
        let table = aligned(&COLD_HEAD, &rows, style.colour);
        let _ = writeln!(out, "{}\n{sentences}\n{table}", bold(COLD, style));
    }
}

/// A bar for each bucket, from the first to the last that is not empty.
fn chart(out: &mut String, report: &Report, style: Style) {
    let buckets = &report.scheduled_to_ready;
    let filled = |(_, count): &(Option<f64>, u64)| *count > 0;
    let (Some(first), Some(last)) =
        (buckets.iter().position(filled), buckets.iter().rposition(filled))
    else {
        return;
    };
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let columns = style.width.saturating_sub(CHART_MARGIN).clamp(10, 60) as u64;
    let _ = writeln!(out, "{}", bold("Scheduled to ready", style));
    for (bound, count) in &buckets[first..=last] {
        let bound =
            bound.map_or_else(|| "more".to_owned(), |bound| format!("≤ {}", seconds(bound)));
        let bar = "█".repeat((count * columns).div_ceil(most) as usize);
        let bar = if style.colour { format!("\u{1b}[36m{bar}\u{1b}[0m") } else { bar };
        let _ = writeln!(out, "{bound:>10}  {bar} {count}");
    }
    out.push('\n');
}

fn bold(text: &str, style: Style) -> String {
    if style.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}
