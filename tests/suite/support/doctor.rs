//! Support of the tests of `doctor`: an API server with set answers, and the
//! doctor as a process.

pub mod server;
pub mod settings;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What stands in for secrets.
pub const CANARY: &str = "c4n4ry";

/// `podinit doctor` with these arguments, and none of the settings of whoever runs the test.
pub fn doctor(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_podinit"));
    command.arg("doctor").args(args).env_clear().stdin(Stdio::null());
    command
}

/// What a run said.
pub struct Said {
    pub status: i32,
    pub text: String,
}

/// Runs the doctor and returns what it said. Nothing may be on standard error: it has its say on
/// standard output.
#[track_caller]
pub fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.is_empty(), "{error}");
    Said { status: output.status.code().unwrap(), text: String::from_utf8(output.stdout).unwrap() }
}

/// The findings of a run with `-o json`.
pub struct Findings {
    pub report: Value,
}

impl Findings {
    /// Runs the doctor on the cluster at `url`, on a port that is free.
    #[track_caller]
    pub fn of(url: &str, args: &[&str]) -> Self {
        let kubeconfig = Kubeconfig::of(url);
        Self::with(kubeconfig.path(), args)
    }

    #[track_caller]
    pub fn with(kubeconfig: &Path, args: &[&str]) -> Self {
        let mut command = doctor(&["-o", "json", "--listen", "127.0.0.1:0"]);
        let said = said(command.arg("--kubeconfig").arg(kubeconfig).args(args));
        let report: Value = serde_json::from_str(&said.text).unwrap();
        assert_eq!(report["exit_code"], said.status, "{report:#}");
        assert_eq!(report["complete"], true, "{report:#}");
        let findings = Self { report };
        findings.tell_of_every_check();
        findings
    }

    pub fn status(&self) -> i64 {
        self.report["exit_code"].as_i64().unwrap()
    }

    /// The findings of one check, as `severity: found`.
    pub fn of_check(&self, check: &str) -> Vec<String> {
        let own = self.all().iter().filter(|found| found["check"] == check);
        own.map(|found| {
            let [severity, text] = ["severity", "found"].map(|key| found[key].as_str().unwrap());
            format!("{severity}: {text}")
        })
        .collect()
    }

    /// The details of the findings of a check that have this one.
    pub fn details(&self, check: &str, detail: &str) -> Vec<Value> {
        let own = self.all().iter().filter(|found| found["check"] == check);
        let details = own.map(|found| found["details"].clone());
        details.filter(|details| details.get(detail).is_some()).collect()
    }

    /// How to fix what a check found first.
    pub fn fix(&self, check: &str) -> &str {
        let own = self.all().iter().filter(|found| found["check"] == check);
        own.filter_map(|found| found["fix"].as_str()).next().unwrap_or_default()
    }

    /// Asserts that a finding of `check` is of this severity and says all `parts`.
    #[track_caller]
    pub fn says(&self, check: &str, severity: &str, parts: &[&str]) {
        let findings = self.of_check(check);
        let fits = |text: &&String| {
            text.starts_with(severity) && parts.iter().all(|part| text.contains(part))
        };
        assert!(findings.iter().any(|text| fits(&text)), "{severity} {parts:?}: {findings:#?}");
    }

    /// Whatever happens, nothing is left out; and whatever is wrong can be fixed.
    #[track_caller]
    fn tell_of_every_check(&self) {
        for check in podinit_doctor::report::Check::ALL {
            assert!(!self.of_check(check.as_str()).is_empty(), "{} is missing", check.as_str());
        }
        for found in self.all() {
            let wrong = found["severity"] == "error" || found["severity"] == "warning";
            assert!(!wrong || found["fix"].is_string(), "{found:#}");
        }
    }

    fn all(&self) -> &Vec<Value> {
        self.report["findings"].as_array().unwrap()
    }
}

/// A kubeconfig in a directory of its own.
pub struct Kubeconfig {
    _directory: TempDir,
    path: PathBuf,
}

impl Kubeconfig {
    /// One that leads to the server at `url`, with a token.
    pub fn of(url: &str) -> Self {
        Self::text(&format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
             clusters: [{{name: c, cluster: {{server: \"{url}\"}}}}]\n\
             users: [{{name: u, user: {{token: {CANARY}}}}}]\n\
             contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
        ))
    }

    pub fn text(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        std::fs::write(&path, text).unwrap();
        Self { _directory: directory, path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}
