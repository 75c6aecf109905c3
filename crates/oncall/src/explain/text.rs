//! An explanation for a terminal.

use super::explanation::{AutoscalerLine, Explanation, WorkloadPods};
use super::named::gate_in_words;
use super::waterfall::WaterfallRow;
use podinit_core::lifecycle::MilestoneSource;
use podinit_core::palette;
use podinit_text::document::{DocumentFormat, TerminalStyle, TextDocument};
use podinit_text::human_time::{as_of, date_and_time, seconds};
use podinit_text::strangers_text::shown;

/// The columns of a row of the waterfall that are not bars.
const MARGIN: usize = 44;
const LABEL: usize = 20;

impl Explanation {
    /// The explanation for a terminal.
    pub fn to_text(&self, style: TerminalStyle) -> String {
        let mut document = TextDocument::new(DocumentFormat::Text(style));
        head(&mut document, self, style);
        document.chart(&waterfall(self, style));
        milestones(&mut document, self);
        gates(&mut document, self);
        images(&mut document, self);
        waits(&mut document, self, style);
        advice(&mut document, self);
        section(&mut document, "Next", [format!("  {}", shown(&self.next))]);
        document.finish()
    }
}

/// Lines below a heading, where there are any.
fn section(document: &mut TextDocument, heading: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        document.heading(heading);
        document.list(lines);
    }
}

fn head(document: &mut TextDocument, explanation: &Explanation, style: TerminalStyle) {
    let name = format!("{}/{}", explanation.namespace, explanation.name);
    let workload = explanation.workload.iter().map(|workload| format!(" ({})", shown(workload)));
    let node = explanation.node.iter().map(|node| format!(" on {}", shown(node)));
    let details = explanation.node_details.iter();
    let details = details.map(|details| format!(" ({})", shown(&details.words())));
    let more: String = workload.chain(node).chain(details).collect();
    document.sentence(&(style.bold(&shown(&name)) + &more));
    document.answer(&explanation.verdict);
    if let Some(time) = explanation.time {
        document.paragraph(&format!("{}.", as_of(time)));
    }
    for doubt in &explanation.doubts {
        document.paragraph(&format!("But {}.", shown(doubt)));
    }
    if let Some(WorkloadPods { in_flight, ready, other }) = &explanation.workload_pods {
        document.paragraph(&format!(
            "One of {} pods of the workload: {in_flight} in flight, {ready} ready, {other} ended otherwise.",
            in_flight + ready + other
        ));
    }
}

/// The lines of the waterfall.
fn waterfall(explanation: &Explanation, style: TerminalStyle) -> String {
    let columns = style.width.saturating_sub(MARGIN).clamp(10, 80);
    let of = match explanation.fleet {
        0 => String::new(),
        pods => format!("p50 of {pods}"),
    };
    let began = date_and_time(explanation.began);
    let began = began.split(' ').nth(1).unwrap_or_default();
    let total = explanation.seconds.map(seconds).unwrap_or_default();
    let axis = format!("{began:<width$}", width = columns.saturating_sub(total.len()));
    let head = format!("{:<LABEL$} {axis}{total} {:>9} {of:>12}", "", "took");
    let rows = explanation.rows.iter().flat_map(|row| {
        let label = if row.is_inside { format!("- {}", row.label) } else { row.label.clone() };
        let label: String = shown(&label).chars().take(LABEL).collect();
        let took = match row.seconds {
            Some(took) => seconds(took),
            None if row.is_open => "open".to_owned(),
            None => "-".to_owned(),
        };
        let median = row.p50_seconds.map(seconds).unwrap_or_default();
        let bar = bar(row, explanation.width, columns, style);
        let line = format!("{label:<LABEL$} {bar} {took:>9} {median:>12}");
        let uncertain = row.uncertain.map(|text| format!("{:LABEL$} ({text})\n", ""));
        [line.trim_end().to_owned() + "\n"].into_iter().chain(uncertain)
    });
    style.bold(head.trim_end()) + "\n" + &rows.collect::<String>()
}

/// The bar of a row, filled up to the width of `columns`.
fn bar(row: &WaterfallRow, total: f64, columns: usize, style: TerminalStyle) -> String {
    let (Some(from), Some(to)) = (row.from_seconds, row.to_seconds) else {
        return " ".repeat(columns);
    };
    let at = |seconds: f64| {
        let share = if total > 0.0 { seconds / total } else { 0.0 };
        ((share.clamp(0.0, 1.0) * columns as f64).round() as usize).min(columns)
    };
    let first = at(from).min(columns - 1);
    let last = at(to).max(first + 1);
    let cell = if row.is_inside { "▄" } else { "█" };
    let mut cells = cell.repeat(last - first);
    if row.is_open {
        cells = cell.repeat(last - first - 1) + "▶";
    }
    if style.colour {
        let code = palette::ansi(row.stage);
        cells = format!("\u{1b}[{code}m{cells}\u{1b}[0m");
    }
    format!("{}{cells}{}", " ".repeat(first), " ".repeat(columns - last))
}

fn milestones(document: &mut TextDocument, explanation: &Explanation) {
    let lines = explanation.milestones.iter().map(|line| {
        let after = line.after_seconds.map(|after| format!("+{}", seconds(after)));
        let time = line.time.map(date_and_time);
        let uncertain = line.uncertain.map(|text| format!(" ({text})"));
        format!(
            "  {:<26} {:<23} {:>9}  {}{}",
            shown(&line.milestone),
            time.as_deref().unwrap_or("-"),
            after.as_deref().unwrap_or("-"),
            line.source.map_or("-", MilestoneSource::as_str),
            uncertain.unwrap_or_default()
        )
    });
    section(document, "Milestones (UTC)", lines);
}

/// The gates, and where they are.
fn gates(document: &mut TextDocument, explanation: &Explanation) {
    let lines = explanation.gates.iter().map(|gate| {
        let (kind, name) = (gate.kind.as_str(), shown(&gate.gate));
        format!("  {kind:<10} {name}: {}", gate_in_words(gate))
    });
    section(document, "Gates", lines);
}

/// The images, where any is known.
fn images(document: &mut TextDocument, explanation: &Explanation) {
    let lines = explanation.containers.iter().filter_map(|container| {
        let (name, image) = (shown(&container.name), shown(container.image.as_deref()?));
        let problem = container.problem.map(|problem| format!(" ({})", problem.as_str()));
        let ended = container.ended.as_ref().map(|ended| format!(" ({})", shown(&ended.words)));
        let (problem, ended) = (problem.unwrap_or_default(), ended.unwrap_or_default());
        Some(format!("  {name:<20} {image}{problem}{ended}"))
    });
    section(document, "Images", lines);
}

/// The causes, the peers and the SLOs.
fn waits(document: &mut TextDocument, explanation: &Explanation, style: TerminalStyle) {
    let causes = explanation.causes.iter().map(|cause| {
        let after = format!("+{}", seconds(cause.after_seconds));
        let waiting = cause.waiting;
        format!("  {after:>9}  {}: {}", waiting.stage().as_str(), waiting.cause().as_str())
    });
    section(document, "Causes", causes);
    let message = explanation.message.iter();
    section(document, "Kubernetes says", message.map(|message| format!("  {}", shown(message))));
    let said = explanation.unschedulable.iter().filter_map(autoscaler);
    section(document, "A node for it", said);
    if let Some(peers) = &explanation.peers {
        let node = peers.node.as_ref();
        let node = node.map(|(node, pods)| format!(", {pods} of them on {}", shown(node)));
        let mut lines = format!(
            "{} with the same cause ({}: {}): {}{}",
            style.bold("Other pods"),
            peers.stage,
            peers.cause,
            peers.pods,
            node.unwrap_or_default()
        );
        lines.extend(peers.examples.iter().map(|example| format!("\n  {}", shown(example))));
        document.paragraph(&lines);
    }
    let slos = explanation.slos.iter().map(|slo| {
        let deadline = slo.deadline.map(|at| format!(" (deadline {})", date_and_time(at)));
        format!("  {}: {}{}", shown(&slo.slo), slo.result, deadline.unwrap_or_default())
    });
    section(document, "SLOs", slos);
}

/// What an autoscaler has said, where one has.
fn autoscaler(said: &AutoscalerLine) -> Option<String> {
    let since = date_and_time(said.since?);
    let by = shown(said.by.as_deref().unwrap_or("An autoscaler"));
    let message = said.message.as_ref().map(|message| format!(": {}", shown(message)));
    let message = message.unwrap_or_default();
    Some(format!("  {by} says {} since {since}{message}", said.capacity.as_str()))
}

fn advice(document: &mut TextDocument, explanation: &Explanation) {
    let lines = explanation.probes.iter().flat_map(|advice| {
        let found = format!("  {}: {}", shown(&advice.container), advice.in_words());
        [found, format!("    set {}", advice.settings())]
    });
    section(document, "Probes to change", lines);
}
