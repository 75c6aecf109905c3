//! Texts from outside, bounded.

use std::borrow::Cow;

/// The beginning of a text, in at most `most_bytes` bytes and whole characters.
pub fn cut(text: &str, most_bytes: usize) -> &str {
    let mut end = text.len().min(most_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The text, or its beginning and its end with `…` between them, in at most `most_bytes` bytes. Messages of Kubernetes
/// say first what was done, and last what went wrong.
pub fn ends(text: &str, most_bytes: usize) -> Cow<'_, str> {
    const LEFT_OUT: &str = "…";
    if text.len() <= most_bytes {
        return Cow::Borrowed(text);
    }
    let room = most_bytes.saturating_sub(LEFT_OUT.len());
    let head = cut(text, room / 2);
    let mut begin = text.len() - (room - head.len());
    while !text.is_char_boundary(begin) {
        begin += 1;
    }
    Cow::Owned(format!("{head}{LEFT_OUT}{}", &text[begin..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        for (text, most, kept) in [
            ("", 5, ""),
            ("abcdefg", 7, "abcdefg"),
            ("abcdefghij", 7, "ab…ij"),
            ("abcdefghij", 8, "ab…hij"),
            ("ééééé", 8, "é…é"),
            ("abcdefghij", 3, "…"),
        ] {
            assert_eq!(ends(text, most), kept, "{text} {most}");
            assert!(kept.len() <= most);
        }
    }

    #[test]
    fn no_character_is_cut_in_two() {
        for (text, most, fits) in [
            ("", 3, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "abc"),
            ("aéé", 3, "aé"),
            ("aéé", 4, "aé"),
            ("éé", 1, ""),
        ] {
            assert_eq!(cut(text, most), fits, "{text} {most}");
        }
    }
}
