//! What signals do to a process.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{ChildStderr, Command, Stdio};

use crate::support::process::KilledChild;
use rustix::process::{Pid, Signal, kill_process};

/// A process, killed if the test fails, and its log.
struct Podinit {
    process: KilledChild,
    log: Lines<BufReader<ChildStderr>>,
}

impl Podinit {
    fn start(command: &mut Command) -> Self {
        let mut process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(process.stderr.take().unwrap()).lines();
        Self { process: KilledChild(process), log }
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// The next line of the log that contains this.
    fn says(&mut self, text: &str) {
        let line = self.log.find(|line| line.as_ref().unwrap().contains(text));
        assert!(line.is_some(), "it never says {text:?}");
    }

    fn ends_well(mut self) {
        for line in self.log.by_ref() {
            line.unwrap();
        }
        let status = self.process.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

/// Whether commands that this process starts inherit that SIGHUP is ignored.
fn hangup_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 != 0)
}

#[test]
fn only_signals_to_end_do_and_hangup_reads_the_files_again() {
    let directory = tempfile::tempdir().unwrap();
    let slo = directory.path().join("slo.yaml");
    fs::write(&slo, "slos: []\n").unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_podinit"));
    demo.args(["demo", "--listen", "127.0.0.1:0", "--slo"]).arg(&slo);
    let mut podinit = Podinit::start(&mut demo);
    podinit.says("listening");
    for ignored in
        [Signal::USR1, Signal::USR2, Signal::ALARM, Signal::VTALARM, Signal::PROF, Signal::XFSZ]
    {
        podinit.send(ignored);
    }
    for _ in 0..2 {
        podinit.send(Signal::HUP);
        podinit.says("SIGHUP");
    }
    // It may notice the change by itself before the signal comes.
    fs::write(&slo, "slos: [ ]\n").unwrap();
    podinit.send(Signal::HUP);
    podinit.says("reloaded the SLO file");
    podinit.send(Signal::TERM);
    podinit.says("SIGTERM");
    podinit.ends_well();
}

/// A terminal that closes ends a command that has no files to read again.
#[test]
fn hangup_ends_a_command_in_good_order() {
    if hangup_is_ignored() {
        println!("not run: this process ignores SIGHUP, as under nohup");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    // Nobody answers, so that it waits.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let config = directory.path().join("config");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{{name: c, cluster: {{server: \"{url}\"}}}}]\n\
         users: [{{name: u, user: {{}}}}]\n\
         contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
    );
    fs::write(&config, text).unwrap();
    let mut capture = Command::new(env!("CARGO_BIN_EXE_podinit"));
    capture
        .args(["capture", "--output-dir"])
        .arg(directory.path())
        .arg("--kubeconfig")
        .arg(&config);
    let mut podinit = Podinit::start(&mut capture);
    // It has asked, so it listens for signals.
    let _connection = listener.accept().unwrap();
    podinit.send(Signal::HUP);
    podinit.says("SIGHUP");
    podinit.ends_well();
}
