//! What the formats of a comparison share. Its figures as people read them.

use super::Comparison;
use super::breakdown::Breakdown;
use super::changes::{ChangedNames, Counted};
use super::dimension::{Part, name_of};
use super::not_started::NotStarted;
use super::presence::SideName;
use super::pulled::PulledStartups;
use super::row::{Difference, Row};
use super::statistics::{Proportion, Resampled};
use super::timed::PULLS;
use super::together::Together;
use crate::report::{span, three_digit_seconds};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{SloInterval, Step};
use podinit_text::table::TextTable;
use podinit_text::words::{percent, points, thousands};

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
pub(super) fn row_table(rows: &[Row], shown: impl Fn(&str) -> String) -> TextTable {
    TextTable::new(&HEAD, rows.iter().map(|row| row_cells(row, &shown))).with_verdicts(1)
}

/// The name of a row, and where it was not there. That of a gate is a stranger's.
pub(super) fn row_name(row: &Row, shown: impl Fn(&str) -> String) -> String {
    let name = match SloInterval::from_text(&row.interval) {
        Some(_) => row.interval.to_string(),
        None if row.interval == PULLS => PULLS.to_owned(),
        None => shown(&row.interval),
    };
    match row.not_there {
        Some(SideName::Before) => format!("{name} (not there before)"),
        Some(SideName::After) => format!("{name} (not there after)"),
        None => name,
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
    let name = format!("{} {}{new}", name_of(part.dimension), shown(&part.value));
    let mut cells = vec![name, percent(part.share), percent(part.pods_after)];
    cells.extend(figures(&part.row));
    cells
}

/// The cells of a row behind its name, as the columns are.
pub(super) fn figures(row: &Row) -> [String; 9] {
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
        p_value_of(row.corrected_p_value),
    ]
}

/// A line for each side, and one that says how the figures were found. `shown` is how names are written in the format.
pub(super) fn sides(found: &Comparison, shown: impl Fn(&str) -> String) -> Vec<String> {
    let side = |name, summary: &super::SideSummary| {
        let span = span(summary.from.as_deref(), summary.to.as_deref());
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
        let pods = thousands(summary.observed as u64);
        format!("{name}: {pods} pods observed{span}{kept}{lone}")
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
    let starts = found.not_started.as_ref().map(|starts| match starts.together {
        Together::Workloads => "pods that did not start: intervals by resampling workloads",
        Together::Minutes => {
            "pods that did not start: intervals by resampling the pods of a workload and a minute, since fewer than 10 \
             workloads had new pods; the tries of a Job are one pod"
        }
        Together::Pods => {
            "pods that did not start: intervals as of independent pods, since fewer than 10 workloads and minutes had new \
             pods; the tries of a Job are one pod"
        }
    });
    let all = [
        side("before", &found.before),
        side("after", &found.after),
        format!(
            "timestamps: {}; margin: {} %; intervals of 95 % by resampling {resampled}",
            found.timestamps, found.margin_percent
        ),
    ];
    all.into_iter().chain(starts.map(str::to_owned)).collect()
}

/// So many values of what the answer is not about are shown.
const MOST_OTHER_PARTS: usize = 8;

/// Where the difference lies, as tables with their titles, that of the answer first; in full there, and of the other rows
/// the values that moved. `shown` is how names are written in the format.
pub(super) fn breakdowns(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> Vec<(String, TextTable)> {
    let mut head = vec!["where", "share", "of pods"];
    head.extend(&HEAD[1..]);
    let table = |breakdown: &Breakdown, parts: Vec<&Part>| {
        let title = format!("Where, of the difference of the means of {}", breakdown.interval);
        let rows = parts.into_iter().map(|part| part_cells(part, &shown));
        let table = TextTable::new(&head, rows);
        (title.clone(), table.with_verdicts(3).labelled(title))
    };
    let answer = found.breakdown.iter().map(|one| table(one, one.parts.iter().collect()));
    let others = found.other_breakdowns.iter().filter_map(|one| {
        let moved = one.parts.iter().filter(|part| part.row.verdict.is_different());
        let moved: Vec<&Part> = moved.take(MOST_OTHER_PARTS).collect();
        (!moved.is_empty()).then(|| table(one, moved))
    });
    answer.chain(others).collect()
}

/// How far the mixes agree.
pub(super) fn mix_shares(found: &Comparison) -> String {
    let mix = &found.mix;
    format!(
        "{} of the pods before and {} of those after have a match on the other side. A match has the same workload, or without \
         one the same images.",
        percent(mix.before),
        percent(mix.after)
    )
}

/// The same, before the table of the matched pods where there is one.
pub(super) fn mix_sentence(found: &Comparison) -> String {
    let shares = mix_shares(found);
    match found.mix.is_all() || found.matched_rows.is_empty() {
        true => shares,
        false => format!("{shares} These pods alone, weighted as before:"),
    }
}

/// Names with their counts before and after.
fn counted(counted: &[Counted], shown: impl Fn(&str) -> String) -> String {
    let pairs =
        counted.iter().map(|one| format!("{} {} → {}", shown(&one.name), one.before, one.after));
    pairs.collect::<Vec<_>>().join(", ")
}

/// What stands beside the answer, under titles: why pods did not start, causes and outcomes.
pub(super) fn beside(found: &Comparison) -> Vec<(&'static str, String)> {
    let own = str::to_owned;
    let starts = found.not_started.as_ref();
    let all = [
        ("Why pods did not start", starts.map_or_else(String::new, NotStarted::reasons_in_words)),
        ("Not counted there", starts.and_then(NotStarted::left_out).unwrap_or_default()),
        ("Pods by how they ended", counted(&found.outcomes, own)),
        ("Pods by cause of waiting", counted(&found.causes, own)),
        (
            "Startups that pulled an image",
            found.pulled.as_ref().map_or_else(String::new, PulledStartups::in_words),
        ),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// What is said of pods that do not start where that is not the answer.
pub(super) fn starts(found: &Comparison) -> Option<&str> {
    let starts = found.not_started.as_ref()?;
    (!starts.is_said_first()).then_some(&*starts.text)
}

/// The columns of the row of the pods that did not start.
const STARTS_HEAD: [&str; 7] = [
    "did not start",
    "verdict",
    "before",
    "share before",
    "after",
    "share after",
    "change, p-value",
];

/// The row of the pods that did not start, with those of its values; `None` without one. `shown` is how names are
/// written in the format.
pub(super) fn starts_table(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> Option<TextTable> {
    let starts = found.not_started.as_ref()?;
    let cells = |name: String, verdict: &str, before: Proportion, after: Proportion, p_value| {
        let shares = [before, after].map(|pods| percent(pods.share()));
        let [earlier, later] = shares;
        let difference = points(after.share() - before.share());
        let change = format!("{difference}, {}", p_value_of(p_value));
        [name, verdict.to_owned(), before.to_string(), earlier, after.to_string(), later, change]
    };
    let (before, after) = (starts.before.pods, starts.after.pods);
    let all = cells("all pods".to_owned(), starts.verdict.as_str(), before, after, starts.p_value);
    let parts = starts.parts.iter().filter(|part| part.is_no_chance()).map(|part| {
        let name = format!("- {} {}", name_of(part.dimension), shown(&part.value));
        cells(name, "worse", part.before, part.after, part.corrected_p_value)
    });
    let table = TextTable::new(&STARTS_HEAD, std::iter::once(all).chain(parts));
    Some(table.with_verdicts(1).with_numbers(2..6).labelled("Pods that did not start"))
}

/// What else is different, under titles. `shown` is how names are written in the format.
pub(super) fn changes(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> Vec<(&'static str, String)> {
    let changes = &found.changes;
    let names = |names: &ChangedNames| {
        let listed: Vec<String> = names.names.iter().map(|name| shown(name)).collect();
        match names.count - listed.len() {
            0 => listed.join(", "),
            more => format!("{} and {more} more", listed.join(", ")),
        }
    };
    let all = [
        ("Changed in workloads", found.workload_changes.in_words(&shown)),
        ("Nodes only before", names(&changes.nodes_only_before)),
        ("Nodes only after", names(&changes.nodes_only_after)),
        ("Images only before", names(&changes.images_only_before)),
        ("Images only after", names(&changes.images_only_after)),
        ("Nodes by version of the kubelet", counted(&changes.kubelet_versions, &shown)),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// A duration in seconds, 0 or longer, with three digits that count: `8.14s`, `2m5s`.
pub(super) fn seconds(value: f64) -> String {
    three_digit_seconds(value, f64::round)
}

/// Seconds with their sign: `+3.3s`.
pub(super) fn signed(value: f64) -> String {
    match (value, seconds(value.abs())) {
        (_, text) if text == "0s" => text,
        (value, text) if value < 0.0 => format!("-{text}"),
        (_, text) => format!("+{text}"),
    }
}

/// Both ends of an interval: `+2.9s to +3.8s`.
pub(super) fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", signed(low), signed(high))
}

/// A p-value: `0.03`, or that it is small.
fn p_value_of(value: f64) -> String {
    match value {
        value if value < 0.001 => "< 0.001".to_owned(),
        value if value > 0.999 => "1".to_owned(),
        value => format!("{value:.3}"),
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
        assert_eq!(signed(3.3), "+3.3s");
        assert_eq!(signed(-3.0), "-3s");
        assert_eq!(signed(0.000_1), "0s");
        assert_eq!(range([-1.0, 125.4]), "-1s to +2m5s");
    }
}
