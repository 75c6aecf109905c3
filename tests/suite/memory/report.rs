//! What a report with every pod holds in memory, counted allocation by allocation.

use std::io::{self, Cursor};

use super::counting::{bytes_of, forget_peak, held, peak};
use podinit_decode::DecodeOptions;
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::ReplayConfig;
use podinit_reports::report::{DetailedReport, detail};
use serde_json::{Value, json};

/// A pod that became ready, with two containers.
fn pod(number: usize) -> Value {
    let at = |second: usize| format!("2026-03-01T10:00:{second:02}Z");
    let condition = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    let containers = ["app", "proxy"];
    json!({
        "kind": "Pod",
        "metadata": {"namespace": "shop", "name": format!("web-{number}"), "creationTimestamp": at(0),
            "uid": format!("6d14ca8c-7af5-46a4-8768-{number:012x}")},
        "spec": {"nodeName": format!("node-{}", number % 10), "containers": containers.map(|name| json!({"name": name}))},
        "status": {
            "phase": "Running", "startTime": at(1),
            "containerStatuses": containers.map(|name| json!({"name": name, "state": {"running": {"startedAt": at(5)}}})),
            "conditions": [
                condition("PodScheduled", 1), condition("PodReadyToStartContainers", 3),
                condition("Initialized", 4), condition("ContainersReady", 9), condition("Ready", 9),
            ],
        },
    })
}

fn report(pods: usize) -> DetailedReport {
    let pods: Vec<Value> = (0..pods).map(pod).collect();
    let list = json!({"kind": "PodList", "items": pods}).to_string();
    let options = DecodeOptions { node: true, workload: true, ..DecodeOptions::default() };
    let documents = Recording::from_reader("test", Cursor::new(list.into_bytes()), options);
    detail(documents, ReplayConfig::default(), 10).unwrap()
}

#[test]
fn single_pods_take_little_and_are_written_one_by_one() {
    const PODS: usize = 20_000;
    let (report, of_pods) = bytes_of(|| report(PODS));
    println!("{of_pods} bytes for {PODS} pods");
    // What they have in common, such as the sums of a report, is a small part of that.
    assert!(of_pods < 160 * PODS, "{of_pods}");
    type Format = (&'static str, fn(&DetailedReport));
    let formats: [Format; 3] = [
        ("csv", |report| report.write_csv(io::sink()).unwrap()),
        ("trace", |report| report.write_trace(io::sink()).unwrap()),
        ("html", |report| drop(report.to_html().unwrap())),
    ];
    for (format, write) in formats {
        let before = held();
        forget_peak();
        write(&report);
        let more = usize::try_from(peak() - before).unwrap();
        println!("{more} more for {format}");
        // A position or two for each pod, one row or event, and the page.
        assert!(more < 64 * PODS, "{format}: {more}");
    }
}

#[cfg(target_os = "linux")]
mod slow {
    use std::io::{BufWriter, Write};
    use std::process::{ChildStdin, Stdio};
    use std::thread;
    use std::time::Duration;

    use super::pod;
    use crate::support::process::podinit;

    const PODS: usize = 100_000;

    /// What the report may take besides the pages of the program, of which a release build has 15 MiB.
    const LIMIT: u64 = (100 - 15) << 10;

    fn write_list(to: ChildStdin) {
        let mut to = BufWriter::new(to);
        write!(to, r#"{{"apiVersion":"v1","items":["#).unwrap();
        for number in 0..PODS {
            let separator = if number > 0 { "," } else { "" };
            write!(to, "{separator}{}", pod(number)).unwrap();
        }
        to.write_all(br#"],"kind":"List"}"#).unwrap();
        to.into_inner().unwrap();
    }

    /// The memory of a process in KiB besides the pages of files; `None` once it has ended.
    fn anonymous(process: u32) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let stated = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        stated.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// The most memory in KiB that a report on so many pods takes in a format, besides the pages of the program.
    fn peak(format: &str) -> u64 {
        let mut report = podinit(["report", "-o", format, "-"]);
        let mut report = report
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let list = report.stdin.take().unwrap();
        let writer = thread::spawn(|| write_list(list));
        let mut peak = 0;
        let status = loop {
            if let Some(status) = report.try_wait().unwrap() {
                break status;
            }
            peak = peak.max(anonymous(report.id()).unwrap_or_default());
            thread::sleep(Duration::from_millis(2));
        };
        writer.join().unwrap();
        assert!(status.success());
        peak
    }

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn single_pods_of_100_000_take_at_most_100_mib() {
        for format in ["csv", "html", "trace"] {
            let peak = peak(format);
            println!("{format}: {} MiB besides the program", peak >> 10);
            assert!(peak > 0 && peak < LIMIT, "{format}: {peak} KiB");
        }
    }
}
