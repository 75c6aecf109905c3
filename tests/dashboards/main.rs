//! Generates the dashboards from their definitions: JSON for Grafana, in `dashboards/`.
//!
//! ```text
//! cargo test --test dashboards             # compares the files with the definitions, as `cargo test` does
//! cargo test --test dashboards -- --write  # writes them
//! cargo test --test dashboards -- --export DIRECTORY  # writes them there as grafana.com wants them
//! ```
//!
//! It needs nothing of podinit but the colours of the stages. `tests/suite/repository/dashboards.rs` holds the files against the program.

#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod board;
mod boards;
mod export;
mod forms;
mod panel;
mod promql;
mod variable;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_asked = |option: &str| std::env::args().any(|argument| argument == option);
    // As cargo-nextest asks for the tests of a program.
    if is_asked("--list") {
        if !is_asked("--ignored") {
            println!("dashboards: test");
        }
        return ExitCode::SUCCESS;
    }
    let exports = export::files();
    let mut after_export = std::env::args().skip_while(|argument| argument != "--export").skip(1);
    if let Some(directory) = after_export.next() {
        fs::create_dir_all(&directory).unwrap();
        for file in &exports {
            fs::write(Path::new(&directory).join(&file.path), &file.text).unwrap();
        }
        return ExitCode::SUCCESS;
    }
    let writes = is_asked("--write");
    let files = forms::files();
    let mut wrong: Vec<String> = exports.iter().flat_map(export::complaints).collect();
    // Our own files lack all that makes an export; whoever finds nothing there finds nothing anywhere.
    let found = files.iter().map(|file| export::complaints(file).len());
    if found.min() != Some(export::COMPLAINTS_OF_NO_EXPORT) {
        wrong.push("a dashboard would pass for an export".to_owned());
    }
    for file in &files {
        let path = root.join(&file.path);
        if writes {
            fs::write(&path, &file.text).unwrap();
        } else if fs::read_to_string(&path).ok().as_ref() != Some(&file.text) {
            wrong.push(format!("{} is out of date", file.path));
        }
    }
    let known: BTreeSet<PathBuf> = files.iter().map(|file| root.join(&file.path)).collect();
    for entry in fs::read_dir(root.join(forms::DIRECTORY)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") && !known.contains(&path) {
            wrong.push(format!("{} is no dashboard", path.display()));
        }
    }
    if wrong.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{}\nwrite the dashboards with: cargo test --test dashboards -- --write",
        wrong.join("\n")
    );
    ExitCode::FAILURE
}
