//! The action for pipelines, as a script: what is recorded, compared and written, and with which status it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::doctor::Kubeconfig;
use crate::support::embedded::cluster;

/// Stands in for podinit: a recording is one empty list, and lasts until SIGINT. A report says how it was asked, and ends
/// with the status `$REPORT`; a recording that ends by itself has the status `$CAPTURE`.
const STAND_IN: &str = r#"#!/usr/bin/env bash
case $1 in
capture)
  printf '%s\n' "$@" >asked
  mkdir -p recording
  [ -z "${CAPTURE:-}" ] || exit "$CAPTURE"
  sleep 600 & asleep=$!
  trap 'echo interrupted >ended; kill "$asleep"; exit 0' INT
  # While bash waits for a command in the foreground, it may lose a SIGINT.
  echo '{"kind":"PodList"}' | gzip >recording/podinit-1-0001.json.gz &
  wait "$asleep"
  ;;
report)
  printf '%s\n' "$@"
  exit "${REPORT:-0}"
  ;;
esac
"#;

fn action(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/action").join(name)
}

/// A directory in which the script runs, with what it has written.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        let podinit = workspace.path("podinit");
        fs::write(&podinit, STAND_IN).unwrap();
        fs::set_permissions(&podinit, fs::Permissions::from_mode(0o755)).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs the script with these inputs, with the stand-in unless they name a podinit: its status, and what it said.
    fn compare(&self, inputs: &[(&str, &str)]) -> (i32, String) {
        let mut command = Command::new(action("compare"));
        command.current_dir(self.0.path()).env_clear().stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("INPUT_PODINIT", "./podinit").env("INPUT_RECORDING", "recording");
        command.env("GITHUB_OUTPUT", "outputs").env("GITHUB_STEP_SUMMARY", "summary");
        let output = command.envs(inputs.iter().copied()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), said)
    }
}

const STEP: (&str, &str) =
    ("INPUT_RUN", "test -s recording/podinit-1-0001.json.gz && echo ran >step");

#[test]
fn without_a_baseline_there_is_nothing_to_compare_with_yet() {
    let workspace = Workspace::new();
    let none = ("INPUT_BASELINE", "\n kept/podinit-*.json.gz\n");
    let (status, said) = workspace.compare(&[STEP, none, ("INPUT_FAIL_ON", "network:p99>+20%")]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(workspace.read("step"), "ran\n");
    assert_eq!(workspace.read("ended"), "interrupted\n");
    let capture = "capture\n--evidence=events,nodes\n--output-dir=recording\n";
    assert_eq!(workspace.read("asked"), capture);
    let report = "There is nothing to compare with yet.\n\nreport\n-o\nmarkdown\n--\nrecording/podinit-1-0001.json.gz\n";
    assert_eq!(workspace.read("podinit-report.md"), report);
    assert_eq!(workspace.read("summary"), report);
    let outputs = "report=podinit-report.md\nrecording=recording\nstatus=0\n";
    assert_eq!(workspace.read("outputs"), outputs);
}

#[test]
fn inputs_are_arguments_and_its_status_is_that_of_podinit() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path("kept")).unwrap();
    for name in ["kept/a 1.json.gz", "kept/a 2.json.gz"] {
        fs::write(workspace.path(name), "").unwrap();
    }
    let (status, said) = workspace.compare(&[
        STEP,
        ("INPUT_NAMESPACE", "$(touch injected)"),
        ("INPUT_SELECTOR", "app=web"),
        ("INPUT_BASELINE", "kept/a *.json.gz\n-odd\n"),
        ("INPUT_FAIL_ON", "network:p99>+20%\n\n  not_started>+5%"),
        ("INPUT_STRICT", "true"),
        ("INPUT_REPORT", "other.md"),
        ("REPORT", "3"),
    ]);
    assert_eq!(status, 3, "{said}");
    let capture =
        "--output-dir=recording\n--namespace=$(touch injected)\n--label-selector=app=web\n";
    assert!(workspace.read("asked").ends_with(capture));
    let report = "report\n-o\nmarkdown\n--baseline=kept/a 1.json.gz\n--baseline=kept/a 2.json.gz\n--baseline=-odd\n\
                  --fail-on=network:p99>+20%\n--fail-on=not_started>+5%\n--strict\n--\nrecording/podinit-1-0001.json.gz\n";
    assert_eq!(workspace.read("other.md"), report);
    assert!(workspace.read("outputs").ends_with("status=3\n"));
    assert!(!workspace.path("injected").exists());
}

#[test]
fn the_status_of_a_step_that_fails_wins_once_the_report_is_written() {
    let workspace = Workspace::new();
    let step = ("INPUT_RUN", "false | true\necho no >step");
    let (status, said) = workspace.compare(&[step, ("INPUT_BASELINE", "kept"), ("REPORT", "3")]);
    assert_eq!(status, 1, "{said}");
    assert!(!workspace.path("step").exists());
    assert_eq!(workspace.read("ended"), "interrupted\n");
    assert!(workspace.read("podinit-report.md").contains("--baseline=kept\n"));
    let workspace = Workspace::new();
    assert_eq!(workspace.compare(&[("INPUT_RUN", "exit 7")]).0, 7);
    assert!(workspace.read("outputs").ends_with("status=7\n"));
}

#[test]
fn a_step_does_not_run_where_nothing_can_be_recorded() {
    let workspace = Workspace::new();
    let (status, said) = workspace.compare(&[STEP, ("CAPTURE", "1")]);
    assert_eq!((status, &*said), (1, "compare: podinit capture has ended\n"));
    let (status, said) = workspace.compare(&[STEP, ("INPUT_PODINIT", "./none")]);
    assert_eq!(status, 1);
    assert!(said.contains("there is no command ./none"), "{said}");
    assert_eq!(workspace.compare(&[]).0, 1);
    fs::write(workspace.path("recording/podinit-0-0001.json.gz"), "").unwrap();
    let (status, said) = workspace.compare(&[STEP]);
    assert_eq!(status, 1);
    assert!(said.contains("recording has a recording"), "{said}");
    assert!(!workspace.path("step").exists());
}

/// The second run compares with the recording of the first. No pod starts, so a rule cannot be told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn podinit_itself_records_and_compares() {
    let cluster = cluster().await;
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let workspace = Workspace::new();
    let run = |recording: &str, more: &[(&str, &str)]| {
        let inputs = [
            ("INPUT_RUN", "true"),
            ("INPUT_PODINIT", env!("CARGO_BIN_EXE_podinit")),
            ("INPUT_RECORDING", recording),
            ("KUBECONFIG", kubeconfig.path().to_str().unwrap()),
        ];
        tokio::task::block_in_place(|| workspace.compare(&[&inputs, more].concat()))
    };
    let (status, said) = run("first", &[]);
    assert_eq!(status, 0, "{said}");
    assert!(
        workspace
            .read("podinit-report.md")
            .starts_with("There is nothing to compare with yet.\n\n# ")
    );
    let more = [
        ("INPUT_BASELINE", "first/podinit-*.json.gz"),
        ("INPUT_FAIL_ON", "network:p99>+20%"),
        ("INPUT_STRICT", "true"),
    ];
    let (status, said) = run("second", &more);
    assert_eq!(status, 4, "{said}");
    let report = workspace.read("podinit-report.md");
    assert!(
        report.starts_with("**Cannot tell**: network:p99\\>+20%: network was observed"),
        "{report}"
    );
}

/// A text of an input that stood in a script would be a part of it.
#[test]
fn the_action_hands_every_input_to_the_script_in_its_environment() {
    let text = fs::read_to_string(action("action.yml")).unwrap();
    let found: Value = serde_saphyr::from_str(&text).unwrap();
    let [step] = &found["runs"]["steps"].as_array().unwrap()[..] else { panic!("{found:#}") };
    assert!(!step["run"].as_str().unwrap().contains("${{"), "{step:#}");
    let script = fs::read_to_string(action("compare")).unwrap();
    for (name, input) in found["inputs"].as_object().unwrap() {
        let variable = format!("INPUT_{}", name.replace('-', "_").to_uppercase());
        assert_eq!(step["env"][&variable], format!("${{{{ inputs.{name} }}}}"));
        assert!(script.contains(&format!("${{{variable}:-")), "{name}");
        if let Some(default) =
            input["default"].as_str().filter(|text| !["", "false"].contains(text))
        {
            assert!(script.contains(&format!("${{{variable}:-{default}}}")), "{name}");
        }
    }
    for name in found["outputs"].as_object().unwrap().keys() {
        assert!(script.contains(&format!("\"{name}=$")), "{name}");
    }
}
