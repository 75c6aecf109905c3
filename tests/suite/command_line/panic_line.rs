//! A panic is a line of the log like any other, so that what collects the log can read it.

use std::process::Command;

use podinit::args::{LogArgs, LogFormat};
use serde_json::Value;

const LEVEL: &str = "PODINIT_TEST_PANICS_AT";

/// Runs this binary again, for the test below alone. Returns what it wrote to standard error.
fn log_of_a_panic(level: &str) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "command_line::panic_line::panics", "--include-ignored", "--nocapture"])
        .env(LEVEL, level)
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    assert!(!child.status.success());
    String::from_utf8(child.stderr).unwrap()
}

#[test]
#[ignore = "panics; the other tests of this file run it"]
fn panics() {
    let log_level = std::env::var(LEVEL).expect("started by the other tests");
    let log_format = LogFormat::Json;
    podinit::commands::logging::start(&LogArgs { log_format, log_level }).unwrap();
    panic!("as a bug would, on {} line", 1);
}

#[test]
fn a_panic_is_one_line_of_the_log() {
    let log = log_of_a_panic("info");
    let mut lines = log.lines().filter(|line| line.contains("as a bug would"));
    let line: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(lines.next(), None);
    assert_eq!(line["level"], "ERROR");
    assert_eq!(line["message"], "panic: as a bug would, on 1 line");
    let place = line["place"].as_str().unwrap();
    assert!(place.starts_with("tests/suite/command_line/panic_line.rs:"), "{place}");
}

#[test]
fn a_panic_is_reported_where_logging_is_off() {
    let log = log_of_a_panic("off");
    let mut lines = log.lines().filter(|line| line.contains("as a bug would"));
    let line = lines.next().unwrap();
    assert!(
        line.starts_with("podinit: panic at tests/suite/command_line/panic_line.rs:"),
        "{line}"
    );
}
