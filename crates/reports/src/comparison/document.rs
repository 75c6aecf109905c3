//! A comparison for a terminal, and in Markdown for a pull request.

use super::Comparison;
use super::formatting::{
    beside, breakdowns, changes, mix_sentence, row_table, sides, starts, starts_table,
};
use podinit_text::document::{DocumentFormat, TextDocument};

/// The whole comparison.
pub(super) fn render(found: &Comparison, format: DocumentFormat) -> String {
    let mut document = TextDocument::new(format);
    document.answer(&found.answer.text);
    for more in [&found.answer.needed, &found.answer.caution].into_iter().flatten() {
        document.sentence(more);
    }
    starts(found).into_iter().for_each(|starts| document.sentence(starts));
    for (title, text) in beside(found) {
        document.labelled(title, &text);
    }
    document.list(sides(found, |name| document.name(name)));
    if let Some(table) = starts_table(found, |name| document.name(name)) {
        document.table(&table);
    }
    if !found.rows.is_empty() {
        document.table(&row_table(&found.rows, |name| document.name(name)));
    }
    document.sentence(&mix_sentence(found));
    if !found.matched_rows.is_empty() && !found.mix.is_all() {
        document.table(&row_table(&found.matched_rows, |name| document.name(name)));
    }
    for (title, table) in breakdowns(found, |name| document.name(name)) {
        let colon = if format == DocumentFormat::Markdown { ":" } else { "" };
        document.sentence(&format!("{title}{colon}"));
        document.table(&table);
    }
    for (title, text) in changes(found, |name| document.name(name)) {
        document.labelled(title, &text);
    }
    document.finish()
}
