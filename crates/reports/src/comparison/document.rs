//! A comparison for a terminal, and in Markdown for a pull request ([§15.5](crate::specification#s15-5)).

use super::Comparison;
use super::formatting::{
    beside, breakdowns, changes, mix_sentence, row_table, sides, starts, starts_table,
};
use super::in_short::short_table;
use podinit_text::document::{DocumentFormat, TextDocument};

/// GitHub takes comments of at most 65,536 characters.
const MOST_CHARACTERS: usize = 65_000;

/// The whole comparison.
pub(super) fn render(found: &Comparison, format: DocumentFormat) -> String {
    let mut document = TextDocument::new(format);
    for (label, text) in found.checks.failures() {
        let text = document.escaped(text);
        document.labelled(label, &format!("{text}."));
    }
    document.answer(&found.answer.text);
    found.checks.unasked().into_iter().for_each(|status| document.sentence(status));
    for more in [&found.answer.needed, &found.answer.caution].into_iter().flatten() {
        document.sentence(more);
    }
    starts(found).into_iter().for_each(|starts| document.sentence(starts));
    if format == DocumentFormat::Markdown {
        let (title, table) = short_table(found, |name| document.name(name));
        if !table.rows.is_empty() {
            document.sentence(title);
            document.table(&table);
        }
    }
    document.folded("All figures", MOST_CHARACTERS, |document| figures(found, document));
    document.finish()
}

/// What stands behind the answer.
fn figures(found: &Comparison, document: &mut TextDocument) {
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
        let colon = if document.format == DocumentFormat::Markdown { ":" } else { "" };
        document.sentence(&format!("{title}{colon}"));
        document.table(&table);
    }
    for (title, text) in changes(found, |name| document.name(name)) {
        document.labelled(title, &text);
    }
}
