//! A table of texts in each format: aligned for a terminal, as those of kubectl, in Markdown, and in HTML.

use std::ops::Range;

use askama::Template;

use super::strangers_text::shown;

/// Between two columns.
const GAP: usize = 3;

/// Rows below a head, as long as it. Their cells are texts of the format, in HTML any texts; the first names the row.
#[derive(Clone, Debug, Template)]
#[template(path = "table.html")]
pub struct TextTable {
    /// What it shows, for those who cannot see it
    label: String,
    head: Vec<&'static str>,
    /// The columns that hold numbers, and are aligned to the right
    numbers: Range<usize>,
    /// The column of HTML whose words are classes too, so that a page may colour them. In such a table each cell also
    /// names its column, so that a narrow page may show a row as a block
    verdicts: Option<usize>,
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table of texts.
    pub fn new<R: Into<Vec<String>>>(
        head: &[&'static str],
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let rows = rows.into_iter().map(Into::into).collect();
        Self { label: String::new(), head: head.to_vec(), numbers: 0..0, verdicts: None, rows }
    }

    /// The same with numbers in these columns.
    pub fn with_numbers(self, numbers: Range<usize>) -> Self {
        Self { numbers, ..self }
    }

    /// The same with verdicts in this column: words of ours, without spaces.
    pub fn with_verdicts(self, column: usize) -> Self {
        Self { verdicts: Some(column), ..self }
    }

    /// The classes of a cell in HTML.
    fn class_of<'a>(&self, column: &usize, cell: &'a str) -> &'a str {
        match (self.numbers.contains(column), self.verdicts == Some(*column)) {
            (true, _) => "number",
            (false, true) => cell,
            (false, false) => "",
        }
    }

    /// The same, named for those who cannot see it.
    pub fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// The table for a terminal. `bold` makes the head bold.
    pub fn to_text(&self, bold: bool) -> String {
        let head: Vec<String> = self.head.iter().map(|text| (*text).to_owned()).collect();
        let all = || std::iter::once(&head).chain(&self.rows);
        let width = |column: usize| all().map(|row| row[column].chars().count()).max();
        let widths: Vec<usize> = (0..head.len()).filter_map(width).collect();
        let mut text = String::new();
        for (number, row) in all().enumerate() {
            let line = self.line(row, &widths);
            match bold && number == 0 {
                true => text.push_str(&format!("\x1b[1m{line}\x1b[0m\n")),
                false => text.push_str(&format!("{line}\n")),
            }
        }
        text
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            line.push_str(&match self.numbers.contains(&column) {
                true => format!("{cell:>width$}{:GAP$}", ""),
                false => format!("{cell:<0$}", width + GAP),
            });
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// The same without what comes after so many rows, and how many these are.
    pub(super) fn cut(&self, most: usize) -> (Self, usize) {
        let rows: Vec<_> = self.rows.iter().take(most).cloned().collect();
        let left_out = self.rows.len() - rows.len();
        (Self { rows, ..self.clone() }, left_out)
    }

    /// The table in Markdown.
    pub fn to_markdown(&self) -> String {
        let rule = |column| if self.numbers.contains(&column) { "---:|" } else { "---|" };
        let rules: String = (0..self.head.len()).map(rule).collect();
        let mut text = format!("| {} |\n|{rules}\n", self.head.join(" | "));
        for row in &self.rows {
            text += &format!("| {} |\n", row.join(" | "));
        }
        text
    }
}

/// The text of a cell for a terminal; an empty cell is `-`.
pub fn cell(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        text => shown(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn numbers_stand_at_the_right_in_each_format() {
        let rows = [["a".to_owned(), "5".to_owned()], ["<b>".to_owned(), "1234".to_owned()]];
        let table = TextTable::new(&["name", "n"], rows).with_numbers(1..2).labelled("Names");
        assert_eq!(table.to_text(false), "name      n\na         5\n<b>    1234\n");
        assert_eq!(table.to_markdown(), "| name | n |\n|---|---:|\n| a | 5 |\n| <b> | 1234 |\n");
        let html = table.render().unwrap();
        assert!(html.contains(r#"aria-label="Names""#), "{html}");
        assert!(html.contains(r#"<th scope="row">&#60;b&#62;</th><td class="number">1234</td>"#));
        assert!(!html.contains("data-name"), "{html}");
    }

    #[test]
    fn a_verdict_is_a_class_and_cells_name_their_columns() {
        let row = ["a", "slower", "5"].map(str::to_owned);
        let table = TextTable::new(&["name", "verdict", "n"], [row]).with_numbers(2..3);
        let html = table.with_verdicts(1).render().unwrap();
        let cells = r#"<td data-name="verdict" class="slower">slower</td><td data-name="n" class="number">5</td>"#;
        assert!(html.contains(cells), "{html}");
        assert!(html.contains(r#"<table class="blocks">"#), "{html}");
    }
}
