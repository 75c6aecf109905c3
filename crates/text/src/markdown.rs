//! Texts of others in Markdown.

use super::strangers_text::shown;

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
