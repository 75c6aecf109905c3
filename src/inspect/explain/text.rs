//! An explanation for a terminal.

use std::fmt::Write;

use super::explanation::{AutoscalerLine, ContainerLine, Explanation, WorkloadPods};
use super::waterfall::Row;
use crate::reports::report::Style;
use crate::text::human_time::{date_and_time_of, seconds};
use crate::text::palette;
use crate::text::strangers_text::shown;

/// The columns of a row of the waterfall that are not bars.
const MARGIN: usize = 44;
const LABEL: usize = 20;

impl Explanation {
    /// The explanation for a terminal.
    pub fn to_text(&self, style: Style) -> String {
        render(self, style)
    }
}

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
fn render(explanation: &Explanation, style: Style) -> String {
    let mut out = String::new();
    head(&mut out, explanation, style);
    waterfall(&mut out, explanation, style);
    milestones(&mut out, explanation, style);
    containers(&mut out, explanation, style);
    waits(&mut out, explanation, style);
    advice(&mut out, explanation, style);
    let _ = writeln!(out, "\n{}\n  {}", bold("Next", style), shown(&explanation.next));
    out
}

fn head(out: &mut String, explanation: &Explanation, style: Style) {
    let name = format!("{}/{}", explanation.namespace, explanation.name);
    let _ = write!(out, "{}", bold(&shown(&name), style));
    if let Some(workload) = &explanation.workload {
        let _ = write!(out, " ({})", shown(workload));
    }
    if let Some(node) = &explanation.node {
        let _ = write!(out, " on {}", shown(node));
    }
    if let Some(details) = &explanation.node_details {
        let _ = write!(out, " ({})", shown(&details.words()));
    }
    let _ = writeln!(out, "\n{}\n", shown(&explanation.verdict));
    for doubt in &explanation.doubts {
        let _ = writeln!(out, "But {}.\n", shown(doubt));
    }
    if let Some(pods) = &explanation.workload_pods {
        let WorkloadPods { in_flight, ready, other } = pods;
        let _ = writeln!(
            out,
            "One of {} pods of the workload: {in_flight} in flight, {ready} ready, {other} ended \
             otherwise.\n",
            in_flight + ready + other
        );
    }
}

fn waterfall(out: &mut String, explanation: &Explanation, style: Style) {
    let columns = style.width.saturating_sub(MARGIN).clamp(10, 80);
    let of = match explanation.fleet {
        0 => String::new(),
        pods => format!("p50 of {pods}"),
    };
    let began = date_and_time_of(&explanation.began);
    let began = began.split(' ').nth(1).unwrap_or_default();
    let total = explanation.seconds.map(seconds).unwrap_or_default();
    let axis = format!("{began:<width$}", width = columns.saturating_sub(total.len()));
    let head = format!("{:<LABEL$} {axis}{total} {:>9} {of:>12}", "", "took");
    let _ = writeln!(out, "{}", bold(head.trim_end(), style));
    for row in &explanation.rows {
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
        let _ = writeln!(out, "{}", line.trim_end());
        if let Some(uncertain) = row.uncertain {
            let _ = writeln!(out, "{:LABEL$} ({uncertain})", "");
        }
    }
}

/// The bar of a row, filled up to the width of `columns`.
fn bar(row: &Row, total: f64, columns: usize, style: Style) -> String {
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

fn milestones(out: &mut String, explanation: &Explanation, style: Style) {
    let _ = writeln!(out, "\n{}", bold("Milestones (UTC)", style));
    for line in &explanation.milestones {
        let after = line.after_seconds.map(|after| format!("+{}", seconds(after)));
        let time = line.time.as_deref().map(date_and_time_of);
        let _ = write!(
            out,
            "  {:<26} {:<23} {:>9}  {}",
            line.milestone,
            time.as_deref().unwrap_or("-"),
            after.as_deref().unwrap_or("-"),
            line.source.unwrap_or("-"),
        );
        let uncertain = line.uncertain.map(|text| format!(" ({text})"));
        let _ = writeln!(out, "{}", uncertain.unwrap_or_default());
    }
}

/// The images, where any is known.
fn containers(out: &mut String, explanation: &Explanation, style: Style) {
    let known = |container: &&ContainerLine| container.image.is_some();
    let mut lines = explanation.containers.iter().filter(known).peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "\n{}", bold("Images", style));
    }
    for container in lines {
        let name = shown(&container.name);
        let image = shown(container.image.as_deref().unwrap_or_default());
        let problem = container.problem.map(|problem| format!(" ({problem})"));
        let _ = write!(out, "  {name:<20} {image}{}", problem.unwrap_or_default());
        if let Some(ended) = &container.ended {
            let _ = write!(out, " ({})", shown(&ended.words));
        }
        let _ = writeln!(out);
    }
}

/// The causes, the peers and the SLOs.
fn waits(out: &mut String, explanation: &Explanation, style: Style) {
    if !explanation.causes.is_empty() {
        let _ = writeln!(out, "\n{}", bold("Causes", style));
    }
    for cause in &explanation.causes {
        let after = format!("+{}", seconds(cause.after_seconds));
        let _ = writeln!(out, "  {after:>9}  {}: {}", cause.stage, cause.cause);
    }
    if let Some(message) = &explanation.message {
        let _ = writeln!(out, "\n{}\n  {}", bold("Kubernetes says", style), shown(message));
    }
    if let Some(said) = &explanation.unschedulable {
        autoscaler(out, said, style);
    }
    if let Some(peers) = &explanation.peers {
        let _ = write!(
            out,
            "\n{} with the same cause ({}: {}): {}",
            bold("Other pods", style),
            peers.stage,
            peers.cause,
            peers.pods
        );
        if let Some((node, pods)) = &peers.node {
            let _ = write!(out, ", {pods} of them on {}", shown(node));
        }
        let _ = writeln!(out);
        for example in &peers.examples {
            let _ = writeln!(out, "  {}", shown(example));
        }
    }
    if !explanation.slos.is_empty() {
        let _ = writeln!(out, "\n{}", bold("SLOs", style));
    }
    for slo in &explanation.slos {
        let deadline = slo.deadline.as_ref();
        let deadline = deadline.map(|at| format!(" (deadline {})", date_and_time_of(at)));
        let _ =
            writeln!(out, "  {}: {}{}", shown(&slo.slo), slo.result, deadline.unwrap_or_default());
    }
}

/// What an autoscaler has said, where one has.
fn autoscaler(out: &mut String, said: &AutoscalerLine, style: Style) {
    let Some(since) = &said.since else {
        return;
    };
    let by = said.by.as_deref().unwrap_or("An autoscaler");
    let message = said.message.as_ref().map(|message| format!(": {message}"));
    let _ = writeln!(
        out,
        "\n{}\n  {} says {} since {}{}",
        bold("A node for it", style),
        shown(by),
        said.capacity,
        date_and_time_of(since),
        shown(&message.unwrap_or_default())
    );
}

fn advice(out: &mut String, explanation: &Explanation, style: Style) {
    if !explanation.probes.is_empty() {
        let _ = writeln!(out, "\n{}", bold("Probes to change", style));
    }
    for advice in &explanation.probes {
        let sentences = advice.findings.iter().map(|(_, sentence)| &**sentence);
        let sentences: Vec<&str> = sentences.collect();
        let _ = writeln!(out, "  {}: {}", shown(&advice.container), sentences.join("; "));
        let set = advice.set.iter().map(|(field, value)| format!("{field}: {value}"));
        let _ = writeln!(out, "    set {}", set.collect::<Vec<_>>().join(", "));
    }
}

fn bold(text: &str, style: Style) -> String {
    if style.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}
