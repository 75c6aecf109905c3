//! How the rules are written as YAML.

use serde::Serialize;

use super::options::RulesError;

/// One YAML document that ends with a line feed. Text of several lines (expressions) is a literal
/// block; other text stays on one line, with quotes where YAML needs them. The same value gives
/// the same bytes.
pub(super) fn document(value: &impl Serialize) -> Result<String, RulesError> {
    let options = serde_saphyr::ser_options! {
        compact_list_indent: false,
        folded_wrap_chars: usize::MAX,
    };
    serde_saphyr::to_string_with_options(value, options)
        .map_err(|error| RulesError::Yaml(error.to_string()))
}

/// Serializes pairs as a map, in their order.
pub(super) fn map<S: serde::Serializer>(
    pairs: &[(&'static str, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Serialize)]
    struct Example {
        name: &'static str,
        r#for: &'static str,
        state: &'static str,
        expr: &'static str,
        none: [u8; 0],
        list: [Item; 2],
        long: String,
    }

    #[derive(Serialize)]
    struct Item {
        it: &'static str,
        count: u8,
    }

    #[test]
    fn is_written_as_people_write_it() {
        let value = Example {
            name: "a-b.c/d",
            r#for: "10m",
            state: "on",
            expr: "up\n  == 0",
            none: [],
            list: [
                Item {
                    it: "it's",
                    count: 5,
                },
                Item {
                    it: "up: 1",
                    count: 6,
                },
            ],
            long: "word ".repeat(30) + "word",
        };
        let text = "\
name: a-b.c/d
for: 10m
state: \"on\"
expr: |-
  up
    == 0
none: []
list:
  - it: it's
    count: 5
  - it: \"up: 1\"
    count: 6
long: ";
        let written = document(&value).unwrap();
        assert_eq!(written, format!("{text}{}\n", value.long));
    }

    proptest! {
        #[test]
        fn texts_are_read_as_they_were_written(text in "[ -~äß\n]{0,40}") {
            let map = BTreeMap::from([("key", text.clone())]);
            let read: BTreeMap<String, String> =
                serde_saphyr::from_str(&document(&map).unwrap()).unwrap();
            prop_assert_eq!(&read["key"], &text);
        }
    }
}
