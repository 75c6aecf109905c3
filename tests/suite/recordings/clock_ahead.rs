//! A node whose clock is two hours ahead ([§8.7](crate::specification#s8-7)): it does not make the pods of others old,
//! and every command names it. The recording is of a year so late that the present does not pass it.

use std::fs::File;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, SystemTime};

use crate::support::process::podinit;
use serde_json::Value;

/// 2100-11-20T10:02:00Z
const MODIFIED: u64 = 4_130_388_120;

const NAMED: &str = "the clock of node-2 is at least 1h59m ahead (2 pods)";

/// The recording, as it was written at 10:02.
struct Recording {
    _directory: tempfile::TempDir,
    file: PathBuf,
}

impl Recording {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pods.json");
        let fixture =
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/field/node-clock-ahead.jsonl");
        std::fs::copy(fixture, &file).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED);
        File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
        Self { _directory: directory, file }
    }

    fn told(&self, args: &[&str]) -> Output {
        podinit(args).arg(&self.file).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_slice(&self.told(args).stdout).unwrap()
    }
}

#[test]
fn a_clock_that_is_ahead_makes_no_pod_old() {
    let recording = Recording::new();
    let report = recording.json(&["report", "-o", "json"]);
    assert_eq!(report["to"], "2100-11-20T10:01:59Z", "{report:#}");
    // The times themselves stay what they are.
    assert_eq!(report["in_flight"]["network"]["pods"], 3, "{report:#}");
    assert_eq!(report["finished"]["ready"], 4, "{report:#}");
    let problems = recording.json(&["problems", "-o", "json", "-f"]);
    assert_eq!(problems["problems"].as_array().map(Vec::len), Some(0), "{problems:#}");
    assert_eq!(recording.told(&["problems", "-f"]).status.code(), Some(0));
    let explained = recording.json(&["explain", "-n", "shop", "new-0", "-o", "json", "-f"]);
    assert_eq!(explained["seconds"], 1.0, "{explained:#}");
}

#[test]
fn every_command_names_it() {
    let recording = Recording::new();
    let commands: [&[&str]; 7] = [
        &["replay"],
        &["report"],
        &["report", "-o", "csv"],
        &["problems", "-f"],
        &["problems", "-o", "json", "-f"],
        &["explain", "-f"],
        &["explain", "-n", "shop", "new-0", "-f"],
    ];
    for command in commands {
        let output = recording.told(command);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(NAMED), "{command:?}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let report = String::from_utf8(recording.told(&["report"]).stdout).unwrap();
    assert!(report.contains(&format!("Clocks ahead: {NAMED}")), "{report}");
    let explained = recording.json(&["explain", "-n", "shop", "new-0", "-o", "json", "-f"]);
    let doubts = explained["doubts"].as_array().unwrap();
    assert!(doubts.iter().any(|doubt| doubt.as_str().unwrap().contains(NAMED)), "{doubts:?}");
    for args in [
        &["report", "-o", "json"][..],
        &["problems", "-o", "json", "-f"],
        &["explain", "-o", "json", "-f"],
    ] {
        let clocks = &recording.json(args)["clocks_ahead"];
        assert_eq!(clocks.as_array().map(Vec::len), Some(1), "{args:?}: {clocks}");
        assert_eq!(clocks[0]["node"], "node-2");
        assert_eq!(clocks[0]["pods"], 2);
        assert_eq!(clocks[0]["seconds"], 7194.0);
    }
}
