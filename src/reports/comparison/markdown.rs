//! A comparison in Markdown, for a pull request.

use std::fmt::Write;

use super::formatting::{HEAD, Table, breakdown, changes, mix_sentence, row_cells, sides};
use super::{Comparison, Row};
use crate::reports::report::markdown_name;

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
    let rows = |rows: &[Row]| rows.iter().map(row_cells).collect::<Vec<_>>();
    if !found.rows.is_empty() {
        table(&mut out, &HEAD, &rows(&found.rows));
    }
    let _ = writeln!(out, "\n{}", mix_sentence(found));
    if !found.matched_rows.is_empty() && !found.is_all_matched() {
        table(&mut out, &HEAD, &rows(&found.matched_rows));
    }
    if let Some(Table { title, head, rows }) = breakdown(found, markdown_name) {
        let _ = writeln!(out, "\n{title}:");
        table(&mut out, &head, &rows);
    }
    for (title, text) in changes(found, markdown_name) {
        let _ = writeln!(out, "\n**{title}**: {text}");
    }
    out
}

fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "\n| {} |\n|---|{}", head.join(" | "), "---|".repeat(head.len() - 1));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
}

/// A sentence in which the names of others are no markup.
fn escaped(text: &str) -> String {
    let shown = crate::text::strangers_text::shown(text);
    let mut escaped = String::new();
    for character in shown.chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '@' | '#' | '~' | '!'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
