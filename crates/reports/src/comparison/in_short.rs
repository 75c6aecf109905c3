//! The few rows that a comment of a pull request begins with ([§15.5](crate::specification#s15-5)).

use super::Comparison;
use super::answer::WHOLE;
use super::formatting::{figures, row_name};
use super::not_started::{NOT_STARTED, NotStarted};
use super::quantile::IntervalQuantile;
use super::row::Row;
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::Stage;
use podinit_text::table::TextTable;
use podinit_text::words::points;

/// So many rows.
const MOST_ROWS: usize = 10;

const HEAD: [&str; 7] = ["interval", "verdict", "p50", "change", "p90", "change", "pods"];

/// The rows in short, and of which pods they are. `shown` is how names are written in the format.
pub(super) fn short_table(
    found: &Comparison,
    shown: impl Fn(&str) -> String,
) -> (&'static str, TextTable) {
    let title = match found.answer.matched {
        true => "Pods that have a match, weighted as before:",
        false => "All pods:",
    };
    let starts = found.not_started.as_ref().filter(|_| found.is_worse_to_start()).map(starts_cells);
    let rows = ordered(found.answering()).into_iter().map(|row| {
        let [verdict, pods, p50, change, p90, change_of_p90, ..] = figures(row);
        [row_name(row, &shown), verdict, p50, change, p90, change_of_p90, pods]
    });
    (title, TextTable::new(&HEAD, starts.into_iter().chain(rows).take(MOST_ROWS)))
}

/// The whole durations, what moved (the greatest change first), and the other stages.
fn ordered(rows: &[Row]) -> Vec<&Row> {
    let place = |row: &Row| WHOLE.iter().position(|whole| row.interval == whole.as_str());
    let mut whole: Vec<&Row> = rows.iter().filter(|row| place(row).is_some()).collect();
    whole.sort_by_key(|row| place(row));
    let others = rows.iter().filter(|row| place(row).is_none());
    let (mut moved, same): (Vec<&Row>, Vec<&Row>) =
        others.partition(|row| row.verdict.is_different());
    let size = |row: &Row| IntervalQuantile::told(row).difference_in(row).difference.abs();
    moved.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let stages = same.into_iter().filter(|row| Stage::from_text(&row.interval).is_some());
    whole.into_iter().chain(moved).chain(stages).collect()
}

/// The cells of the pods that did not start, which have no quantiles.
fn starts_cells(starts: &NotStarted) -> [String; 7] {
    let (none, verdict) = (|| "-".to_owned(), starts.verdict.as_str().to_owned());
    let (before, after) = (starts.before.pods, starts.after.pods);
    let pods = format!("{before} → {after} ({})", points(starts.difference));
    [NOT_STARTED.to_owned(), verdict, none(), none(), none(), none(), pods]
}
