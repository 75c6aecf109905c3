//! The table of faults in tests/README.md names tests that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::files::root;

/// What stands in backquotes in the last cell of each row of the tables: `folder::file::test`.
fn named() -> Vec<String> {
    let text = fs::read_to_string(root().join("tests/README.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.filter(|name| name.contains("::")).map(str::to_owned).collect()
}

/// The file that `name` means: one of tests/suite, or one of a crate where it says so.
fn file(name: &str) -> PathBuf {
    if name.starts_with("src/") || name.starts_with("crates/") {
        root().join(name)
    } else {
        root().join("tests/suite").join(format!("{}.rs", name.replace("::", "/")))
    }
}

#[test]
fn every_test_that_is_named_is_there_and_is_run() {
    let named = named();
    assert!(named.len() >= 20, "the table is not read: {named:?}");
    for name in named {
        let (place, test) = name.rsplit_once("::").unwrap();
        let text = fs::read_to_string(file(place));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        let declared = format!("fn {test}(");
        let at = text.find(&declared).unwrap_or_else(|| panic!("{name} is not there"));
        let before = text[..at].trim_end_matches("async ");
        let before: Vec<&str> = before.lines().rev().take(2).collect();
        assert!(
            before.iter().any(|line| line.contains("test]") || line.contains("test(")),
            "{name} is no test"
        );
        assert!(!before.iter().any(|line| line.contains("ignore")), "{name} is not run");
    }
}

#[test]
fn every_test_of_the_embedded_server_is_in_the_table() {
    let named: BTreeSet<String> = named().into_iter().collect();
    for place in
        ["watch::embedded", "watch::embedded_stream", "memory::watch_line", "watch::rollback"]
    {
        let text = fs::read_to_string(file(place)).unwrap();
        let tests = text.split("#[tokio::test(start_paused = true)]\nasync fn ").skip(1);
        for test in tests.filter_map(|rest| rest.split('(').next()) {
            let name = format!("{place}::{test}");
            assert!(named.contains(&name), "tests/README.md lacks {name}");
        }
    }
}
