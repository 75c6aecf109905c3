//! Text of others, as a terminal, a page or a log may show it: the names in recordings and clusters, the
//! messages of servers and libraries. What would act instead of being read is replaced.
//!
//! | goes to | how |
//! |---|---|
//! | a terminal: reports, tables, findings, errors | [`shown`] |
//! | HTML | [`HtmlEscaped`], for every `{{ }}` of a template |
//! | Markdown | a code span: [`markdown::name`](super::markdown::name) |
//! | CSV | as it is, but no formula: `podinit_reports::report::csv`; on a terminal [`lines_shown`] |
//! | JSON | as it is, in escapes of JSON: [`json`] |
//! | an exposition | as it is, but images by [`label`], since alerts quote them; on a terminal [`lines_shown`] |

use std::borrow::Cow;
use std::fmt;

use podinit_core::pod::text::cut;
use serde::Serialize;

/// Whether a character acts: it controls a terminal (C0, C1, DEL), ends a line, or changes the direction of
/// what stands around it (the property `Bidi_Control` of Unicode, UAX #9).
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// What stands for a character: a space for white space that acts, U+FFFD for all else that does.
pub fn shown_as(character: char) -> char {
    match character {
        _ if !acts(character) => character,
        _ if character.is_whitespace() => ' ',
        _ => '\u{fffd}',
    }
}

/// The text on one line, without anything that acts. As many characters as before.
pub fn shown(text: &str) -> Cow<'_, str> {
    match text.contains(acts) {
        true => text.chars().map(shown_as).collect(),
        false => text.into(),
    }
}

/// The longest value of a label of a metric, in bytes: the longest name of a host, and a port.
pub const LONGEST_LABEL: usize = 259;

/// The name of an image or registry as a value of a label, which alerts quote to their receivers: on one line, without
/// anything that acts, and short ([§7.9](crate::specification#s7-9)). Valid names stay as they are.
pub fn label(text: &str) -> Cow<'_, str> {
    let short = cut(text, LONGEST_LABEL);
    if short.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return short.into();
    }
    match shown(short) {
        Cow::Borrowed(text) => text.into(),
        // U+FFFD takes more bytes than most that it stands for.
        Cow::Owned(mut text) => {
            text.truncate(cut(&text, LONGEST_LABEL).len());
            text.into()
        }
    }
}

/// The text without anything that acts but line ends, those of CSV included: for a terminal that is shown a
/// format which is meant for programs.
pub fn lines_shown(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let end = ["\r\n", "\n"].into_iter().find(|end| line.ends_with(end));
        let end = end.unwrap_or_default();
        shown(&line[..line.len() - end.len()]).into_owned() + end
    });
    lines.collect()
}

/// A document as JSON on lines of its own, and a line end. Within its texts, what acts is an escape of JSON: a
/// program reads the same, and a terminal shows it.
///
/// # Errors
/// If it cannot be expressed in JSON, such as a map whose keys are no texts.
pub fn json(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| escaped_json(&text).into_owned() + "\n")
}

/// JSON in which what acts within texts is escaped. Outside of texts only line ends act.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_escaped = |character| acts(character) && character != '\n';
    if !json.contains(is_escaped) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_escaped(character) {
            // All of them are of the basic plane, so one escape is enough.
            escaped.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped.into()
}

/// Escapes for HTML, in elements and quoted attributes: [`shown`], and no markup.
#[derive(Clone, Copy, Debug, Default)]
pub struct HtmlEscaped;

impl askama::filters::Escaper for HtmlEscaped {
    fn write_escaped_str<W: fmt::Write>(&self, mut to: W, text: &str) -> fmt::Result {
        askama::filters::Html.write_escaped_str(&mut to, &shown(text))
    }

    fn write_escaped_char<W: fmt::Write>(&self, mut to: W, character: char) -> fmt::Result {
        askama::filters::Html.write_escaped_char(&mut to, shown_as(character))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_acts_is_replaced_and_all_else_stays() {
        for (text, expected) in [
            ("web-0", "web-0"),
            ("é 東 🦀 ‍", "é 東 🦀 ‍"),
            ("\u{1b}[2J\u{7f}\u{9b}m\0", "\u{fffd}[2J\u{fffd}\u{fffd}m\u{fffd}"),
            ("a\tb\r\nc\u{85}d\u{2028}e\u{2029}f", "a b  c d e f"),
            ("\u{202e}cod\u{2066}.exe\u{200f}", "\u{fffd}cod\u{fffd}.exe\u{fffd}"),
        ] {
            assert_eq!(shown(text), expected);
            assert!(!shown(text).contains(acts));
            assert_eq!(shown(text).chars().count(), text.chars().count());
        }
    }

    #[test]
    fn a_label_is_one_short_line_and_a_valid_name_stays() {
        let host = format!("{}.example:65535", "a".repeat(LONGEST_LABEL - 14));
        for name in ["", "web-0", "é 東 🦀", "[2001:db8::1]:5000", "<!channel>", &host] {
            assert_eq!(label(name), name);
        }
        assert_eq!(label("a\r\nb\u{202e}"), "a  b\u{fffd}");
        for long in ["a", "é", "\u{1b}", "\u{2066}"] {
            let text = label(&long.repeat(LONGEST_LABEL + 1)).into_owned();
            assert!(text.len() <= LONGEST_LABEL && text.len() > LONGEST_LABEL - 3);
            assert!(!text.contains(acts));
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(lines_shown("a\u{1b}\r\nb\rc\n\nd"), "a\u{fffd}\r\nb c\n\nd");
        assert_eq!(lines_shown(""), "");
    }

    #[test]
    fn json_is_read_as_before() {
        let texts: Vec<String> =
            (0..=0x2070).filter_map(char::from_u32).map(String::from).collect();
        let text = json(&texts).unwrap();
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), texts);
        assert!(!text.replace('\n', "").contains(acts));
    }

    #[test]
    fn html_has_neither_markup_nor_what_acts() {
        use askama::filters::Escaper;
        let mut html = String::new();
        HtmlEscaped.write_escaped_str(&mut html, "<b>\u{202e}&\"'").unwrap();
        assert_eq!(html, "&#60;b&#62;\u{fffd}&#38;&#34;&#39;");
    }
}
