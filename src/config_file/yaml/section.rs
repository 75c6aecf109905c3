//! A YAML map with a fixed set of keys.

use super::tree::{Entry, Fault, Node, Secrecy, Value};

/// A map with no other keys than the known ones.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    path: String,
    line: u64,
    entries: &'a [Entry],
    secrecy: Secrecy,
}

impl<'a> Section<'a> {
    /// Reads `node`, whose path is `path`, as such a map.
    pub(crate) fn of(
        node: &'a Node,
        path: String,
        known: &[&str],
        secrecy: Secrecy,
    ) -> Result<Self, Fault> {
        let Value::Map(entries) = &node.value else {
            let why =
                format!("must be a map with {}, is {}", known.join(", "), node.value.kind(secrecy));
            return Err(Fault::new(node.line, path, why));
        };
        let section = Self { path, line: node.line, entries, secrecy };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let why = match nearest(&entry.key, known) {
                    Some(near) => format!("unknown key; did you mean {near}?"),
                    None => format!("unknown key; known are {}", known.join(", ")),
                };
                let path = match secrecy {
                    Secrecy::Show => section.path_of(&entry.key),
                    Secrecy::Redact => section.path,
                };
                return Err(Fault::new(entry.line, path, why));
            }
        }
        Ok(section)
    }

    /// Reads the value of a key as such a map.
    pub(crate) fn inner(&self, key: &str, node: &'a Node, known: &[&str]) -> Result<Self, Fault> {
        Section::of(node, self.path_of(key), known, self.secrecy)
    }

    /// The value of a key, if there is one.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Node> {
        let entry = self.entries.iter().find(|entry| entry.key == key);
        entry.map(|entry| &entry.node)
    }

    /// The value of a required key.
    pub(crate) fn need(&self, key: &str) -> Result<&'a Node, Fault> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// The error of a missing key.
    pub(crate) fn missing(&self, key: &str) -> Fault {
        Fault::new(self.line, self.path_of(key), "is missing")
    }

    /// The value of a key as a truth value.
    pub(crate) fn truth(&self, key: &str, node: &Node) -> Result<bool, Fault> {
        match node.value {
            Value::Bool(truth) => Ok(truth),
            _ => {
                let why = format!("must be true or false, is {}", self.kind(node));
                Err(self.fault(key, node, why))
            }
        }
    }

    /// The value of a key as a list.
    pub(crate) fn items<'n>(&self, key: &str, node: &'n Node) -> Result<&'n [Node], Fault> {
        match &node.value {
            Value::List(items) => Ok(items),
            _ => Err(self.fault(key, node, format!("must be a list, is {}", self.kind(node)))),
        }
    }

    /// The value of a key as text that `parse` accepts.
    pub(crate) fn text<T>(
        &self,
        key: &str,
        node: &Node,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, Fault> {
        let Value::Text(text) = &node.value else {
            return Err(self.fault(key, node, format!("must be text, is {}", self.kind(node))));
        };
        parse(text).map_err(|why| self.fault(key, node, why))
    }

    /// The value of a key as a list of 1 to `most` texts that `parse` accepts.
    pub(crate) fn texts(
        &self,
        key: &str,
        node: &Node,
        most: usize,
        parse: impl Fn(&str) -> Result<Box<str>, String>,
    ) -> Result<Vec<Box<str>>, Fault> {
        let items = self.items(key, node)?;
        if !(1..=most).contains(&items.len()) {
            let why = format!("must have from 1 to {most} items, has {}", items.len());
            return Err(self.fault(key, node, why));
        }
        let named = |(at, item)| self.text(&format!("{key}[{at}]"), item, &parse);
        items.iter().enumerate().map(named).collect()
    }

    /// The kind of a value, for messages.
    pub(crate) fn kind(&self, node: &Node) -> String {
        node.value.kind(self.secrecy)
    }

    /// An error in the value of a key.
    pub(crate) fn fault(&self, key: &str, node: &Node, why: impl Into<String>) -> Fault {
        Fault::new(node.line, self.path_of(key), why)
    }

    /// A key as messages name it.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// The known word that was most likely intended.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // A word as long as this is no typing error, and not worth comparing.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let distances = known.iter().map(|near| (distance(&word, near), *near));
    let (distance, near) = distances.min()?;
    (distance <= 1 + near.len() / 4).then_some(near)
}

/// The Levenshtein distance: how many characters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (deleted, wanted) in (1..).zip(one.chars()) {
        let mut diagonal = std::mem::replace(&mut row[0], deleted);
        for (at, found) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(wanted != *found);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_recognized() {
        let known = ["name", "interval", "threshold", "objective", "owner_kinds"];
        assert_eq!(nearest("treshold", &known), Some("threshold"));
        assert_eq!(nearest("ownerKinds", &known), Some("owner_kinds"));
        assert_eq!(nearest("Objective", &known), Some("objective"));
        assert_eq!(nearest("latency", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
