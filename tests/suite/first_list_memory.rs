//! What a cold start on a large cluster costs: the resident memory of `podinit serve` while it
//! takes in a first list of 100,000 pods of 8 KiB each over HTTP, however it asks for the list.
//!
//! The pods are made as they are sent, so that only the exporter, a process of its own, has to
//! hold anything. Its peak is what Linux says it was (`VmHWM`), buffers and allocator included.

#![cfg(target_os = "linux")]

mod cluster;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use cluster::{Cluster, Form, PODS, Pods};

use crate::support::memory::kibibytes;

const MIB: u64 = 1 << 20;

/// The pages of a release build's own code that are resident. Those of the unoptimized build that the test
/// runs are twice as many, and grow with the code, not with the pods.
const PROGRAM: u64 = 12 * MIB;

/// What pods that were ready before anyone watched may cost at most; most pods of a cluster are.
/// Measured: 40 to 41 MiB besides the program in every mode.
const LIMIT: u64 = 64 * MIB - PROGRAM;

/// The same where every pod is in flight, as in a cluster that has just been restored. Measured:
/// 63 to 67 MiB besides the program, some 10 of them for the containers of the pods; the rest is room for allocators with
/// more arenas.
const LIMIT_IN_FLIGHT: u64 = 84 * MIB - PROGRAM;

#[test]
fn a_first_list_of_100_000_ready_pods_stays_below_64_mib() {
    for mode in [Mode::WHOLE, Mode::PAGES] {
        assert_ready_pods_fit(mode);
    }
}

#[test]
fn a_first_list_in_protobuf_with_gzip_stays_below_64_mib() {
    assert_ready_pods_fit(Mode::PROTOBUF);
}

#[test]
fn a_streamed_first_list_stays_below_64_mib() {
    assert_ready_pods_fit(Mode::STREAM);
}

#[test]
fn a_first_list_of_100_000_pods_in_flight_stays_in_proportion() {
    let series = "podinit_inflight_pods{stage=\"containers\"}";
    let peak = peak_of_first_list(Mode::WHOLE, Pods::InFlight, series);
    assert!(
        peak < LIMIT_IN_FLIGHT,
        "{:.1} MiB",
        peak as f64 / MIB as f64
    );
}

/// How the list is asked for, and how it is answered.
#[derive(Clone, Copy, Debug)]
struct Mode {
    list: &'static str,
    form: Form,
}

impl Mode {
    const WHOLE: Self = Self {
        list: "whole",
        form: Form::Json,
    };
    const PROTOBUF: Self = Self {
        list: "whole",
        form: Form::Protobuf,
    };
    const PAGES: Self = Self {
        list: "pages",
        form: Form::Json,
    };
    const STREAM: Self = Self {
        list: "stream",
        form: Form::Json,
    };
}

fn assert_ready_pods_fit(mode: Mode) {
    let series = "podinit_pods_finished_total{outcome=\"preexisting\"}";
    let peak = peak_of_first_list(mode, Pods::Ready, series);
    assert!(
        peak < LIMIT,
        "{mode:?}: {:.1} MiB",
        peak as f64 / MIB as f64
    );
}

/// The peak resident memory besides the program in bytes, once `series` accounts for every pod.
fn peak_of_first_list(mode: Mode, pods: Pods, series: &str) -> u64 {
    let cluster = Cluster::start(pods, mode.form);
    let mut exporter = Exporter::start(&cluster.kubeconfig(), mode.list);
    cluster.until_listed();
    let expected = format!("{series} {PODS}");
    // The list has been sent for accounting, which takes a moment more.
    while !exporter.scrape().lines().any(|line| line == expected) {
        assert_eq!(
            exporter.child.try_wait().unwrap(),
            None,
            "the exporter has ended"
        );
    }
    let peak = exporter.peak_resident();
    println!(
        "{mode:?}, {pods:?}: {:.1} MiB at the peak",
        peak as f64 / MIB as f64
    );
    peak
}

/// A running `podinit serve`, killed when dropped.
struct Exporter {
    child: Child,
    address: SocketAddr,
}

impl Exporter {
    fn start(kubeconfig: &str, list: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        std::fs::write(&path, kubeconfig).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--list", list])
            .arg("--kubeconfig")
            .arg(&path)
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let address = listening_address(&mut log);
        // The rest of the log is of no interest, but a full pipe would stop the exporter.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { child, address }
    }

    fn scrape(&self) -> String {
        let mut connection = TcpStream::connect(self.address).unwrap();
        let request = "GET /metrics HTTP/1.1\r\nHost: podinit\r\nConnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    fn peak_resident(&self) -> u64 {
        let bytes = |field: &str| kibibytes(self.child.id(), field) * 1024;
        bytes("VmHWM") - bytes("RssFile")
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
        let address = entry
            .pointer("/address")
            .or(entry.pointer("/fields/address"));
        if let Some(address) = address.and_then(|address| address.as_str()) {
            return address.parse().unwrap();
        }
    }
    panic!("the exporter has ended before it listened");
}
