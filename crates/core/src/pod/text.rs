//! Texts from outside, bounded.

/// As much of a text as fits into so many bytes.
pub fn cut(text: &str, most_bytes: usize) -> &str {
    let mut end = text.len().min(most_bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

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
