//! What other programs and libraries say of an error, as text for one log line.

use crate::strangers_text::shown_as;

/// How many characters of a foreign message are repeated in a log line.
pub const DETAIL_LIMIT: usize = 300;

/// An error with its causes, each once: some errors repeat their cause in their own message.
pub fn root_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    one_line(&text)
}

/// Foreign text, fit for a log line: without what acts and of bounded length.
pub fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(DETAIL_LIMIT).map(shown_as).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}
