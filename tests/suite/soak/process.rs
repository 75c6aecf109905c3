//! Ten minutes of the real binary: `podinit serve` in front of a simulated cluster under load, with
//! a scraper, and its resident memory.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use podinit_sim::{ClusterConfig, SimulatedCluster};

use crate::soak::slope;
use crate::support::get;
use crate::support::memory::kibibytes;
use crate::support::process::KilledChild;
use crate::support::scrape::Scrape;

/// How long it takes, unless `PODINIT_SOAK_MINUTES` says otherwise.
const MINUTES: f64 = 10.0;

/// How often the exporter is scraped and its memory is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// The most that resident memory may grow. Pages that the allocator has touched and keeps make it
/// uneven; what is leaked for each of thousands of pods a minute would be far above.
const MOST_KIB_PER_MINUTE: f64 = 64.0;

/// Reached within a minute. Without it the pods deleted in the last ten minutes would still be
/// increasing at the end.
const MAX_PODS: &str = "5000";

/// A running `podinit serve`, killed when dropped.
struct Exporter {
    process: KilledChild,
    address: String,
}

impl Exporter {
    fn start(server: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: soak\n\
             clusters: [{{name: soak, cluster: {{server: \"{server}\"}}}}]\n\
             contexts: [{{name: soak, context: {{cluster: soak, user: soak}}}}]\n\
             users: [{{name: soak, user: {{}}}}]\n"
        );
        std::fs::write(&path, kubeconfig).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--max-pods", MAX_PODS])
            .arg("--kubeconfig")
            .arg(&path)
            // Else each thread that ever encodes a scrape keeps room for one, which looks like a
            // leak for as long as there are threads that have not yet.
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut address = None;
        let mut line = String::new();
        while address.is_none() && log.read_line(&mut line).unwrap() > 0 {
            let entry: serde_json::Value = serde_json::from_str(&line).expect(&line);
            address = entry["address"].as_str().map(str::to_owned);
            line.clear();
        }
        // A full pipe would stop the exporter.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        // Read by now: it lists and watches.
        let address = address.expect("it ended before it listened");
        Self { process: KilledChild(process), address }
    }

    fn scrape(&self) -> Scrape {
        let answer = get(&self.address, "/metrics").unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        Scrape::parse(body)
    }

    fn resident_kib(&self) -> f64 {
        kibibytes(self.process.id(), "VmRSS") as f64
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "ten minutes of real time; run by itself (see the head of main.rs)"]
async fn ten_minutes() {
    let minutes = std::env::var("PODINIT_SOAK_MINUTES");
    let minutes = minutes.map_or(MINUTES, |text| text.parse().unwrap());
    // A hundred pods a second, each of which lives ten times as fast.
    let config =
        ClusterConfig { rate: 10.0, speed: 10.0, population: 2_000, ..ClusterConfig::default() };
    let cluster = SimulatedCluster::start(config).await.unwrap();
    let url = cluster.url().to_string();
    let exporter = tokio::task::spawn_blocking(move || Exporter::start(url.trim_end_matches('/')));
    let exporter = exporter.await.unwrap();
    let points = tokio::task::spawn_blocking(move || watch(&exporter, minutes));
    let points = points.await.unwrap();
    cluster.shutdown().await;
    let slope = slope::of_second_half(&points);
    println!("resident memory grows by {slope:.1} KiB a minute (second half, least squares)");
    assert!(slope <= MOST_KIB_PER_MINUTE, "{slope}");
}

/// Scrapes for so many minutes, and returns minutes and KiB.
fn watch(exporter: &Exporter, minutes: f64) -> Vec<(f64, f64)> {
    let begun = Instant::now();
    let elapsed = || begun.elapsed().as_secs_f64() / 60.0;
    let (mut points, mut last, mut reported) = (Vec::new(), 0.0, 0.0);
    while elapsed() < minutes {
        std::thread::sleep(EVERY);
        let scrape = exporter.scrape();
        scrape.assert_conserved();
        let discovered = scrape.sum("podinit_pods_discovered_total");
        assert!(discovered >= last, "a counter has gone back");
        last = discovered;
        points.push((elapsed(), exporter.resident_kib()));
        if elapsed() >= reported {
            reported += minutes / 20.0;
            println!(
                "{:5.1} min: {:7.0} KiB resident, {discovered} pods discovered, {} remembered",
                elapsed(),
                points.last().unwrap().1,
                scrape.sum("podinit_remembered_pods"),
            );
        }
    }
    assert!(last > 1000.0 * minutes, "there was no load: {last} pods");
    points
}
