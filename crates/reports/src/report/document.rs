//! The report for a terminal and in Markdown.

use super::formatting::{
    COLD, GATES, IntervalNames, PROBES, cold, gates, intervals, kept, notes, outcomes, pods,
    probes_left_out, seconds, span,
};
use super::rollouts::{ROLLOUTS, RolloutSection};
use super::summary::Report;
use super::waiting::{AT_MOST, WAITING, WaitingSection};
use podinit_text::document::{DocumentFormat, TextDocument};
use podinit_text::table::TextTable;

/// The columns of the chart that are not bars.
const CHART_MARGIN: usize = 20;

/// The whole report.
pub(super) fn render(report: &Report, format: DocumentFormat) -> String {
    let mut document = TextDocument::new(format);
    document.title("Pod startup");
    begin(&mut document, report);
    if report.discovered == 0 {
        return document.finish();
    }
    document.table(&intervals(report));
    if let Some(gates) = gates(report, |name| document.name(name)) {
        document.heading(GATES);
        document.table(&gates);
    }
    if let Some(cold) = cold(report) {
        document.heading(COLD);
        document.sentence(&cold.sentences);
        document.table(&cold.table);
    }
    waiting(&mut document, report);
    rollouts(&mut document, report);
    chart(&mut document, report);
    for (title, found) in notes(report, |name| document.name(name)) {
        document.labelled(title, &found.join(", "));
    }
    slowest(&mut document, report);
    probes(&mut document, report);
    document.finish()
}

/// What the report is about, and how pods ended.
fn begin(document: &mut TextDocument, report: &Report) {
    let span = span(report.from.as_deref(), report.to.as_deref());
    let about = format!("{}{span} (timestamps: {})", pods(report), report.timestamps);
    let outcomes = Some(outcomes(report).join(", ")).filter(|_| report.discovered > 0);
    if let DocumentFormat::Text(_) = document.format {
        document.sentence(&about);
        kept(report).into_iter().for_each(|kept| document.sentence(kept));
        outcomes.iter().for_each(|outcomes| document.sentence(outcomes));
        return;
    }
    let outcomes = outcomes.map_or_else(String::new, |outcomes| format!(": {outcomes}"));
    document.sentence(&format!("{about}{outcomes}."));
    // Of no pods there is nothing that could be taken for a recording.
    if let Some(kept) = kept(report).filter(|_| report.discovered > 0) {
        document.sentence(kept);
    }
}

/// What waiting costs.
fn waiting(document: &mut TextDocument, report: &Report) {
    let Some(waiting) = &report.waiting else {
        return;
    };
    let section =
        WaitingSection::from_report(waiting, IntervalNames::from_report(report), |name| {
            document.name(name)
        });
    document.heading(WAITING);
    section.sentences.iter().for_each(|sentence| document.sentence(sentence));
    document.table(&section.stages);
    if let Some(bounds) = &section.bounds {
        document.paragraph(AT_MOST);
        document.table(bounds);
        section.unknown.iter().for_each(|unknown| document.sentence(unknown));
    }
    for table in [&section.images, &section.workloads].into_iter().flatten() {
        document.table(table);
    }
}

/// How long rollouts took, and which are in progress.
fn rollouts(document: &mut TextDocument, report: &Report) {
    let Some(rollouts) = &report.rollouts else {
        return;
    };
    let section = RolloutSection::from_report(rollouts, |name| document.name(name));
    document.heading(ROLLOUTS);
    document.sentence(&section.sentence);
    for table in [&section.completed, &section.in_progress].into_iter().flatten() {
        document.table(table);
    }
}

/// A bar for each bucket, from the first to the last that is not empty.
fn chart(document: &mut TextDocument, report: &Report) {
    let buckets = &report.scheduled_to_ready;
    let filled = |(_, count): &(Option<f64>, u64)| *count > 0;
    let DocumentFormat::Text(style) = document.format else {
        return;
    };
    let (Some(first), Some(last)) =
        (buckets.iter().position(filled), buckets.iter().rposition(filled))
    else {
        return;
    };
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let columns = style.width.saturating_sub(CHART_MARGIN).clamp(10, 60) as u64;
    let bars = buckets[first..=last].iter().map(|(bound, count)| {
        let bound =
            bound.map_or_else(|| "more".to_owned(), |bound| format!("≤ {}", seconds(bound)));
        let bar = "█".repeat((count * columns).div_ceil(most) as usize);
        let bar = if style.colour { format!("\u{1b}[36m{bar}\u{1b}[0m") } else { bar };
        format!("{bound:>10}  {bar} {count}\n")
    });
    document.heading("Scheduled to ready");
    document.chart(&bars.collect::<String>());
}

fn slowest(document: &mut TextDocument, report: &Report) {
    if report.slowest.is_empty() {
        return;
    }
    let pods = report.slowest.iter().map(|pod| {
        let name = document.name(&format!("{}/{}", pod.namespace, pod.name));
        [seconds(pod.scheduled_to_ready), name]
    });
    let pods: Vec<_> = pods.collect();
    if let DocumentFormat::Text(_) = document.format {
        let lines = pods.iter().map(|[took, name]| format!("{took:>10}  {name}"));
        document.heading("Slowest pods, scheduled to ready");
        document.list(lines);
        return;
    }
    document.heading("Slowest pods");
    document.table(&TextTable::new(&["scheduled to ready", "pod"], pods).with_numbers(0..1));
}

fn probes(document: &mut TextDocument, report: &Report) {
    if report.probes.well == report.probes.workloads {
        return;
    }
    document.heading(PROBES);
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    lines.push(format!("{:>10} {:>8} {:>6}  workload", "p50", "p99", "pods"));
    for workload in &report.probes.advice {
        let (p50, p99, pods) = (seconds(workload.p50), seconds(workload.p99), workload.pods);
        let name = document.name(&format!("{}/{}", workload.namespace, workload.workload));
        let name = format!("{name} ({})", document.name(&workload.workload_type));
        lines.push(format!("{p50:>10} {p99:>8} {pods:>6}  {name}"));
        for advice in &workload.containers {
            let container = document.name(&advice.container);
            let (found, set) = (advice.in_words(), advice.settings());
            lines.push(format!("    {container}: {found}"));
            lines.push(format!("      set {set}"));
            let (name, p50, p99) = (name.clone(), p50.clone(), p99.clone());
            let set = format!("`{set}`");
            rows.push([name, container, pods.to_string(), p50, p99, found, set]);
        }
    }
    let more = probes_left_out(&report.probes);
    if let DocumentFormat::Text(_) = document.format {
        lines.extend(more.map(|more| format!("    {more}")));
        return document.list(lines);
    }
    let head = ["workload", "container", "pods", "p50", "p99", "what is wrong", "what to set"];
    document.table(&TextTable::new(&head, rows).with_numbers(2..5));
    more.iter().for_each(|more| document.sentence(more));
}
