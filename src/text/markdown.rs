//! Markdown, for issues, wikis and pull requests.

use super::strangers_text::shown;

/// Which way the columns of a table after the first are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// Texts
    Left,
    /// Numbers
    Right,
}

/// A table. The rows are as long as the head; their cells are Markdown.
pub fn table<R: AsRef<[String]>>(
    head: &[&str],
    rows: impl IntoIterator<Item = R>,
    columns: Columns,
) -> String {
    let rule = match columns {
        Columns::Left => "---|",
        Columns::Right => "---:|",
    };
    let mut text =
        format!("| {} |\n|---|{}\n", head.join(" | "), rule.repeat(head.len().saturating_sub(1)));
    for row in rows {
        text += &format!("| {} |\n", row.as_ref().join(" | "));
    }
    text
}

/// A name as a code span, in which nothing is markup or a link. What would end the span or the cell of a table is
/// replaced.
pub fn name(text: &str) -> String {
    match text {
        "" => "-".to_owned(),
        text => format!("`{}`", shown(text).replace(['`', '|', '\\'], "?")),
    }
}

/// A sentence in which the names of others are no markup.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in shown(text).chars() {
        if "\\`*_[]<>&|@#~!".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
