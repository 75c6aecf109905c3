//! Pipes, devices and files without end in place of those of the command line: one line, at once, and no
//! memory for them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::process::podinit;
use rustix::fs::{CWD, Mode};
use rustix::process::{Pid, Signal, kill_process};

/// A directory with a pipe that nobody writes to.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.pipe("pipe");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn pipe(&self, name: &str) {
        rustix::fs::mkfifoat(CWD, self.path(name), Mode::RUSR | Mode::WUSR).unwrap();
    }

    /// A kubeconfig in which these name files.
    fn kubeconfig(&self, cluster: &str, user: &str) -> PathBuf {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
             clusters: [{{name: c, cluster: {{server: \"https://127.0.0.1:1\"{cluster}}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n\
             contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
        );
        let path = self.path("config");
        fs::write(&path, text).unwrap();
        path
    }
}

fn run(args: &[&str], file: &Path) -> Output {
    podinit(args).arg(file).output().unwrap()
}

/// The one line with which it ends.
#[track_caller]
fn refusal(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn no_flag_that_names_a_file_waits_for_a_pipe_or_reads_without_end() {
    let place = Place::new();
    let listen = ["demo", "--listen", "127.0.0.1:0"];
    let stuck = ["stuck", "--url", "https://127.0.0.1:1"];
    let cases: [(&[&str], &[&str]); 9] = [
        (&listen, &["--slo"]),
        (&listen, &["--web-config"]),
        (&["rules"], &["--slo"]),
        (&["serve", "--listen", "127.0.0.1:0"], &["--kubeconfig"]),
        (&["capture", "--output-dir", "-"], &["--kubeconfig"]),
        (&stuck, &["--token-file"]),
        (&stuck, &["--username", "u", "--password-file"]),
        (&stuck, &["--ca-file"]),
        (&stuck, &["--cert-file", "/dev/zero", "--key-file"]),
    ];
    for file in [&place.path("pipe"), Path::new("/dev/zero")] {
        for (command, flags) in cases {
            let args = [command, flags].concat();
            let line = refusal(&run(&args, file));
            assert!(line.contains("not a regular file"), "{args:?}: {line}");
        }
    }
}

#[test]
fn nor_does_a_file_that_a_kubeconfig_names() {
    let place = Place::new();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--kubeconfig"];
    for file in ["pipe", "/dev/zero"] {
        for (cluster, user) in [
            (format!(", certificate-authority: {file}"), String::new()),
            (String::new(), format!("tokenFile: {file}")),
            (String::new(), format!("client-certificate: {file}, client-key: {file}")),
        ] {
            let config = place.kubeconfig(&cluster, &user);
            let line = refusal(&run(&serve, &config));
            assert!(line.contains("not a regular file"), "{user}: {line}");
        }
    }
}

#[test]
fn nor_does_the_lock_of_the_state_directory() {
    let place = Place::new();
    fs::create_dir(place.path("state")).unwrap();
    place.pipe("state/lock");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--state-dir"];
    let line = refusal(&run(&serve, &place.path("state")));
    assert!(line.contains("not a regular file"), "{line}");
}

/// A pipe takes the place of the SLO file while it runs.
#[test]
fn a_pipe_does_not_hold_up_the_end() {
    use std::io::{BufRead, BufReader};

    let place = Place::new();
    let slo = place.path("slo.yaml");
    fs::write(&slo, "slos: []\n").unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(["demo", "--listen", "127.0.0.1:0", "--slo"])
        .arg(&slo)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut says = |text: &str| {
        let line = log.find(|line| line.as_ref().unwrap().contains(text));
        assert!(line.is_some(), "it never says {text:?}");
    };
    says("listening");
    fs::rename(place.path("pipe"), &slo).unwrap();
    let pid = Pid::from_child(&process);
    kill_process(pid, Signal::HUP).unwrap();
    says("not a regular file");
    kill_process(pid, Signal::TERM).unwrap();
    says("ended");
    assert!(process.wait().unwrap().success());
}
