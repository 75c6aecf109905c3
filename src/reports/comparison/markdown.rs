//! A comparison in Markdown, for a pull request.

use std::fmt::Write;

use super::formatting::{HEAD, Table, breakdown, changes, mix_sentence, row_cells, sides};
use super::{Comparison, Row};
use crate::text::markdown::{Columns, escaped, name, table};

/// Writing to a `String` cannot fail, so results of `write!` are ignored here.
pub(super) fn render(found: &Comparison) -> String {
    let mut out = format!("**{}**\n", escaped(&found.answer.text));
    for more in [&found.answer.needed, &found.answer.caution].into_iter().flatten() {
        let _ = writeln!(out, "\n{more}");
    }
    out.push('\n');
    for line in sides(found) {
        let _ = writeln!(out, "- {line}");
    }
    let rows = |rows: &[Row]| table(&HEAD, rows.iter().map(row_cells), Columns::Left);
    if !found.rows.is_empty() {
        let _ = write!(out, "\n{}", rows(&found.rows));
    }
    let _ = writeln!(out, "\n{}", mix_sentence(found));
    if !found.matched_rows.is_empty() && !found.is_all_matched() {
        let _ = write!(out, "\n{}", rows(&found.matched_rows));
    }
    if let Some(Table { title, head, rows }) = breakdown(found, name) {
        let _ = write!(out, "\n{title}:\n\n{}", table(&head, rows, Columns::Left));
    }
    for (title, text) in changes(found, name) {
        let _ = writeln!(out, "\n**{title}**: {text}");
    }
    out
}
