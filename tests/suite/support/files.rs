//! Files of the repository, for tests that read its own sources.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the repository is.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The parts of the specification: the path of each from the root, and its text. Every rule is in one of them; the index
/// `docs/specification.md` leads to it.
pub fn parts_of_the_specification() -> Vec<(String, String)> {
    let mut paths = files(&root().join("docs/specification"), "md");
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        (name.to_owned(), fs::read_to_string(&path).unwrap())
    };
    paths.into_iter().map(read).collect()
}

/// The files with this extension below a directory. What is built or installed there, and links, are left out.
pub fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let own = paths.filter(|path| {
        let built = path.ends_with("target") || path.ends_with("node_modules");
        !built && !path.is_symlink()
    });
    own.flat_map(|path| match path.is_dir() {
        true => files(&path, extension),
        false => vec![path],
    })
    .filter(|path| path.extension().is_some_and(|found| found == extension))
    .collect()
}

/// The recordings of real clusters.
pub fn recordings() -> Vec<PathBuf> {
    let mut found = files(&root().join("tests/fixtures/recordings"), "gz");
    found.sort();
    found
}
