//! A comparison for a terminal.

use std::fmt::Write;

use super::Comparison;
use super::formatting::{HEAD, Table, breakdown, changes, mix_sentence, row_cells, sides};
use crate::reports::report::Style;
use crate::text::strangers_text::shown;
use crate::text::table::table;

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
pub(super) fn render(found: &Comparison, style: Style) -> String {
    let mut out = format!("{}\n", shown(&found.answer.text));
    for more in [&found.answer.needed, &found.answer.caution].into_iter().flatten() {
        let _ = writeln!(out, "{more}");
    }
    for line in sides(found) {
        let _ = writeln!(out, "{line}");
    }
    let rows = |rows: &[super::Row]| rows.iter().map(row_cells).collect::<Vec<_>>();
    if !found.rows.is_empty() {
        let _ = write!(out, "\n{}", table(&HEAD, &rows(&found.rows), style.colour));
    }
    let _ = writeln!(out, "\n{}", mix_sentence(found));
    if !found.matched_rows.is_empty() && !found.is_all_matched() {
        let _ = write!(out, "{}", table(&HEAD, &rows(&found.matched_rows), style.colour));
    }
    if let Some(Table { title, head, rows }) = breakdown(found, |name| shown(name).into_owned()) {
        let _ = write!(out, "\n{title}\n{}", table(&head, &rows, style.colour));
    }
    for (title, text) in changes(found, |name| shown(name).into_owned()) {
        let _ = writeln!(out, "\n{title}: {text}");
    }
    out
}
