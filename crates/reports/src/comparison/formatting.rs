//! What the formats of a comparison share. Its figures as people read them.

use super::Comparison;
use super::changes::{Counted, Names};
use super::dimension::Part;
use super::row::{Difference, Row};
use super::statistics::Resampled;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{SloInterval, Step};
use podinit_text::human_time::short_seconds as seconds;
use podinit_text::table::Table;
use podinit_text::words::percent;

/// The columns of a row.
const HEAD: [&str; 10] = [
    "interval",
    "verdict",
    "pods",
    "p50",
    "change",
    "p90",
    "change",
    "p99",
    "after slower",
    "p-value",
];

/// Rows as a table. `shown` is how names are written in the format.
pub(super) fn row_table(rows: &[Row], shown: impl Fn(&str) -> String) -> Table {
    Table::new(&HEAD, rows.iter().map(|row| row_cells(row, &shown)))
}

/// The name of a row. That of a gate is a stranger's.
fn row_name(row: &Row, shown: impl Fn(&str) -> String) -> String {
    match SloInterval::from_text(&row.interval) {
        Some(_) => row.interval.to_string(),
        None => shown(&row.interval),
    }
}

/// The cells of a row.
fn row_cells(row: &Row, shown: impl Fn(&str) -> String) -> Vec<String> {
    let name = match Step::from_text(&row.interval) {
        Some(_) => format!("- {}", row.interval),
        None => row_name(row, shown),
    };
    let mut cells = vec![name];
    cells.extend(figures(row));
    cells
}

/// The cells of a value of a breakdown. `shown` is how names are written in the format.
fn part_cells(part: &Part, shown: impl Fn(&str) -> String) -> Vec<String> {
    let new = if part.is_new { " (new)" } else { "" };
    let name = format!("{} {}{new}", part.dimension.as_str(), shown(&part.value));
    let mut cells = vec![name, percent(part.share), percent(part.pods_after)];
    cells.extend(figures(&part.row));
    cells
}

fn figures(row: &Row) -> [String; 9] {
    let change = |difference: &Difference| {
        let (size, ends) = (signed(difference.difference), range(difference.interval));
        format!("{size} ({ends})")
    };
    let p99 = match (row.before.p99, row.after.p99) {
        (Some(before), Some(after)) => format!("{} → {}", seconds(before), seconds(after)),
        _ => "-".to_owned(),
    };
    [
        row.verdict.as_str().to_owned(),
        format!("{} → {}", row.before.count, row.after.count),
        format!("{} → {}", seconds(row.before.p50), seconds(row.after.p50)),
        change(&row.p50),
        format!("{} → {}", seconds(row.before.p90), seconds(row.after.p90)),
        change(&row.p90),
        p99,
        percent(row.probability_slower),
        p_value(row.corrected_p_value),
    ]
}

/// A line for each side, and one that says how the figures were found. `shown` is how names are written in the format.
pub(super) fn sides(found: &Comparison, shown: impl Fn(&str) -> String) -> Vec<String> {
    let side = |name, summary: &super::SideSummary| {
        let span = match (&summary.from, &summary.to) {
            (Some(from), Some(to)) if from == to => format!(" as of {to}"),
            (Some(from), Some(to)) => format!(" from {from} to {to}"),
            _ => String::new(),
        };
        let kept = match summary.only_kept {
            true => {
                " (of a running exporter: its newest 1,000 startups and the pods in flight, measured with its own --timestamps)"
            }
            false => "",
        };
        let lone = match summary.lone_list {
            true => " (one list: scheduling is all the time before binding)",
            false => "",
        };
        format!("{name}: {} pods observed{span}{kept}{lone}", summary.observed)
    };
    let pods: Vec<String> = found
        .rows
        .iter()
        .filter(|row| row.resampled == Resampled::Pods)
        .map(|row| row_name(row, &shown))
        .collect();
    let resampled = match pods.len() {
        0 => "minutes of creation".to_owned(),
        all if all == found.rows.len() => {
            "pods, since fewer than 10 minutes had new pods".to_owned()
        }
        _ => format!(
            "minutes of creation, and pods for {}, since fewer than 10 minutes had new pods",
            pods.join(", ")
        ),
    };
    vec![
        side("before", &found.before),
        side("after", &found.after),
        format!(
            "timestamps: {}; margin: {} %; intervals of 95 % by resampling {resampled}",
            found.timestamps, found.margin_percent
        ),
    ]
}

/// Where the difference lies, as a table with its title; `None` without one. `shown` is how names are written in the format.
pub(super) fn breakdown(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> Option<(String, Table)> {
    let breakdown = found.breakdown.as_ref()?;
    let title = format!("Where, of the difference of the means of {}", breakdown.interval);
    let mut head = vec!["where", "share", "of pods"];
    head.extend(&HEAD[1..]);
    let parts = breakdown.parts.iter();
    let table = Table::new(&head, parts.map(|part| part_cells(part, &shown)));
    Some((title.clone(), table.labelled(title)))
}

/// How far the mixes agree.
pub(super) fn mix_shares(found: &Comparison) -> String {
    let mix = &found.mix;
    format!(
        "{} of the pods before and {} of those after have the same workload and images on the other side.",
        percent(mix.before),
        percent(mix.after)
    )
}

/// The same, before the table of the matched pods where there is one.
pub(super) fn mix_sentence(found: &Comparison) -> String {
    let shares = mix_shares(found);
    match found.is_all_matched() || found.matched_rows.is_empty() {
        true => shares,
        false => format!("{shares} These pods alone, weighted as before:"),
    }
}

/// What else is different, under titles. `shown` is how names are written in the format.
pub(super) fn changes(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    let changes = &found.changes;
    let names = |names: &Names| {
        let listed: Vec<String> = names.names.iter().map(|name| shown(name)).collect();
        match names.count - listed.len() {
            0 => listed.join(", "),
            more => format!("{} and {more} more", listed.join(", ")),
        }
    };
    let counted = |counted: &[Counted], shown: &dyn Fn(&str) -> String| {
        let pairs = counted
            .iter()
            .map(|one| format!("{} {} → {}", shown(&one.name), one.before, one.after));
        pairs.collect::<Vec<_>>().join(", ")
    };
    let own = str::to_owned;
    let all = [
        ("Nodes only before", names(&changes.nodes_only_before)),
        ("Nodes only after", names(&changes.nodes_only_after)),
        ("Images only before", names(&changes.images_only_before)),
        ("Images only after", names(&changes.images_only_after)),
        ("Nodes by version of the kubelet", counted(&changes.kubelet_versions, &shown)),
        ("Pods by how they ended", counted(&changes.outcomes, &own)),
        ("Pods by cause of waiting", counted(&changes.causes, &own)),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Seconds with their sign: `+3.3 s`.
pub(super) fn signed(value: f64) -> String {
    let text = seconds(value);
    match text.starts_with('-') || text == "0 s" {
        true => text,
        false => format!("+{text}"),
    }
}

/// Both ends of an interval: `+2.9 to +3.8 s`.
pub(super) fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", signed(low).trim_end_matches(" s"), signed(high))
}

/// A p-value: `0.03`, or that it is small.
pub(super) fn p_value(value: f64) -> String {
    match value < 0.001 {
        true => "< 0.001".to_owned(),
        false => format!("{value:.3}"),
    }
}

/// The name of an interval in a sentence.
pub(super) fn spoken(interval: &str) -> String {
    interval.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_has_its_sign() {
        assert_eq!(signed(3.3), "+3.3 s");
        assert_eq!(signed(-3.0), "-3 s");
        assert_eq!(range([-1.0, 2.5]), "-1 to +2.5 s");
    }
}
