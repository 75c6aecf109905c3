//! A recording in front of an API server that fails, refuses, or was restored from a backup.

use std::sync::Arc;
use std::time::Duration;

use podinit_capture::{
    CaptureConfig, CaptureDestination, CaptureOutput, DocumentRecorder, OutputConfig, capture,
};
use podinit_core::timestamp::Timestamp;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::support::watch::{Call, START, Writer, page, pod, scripted_client};

/// A scripted API server, and a recording of it.
struct Recorded {
    calls: mpsc::UnboundedReceiver<Call>,
    directory: tempfile::TempDir,
    output: Arc<Mutex<CaptureOutput>>,
    _task: JoinHandle<std::io::Result<()>>,
}

impl Recorded {
    fn begin() -> Self {
        let (client, calls) = scripted_client();
        let directory = tempfile::tempdir().unwrap();
        let output = OutputConfig {
            destination: CaptureDestination::Directory(directory.path().to_owned()),
            compress: false,
            rotate_bytes: u64::MAX,
            keep_files: 1,
        };
        let output = CaptureOutput::create(output, "test".to_owned()).unwrap();
        let output = Arc::new(Mutex::new(output));
        let config = CaptureConfig {
            scope: PodScope::Cluster,
            selectors: PodSelectors::default(),
            events: false,
            nodes: false,
            recorder: Arc::new(DocumentRecorder::new(None)),
            startups: Arc::default(),
            reflector: ReflectorConfig { seed: Some(1), ..ReflectorConfig::default() },
        };
        let to = Arc::clone(&output);
        let clock = Arc::new(|| -> Timestamp { START });
        let task = tokio::spawn(async move { capture(&client, config, clock, to).await });
        Self { calls, directory, output, _task: task }
    }

    async fn call(&mut self) -> Call {
        self.calls.recv().await.expect("the recording has ended")
    }

    /// Answers a list, and opens the watch from its version.
    async fn listed(&mut self, version: &str) -> Writer {
        let list = self.call().await;
        assert_eq!(list.uri, "/api/v1/pods?&limit=500");
        list.list(version, None, &page(0..2));
        self.watch_from(version).await.stream()
    }

    /// The next request, which must be a watch from `version`.
    async fn watch_from(&mut self, version: &str) -> Call {
        let call = self.call().await;
        let wanted = format!("&resourceVersion={version}");
        assert!(call.uri.contains("watch=true"), "{}", call.uri);
        assert!(call.uri.ends_with(&wanted), "{} from {version}", call.uri);
        call
    }

    /// The next request that is no watch, and how many watches it came after. Each of these stays silent until it ends.
    async fn asked_after_silent_watches(&mut self) -> (Call, usize) {
        for silent in 0..=5 {
            let call = self.call().await;
            if !call.uri.contains("watch=true") {
                return (call, silent);
            }
            let watch = call.stream();
            sleep(Duration::from_secs(25)).await;
            drop(watch);
        }
        panic!("it resumes for ever");
    }

    /// How many documents of the recording contain `text`.
    async fn documents_with(&self, text: &str) -> usize {
        self.output.lock().await.flush().unwrap();
        let file = self.directory.path().join("test-0001.json");
        let recorded = std::fs::read_to_string(file).unwrap();
        recorded.lines().filter(|line| line.contains(text)).count()
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_no_wait_gets_rest_all_the_same() {
    let mut recorded = Recorded::begin();
    let began = Instant::now();
    for _ in 0..20 {
        recorded.call().await.refuse_with(429, "busy", Some(0));
    }
    let listing = began.elapsed();
    assert!(listing > Duration::from_secs(60), "{listing:?}");
    drop(recorded.listed("10").await);
    let began = Instant::now();
    for _ in 0..20 {
        let call = recorded.watch_from("10").await;
        call.refuse_with(503, "busy", Some(0));
    }
    let watching = began.elapsed();
    assert!(watching > Duration::from_secs(60), "{watching:?}");
    // A longer wait is kept.
    let call = recorded.watch_from("10").await;
    let began = Instant::now();
    call.refuse_with(429, "busy", Some(50));
    recorded.watch_from("10").await;
    assert!(began.elapsed() >= Duration::from_secs(50));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_refused_is_followed_by_a_list() {
    for (code, message) in [
        (400, "invalid resourceVersion"),
        (410, "too old resource version"),
        (504, "Timeout: Too large resource version: 10, current: 5"),
    ] {
        let mut recorded = Recorded::begin();
        drop(recorded.listed("10").await);
        recorded.watch_from("10").await.refuse(code, message);
        let watch = recorded.listed("7").await;
        // In the stream it is the same.
        watch.error(code, message);
        let watch = recorded.listed("9").await;
        watch.event("ADDED", &pod("later", 11));
        drop(watch);
        recorded.watch_from("11").await;
        assert_eq!(recorded.documents_with("PodList").await, 3);
        assert_eq!(recorded.documents_with("\"later\"").await, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_for_a_while_costs_no_event() {
    let mut recorded = Recorded::begin();
    recorded.listed("10").await.reset();
    for code in [500, 502, 503, 503, 504] {
        recorded.watch_from("10").await.refuse(code, "starting");
    }
    let watch = recorded.watch_from("10").await.stream();
    watch.event("ADDED", &pod("later", 11));
    drop(watch);
    recorded.watch_from("11").await;
    assert_eq!(recorded.documents_with("PodList").await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_restored_server_is_listed_again() {
    let mut recorded = Recorded::begin();
    drop(recorded.listed("1000").await);
    let (asked, silent) = recorded.asked_after_silent_watches().await;
    assert!(silent >= 3, "{silent}");
    assert_eq!(asked.uri, "/api/v1/pods?&limit=1");
    asked.list("50", Some("more"), &page(0..1));
    recorded.listed("51").await.bookmark("49");
    // A bookmark of the past gives it away at once, but lists that signs ask for keep apart.
    loop {
        let (asked, _) = recorded.asked_after_silent_watches().await;
        if asked.uri != "/api/v1/pods?&limit=1" {
            assert_eq!(asked.uri, "/api/v1/pods?&limit=500");
            asked.list("50", None, &page(0..2));
            break;
        }
        asked.list("50", Some("more"), &page(0..1));
    }
    drop(recorded.watch_from("50").await.stream());
    assert_eq!(recorded.documents_with("PodList").await, 3);
}
