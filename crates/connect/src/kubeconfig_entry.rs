//! How an error names an entry of a kubeconfig: by its name and its line, and by nothing else that stands there.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_saphyr::Spanned;

use podinit_config::regular_file::{self, LONGEST_KUBECONFIG};
use podinit_config::yaml;

/// An entry of one of the lists of a kubeconfig.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KubeconfigEntry<'a> {
    Cluster(&'a str),
    Context(&'a str),
}

impl KubeconfigEntry<'_> {
    /// What it is, and its name.
    const fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Cluster(name) => ("cluster", name),
            Self::Context(name) => ("context", name),
        }
    }

    /// `cluster NAME (line 7)`: without the line where it cannot be found, with the file where there are several,
    /// and `the cluster` where the configuration is of no file.
    pub(crate) fn named(self, files: &[PathBuf]) -> String {
        let (what, name) = self.parts();
        if files.is_empty() {
            return format!("the {what}");
        }
        let mut places = files.iter().filter_map(|file| Some((file, self.line_in(file)?)));
        // Of several entries with one name the first counts, as in kubectl.
        match places.next() {
            Some((_, line)) if files.len() == 1 => format!("{what} {name} (line {line})"),
            Some((file, line)) => format!("{what} {name} (line {line} of {})", file.display()),
            None => format!("{what} {name}"),
        }
    }
}

/// The names of a kubeconfig, and where their entries are.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryNames {
    clusters: Vec<Spanned<NamedEntry>>,
    contexts: Vec<Spanned<NamedEntry>>,
}

#[derive(Deserialize)]
struct NamedEntry {
    name: String,
}

impl KubeconfigEntry<'_> {
    fn line_in(&self, file: &Path) -> Option<u64> {
        let bytes = regular_file::read(file, LONGEST_KUBECONFIG).ok()?;
        let names: EntryNames = yaml::parse(&bytes, LONGEST_KUBECONFIG, "{}").ok()?;
        let (list, name) = match self {
            Self::Cluster(name) => (names.clusters, name),
            Self::Context(name) => (names.contexts, name),
        };
        list.iter().find(|entry| entry.value.name == *name).map(|entry| entry.referenced.line())
    }
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
        assert_eq!(KubeconfigEntry::Cluster("b").named(only), "cluster b (line 3)");
        assert_eq!(KubeconfigEntry::Cluster("c").named(only), "cluster c");
        assert_eq!(KubeconfigEntry::Context("b").named(only), "context b");
        let both = [one, other.clone()];
        let place = format!("context u (line 2 of {})", other.display());
        assert_eq!(KubeconfigEntry::Context("u").named(&both), place);
        assert_eq!(KubeconfigEntry::Context("u").named(&[]), "the context");
    }
}
