//! How an error names an entry of a kubeconfig: by its name and its line, and by nothing else that stands there.

use std::path::{Path, PathBuf};

use crate::config_file::yaml::{self, Node, Secrecy, Value};

/// A kubeconfig holds certificates, but is no longer than this.
const MOST_BYTES: usize = 16 << 20;

/// An entry of one of the lists of a kubeconfig.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry<'a> {
    Cluster(&'a str),
    Context(&'a str),
}

impl Entry<'_> {
    /// The key of the list, what one of its items is, and the name of this one.
    const fn parts(&self) -> (&'static str, &'static str, &str) {
        match self {
            Self::Cluster(name) => ("clusters", "cluster", name),
            Self::Context(name) => ("contexts", "context", name),
        }
    }

    /// `cluster NAME (line 7)`: without the line where it cannot be found, with the file where there are several,
    /// and `the cluster` where the configuration is of no file.
    pub(super) fn named(self, files: &[PathBuf]) -> String {
        let (list, what, name) = self.parts();
        if files.is_empty() {
            return format!("the {what}");
        }
        let mut places = files.iter().filter_map(|file| Some((file, line_of(file, list, name)?)));
        // Of several entries with one name the first counts, as in kubectl.
        match places.next() {
            Some((_, line)) if files.len() == 1 => format!("{what} {name} (line {line})"),
            Some((file, line)) => format!("{what} {name} (line {line} of {})", file.display()),
            None => format!("{what} {name}"),
        }
    }
}

fn line_of(file: &Path, list: &str, name: &str) -> Option<u64> {
    let bytes = yaml::read_file(file, MOST_BYTES).ok()?;
    let root = yaml::parse(&bytes, MOST_BYTES, Secrecy::Redact).ok()?;
    let Value::List(items) = &field(&root, list)?.value else {
        return None;
    };
    let is_it = |item: &&Node| {
        let found = field(item, "name").map(|node| &node.value);
        matches!(found, Some(Value::Text(found)) if found == name)
    };
    items.iter().find(is_it).map(|item| item.line)
}

fn field<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Value::Map(entries) = &node.value else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == key)?;
    Some(&entry.node)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_entry_is_named_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let one = file("one", "clusters:\n- name: a\n- cluster: {}\n  name: b\ncontexts: []\n");
        let other = file("other", "contexts: [\n {name: u}]\n");
        let only = std::slice::from_ref(&one);
        assert_eq!(Entry::Cluster("b").named(only), "cluster b (line 3)");
        assert_eq!(Entry::Cluster("c").named(only), "cluster c");
        assert_eq!(Entry::Context("b").named(only), "context b");
        let both = [one, other.clone()];
        let place = format!("context u (line 2 of {})", other.display());
        assert_eq!(Entry::Context("u").named(&both), place);
        assert_eq!(Entry::Context("u").named(&[]), "the context");
    }
}
