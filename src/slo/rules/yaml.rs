//! A YAML writer for what `podinit rules` writes: the same tree gives the same bytes, expressions
//! stand as blocks that people can read, and nothing is quoted without need.

use crate::slo::duration::SloDuration;

/// A YAML value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Yaml {
    /// One line of text
    Text(String),
    /// Lines of text, each as it is
    Block(String),
    /// Written as it is: a number or a truth value
    Bare(String),
    /// Items
    List(Vec<Yaml>),
    /// Keys, which need no quotes, and values
    Map(Vec<(&'static str, Yaml)>),
}

impl Yaml {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A map of texts.
    pub(super) fn texts<'a>(entries: impl IntoIterator<Item = (&'static str, &'a str)>) -> Self {
        let entries = entries.into_iter();
        Self::Map(entries.map(|(key, text)| (key, Self::text(text))).collect())
    }

    /// The document, with a line feed at its end.
    pub(super) fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        out
    }

    /// Writes the value where a line has just been indented by `depth`.
    fn write(&self, out: &mut String, depth: usize) {
        match self {
            Self::Map(entries) if !entries.is_empty() => {
                for (at, (key, value)) in entries.iter().enumerate() {
                    if at > 0 {
                        indent(out, depth);
                    }
                    out.push_str(key);
                    out.push(':');
                    value.write_after_key(out, depth);
                }
            }
            Self::List(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        indent(out, depth);
                    }
                    out.push_str("- ");
                    item.write(out, depth + 1);
                }
            }
            other => {
                other.write_scalar(out, depth);
                out.push('\n');
            }
        }
    }

    fn write_after_key(&self, out: &mut String, depth: usize) {
        let nested = match self {
            Self::Map(entries) => !entries.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Text(_) | Self::Block(_) | Self::Bare(_) => false,
        };
        if nested {
            out.push('\n');
            indent(out, depth + 1);
            self.write(out, depth + 1);
        } else {
            out.push(' ');
            self.write_scalar(out, depth + 1);
            out.push('\n');
        }
    }

    fn write_scalar(&self, out: &mut String, depth: usize) {
        match self {
            Self::Text(text) if is_plain(text) => out.push_str(text),
            Self::Text(text) => {
                out.push('\'');
                out.push_str(&text.replace('\'', "''"));
                out.push('\'');
            }
            Self::Block(text) => {
                out.push_str("|-");
                for line in text.lines() {
                    out.push('\n');
                    indent(out, depth);
                    out.push_str(line);
                }
            }
            Self::Bare(text) => out.push_str(text),
            Self::List(_) => out.push_str("[]"),
            Self::Map(_) => out.push_str("{}"),
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Whether text means itself without quotes: it is a duration, or it begins like a word that is no
/// keyword, and has no character that YAML gives a meaning to where it stands.
fn is_plain(text: &str) -> bool {
    const KEYWORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let lower = text.to_lowercase();
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with(':')
        && !KEYWORDS.contains(&lower.as_str())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(&byte));
    is_word || text.parse::<SloDuration>().is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn is_written_as_people_write_it() {
        let value = Yaml::Map(vec![
            ("name", Yaml::text("a-b.c/d")),
            ("for", Yaml::text("10m")),
            ("on", Yaml::text("on")),
            ("expr", Yaml::Block("up\n  == 0".to_owned())),
            ("none", Yaml::List(vec![])),
            (
                "list",
                Yaml::List(vec![
                    Yaml::Map(vec![
                        ("it", Yaml::text("it's")),
                        ("n", Yaml::Bare("5".to_owned())),
                    ]),
                    Yaml::Block("up".to_owned()),
                ]),
            ),
        ]);
        let text = "\
name: a-b.c/d
for: 10m
on: 'on'
expr: |-
  up
    == 0
none: []
list:
  - it: 'it''s'
    n: 5
  - |-
    up
";
        assert_eq!(value.document(), text);
    }

    proptest! {
        #[test]
        fn texts_are_read_as_they_were_written(text in "[ -~äß]{0,40}") {
            let map = Yaml::Map(vec![("key", Yaml::text(text.clone()))]);
            let read: std::collections::BTreeMap<String, String> =
                serde_saphyr::from_str(&map.document()).unwrap();
            prop_assert_eq!(&read["key"], &text);
        }
    }
}
