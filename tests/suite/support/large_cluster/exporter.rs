//! `podinit serve` as a process, and what it takes.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::Cluster;
use crate::support::get;
use crate::support::memory::kibibytes;

/// A running `podinit serve`, killed when dropped.
pub struct Exporter {
    child: Child,
    address: SocketAddr,
    _kubeconfig: TempDir,
}

impl Exporter {
    /// Starts it with these flags. `PODINIT_BINARY` names another program, such as one of a release build.
    pub fn start(cluster: &Cluster, flags: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("kubeconfig");
        std::fs::write(&path, cluster.kubeconfig()).unwrap();
        let program = std::env::var("PODINIT_BINARY");
        let mut child = Command::new(program.as_deref().unwrap_or(env!("CARGO_BIN_EXE_podinit")))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(flags)
            .arg("--kubeconfig")
            .arg(&path)
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .env_remove("PODINIT_BINARY")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let address = listening_address(&mut log);
        // The rest of the log is of no interest, but a full pipe would stop the exporter.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address, _kubeconfig: directory }
    }

    pub fn scrape(&self) -> String {
        self.get("/metrics")
    }

    /// The answer for a path, with its head.
    pub fn get(&self, path: &str) -> String {
        get(self.address, path).unwrap()
    }

    /// Scrapes until a sample has this value.
    pub fn until(&mut self, series: &str, value: usize) {
        let expected = format!("{series} {value}");
        while !self.scrape().lines().any(|line| line == expected) {
            let ended = self.child.try_wait().unwrap();
            assert_eq!(ended, None, "the exporter has ended");
        }
    }

    /// Scrapes until the samples that begin so add up to this value.
    pub fn until_sum(&mut self, beginning: &str, value: usize) {
        let sum = |scrape: &str| -> f64 {
            let lines = scrape.lines().filter(|line| line.starts_with(beginning));
            let values = lines.filter_map(|line| line.rsplit_once(' '));
            values.map(|(_, value)| value.parse::<f64>().unwrap()).sum()
        };
        while sum(&self.scrape()) != value as f64 {
            let ended = self.child.try_wait().unwrap();
            assert_eq!(ended, None, "the exporter has ended");
        }
    }

    /// The peak resident memory in bytes, without the pages of the program itself.
    pub fn peak_of_data(&self) -> u64 {
        self.bytes("VmHWM") - self.bytes("RssFile")
    }

    /// The resident memory in bytes: all of it at its peak, and now.
    pub fn resident(&self) -> [u64; 2] {
        ["VmHWM", "VmRSS"].map(|field| self.bytes(field))
    }

    /// The resident pages of files, in bytes: mostly the program itself, which the kernel takes back before it ends a
    /// process at its limit.
    pub fn resident_files(&self) -> u64 {
        self.bytes("RssFile")
    }

    fn bytes(&self, field: &str) -> u64 {
        kibibytes(self.child.id(), field) * 1024
    }

    /// Begins a new peak of the resident memory.
    pub fn forget_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5").unwrap();
    }

    /// The CPU time of the threads that live.
    pub fn cpu_time(&self) -> Duration {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let spent = threads.filter_map(|thread| {
            // A thread may end meanwhile.
            let path = thread.ok()?.path().join("schedstat");
            let times = std::fs::read_to_string(path).ok()?;
            times.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(spent.sum())
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it as Kubernetes does, and waits for that.
    pub fn terminate(mut self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Reads the log up to the line that states the address.
fn listening_address(log: &mut impl BufRead) -> SocketAddr {
    for line in log.lines() {
        let line = line.unwrap();
        let entry: serde_json::Value = serde_json::from_str(&line).expect(&line);
        let address = entry.pointer("/address").or(entry.pointer("/fields/address"));
        if let Some(address) = address.and_then(|address| address.as_str()) {
            return address.parse().unwrap();
        }
    }
    panic!("the exporter has ended before it listened");
}
