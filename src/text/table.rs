//! Tables of texts for a terminal, as those of kubectl.

use super::strangers_text::shown;

/// Between two columns.
const GAP: usize = 3;

/// The text of a cell; `-` where there is none.
pub fn cell(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        text => shown(text).into_owned(),
    }
}

/// The rows below a head, aligned. `bold` makes the head bold on a terminal. Rows are as long as the head.
pub fn table(head: &[&str], rows: &[Vec<String>], bold: bool) -> String {
    let head: Vec<String> = head.iter().map(|text| (*text).to_owned()).collect();
    let all = || std::iter::once(&head).chain(rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..head.len()).filter_map(width).collect();
    let mut text = String::new();
    for (number, row) in all().enumerate() {
        let line = line(row, &widths);
        match bold && number == 0 {
            true => text.push_str(&format!("\x1b[1m{line}\x1b[0m\n")),
            false => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        line.push_str(&format!("{cell:<0$}", width + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}
