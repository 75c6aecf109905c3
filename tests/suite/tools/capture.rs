//! Recordings of the simulated cluster, read back: they give what an exporter beside them has counted.

use std::io::{BufRead, BufReader, Lines, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use podinit_capture::{
    Anonymizer, CaptureConfig, CaptureDestination, CaptureOutput, CapturedStartups,
    DocumentRecorder, OutputConfig, StartupCounts, capture,
};
use podinit_core::lifecycle::{TimestampMode, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_decode::node::NodeOptions;
use podinit_expo::metrics::ExpositionFormat;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_recordings::reader::Recording;
use podinit_recordings::replay::{ExpositionConfig, ReplayConfig, expose};
use podinit_reports::report::summarize;
use podinit_sim::SimulatedCluster;
use podinit_sim::faults::{FaultTarget, StreamFault};
use podinit_sim::node::NODES;
use podinit_sim::profile::{LifeKind, LifeSpeed};
use podinit_sim::{plan, rng::Rng};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::support::doctor::Kubeconfig;
use crate::support::embedded::{Embedded, client, cluster};
use crate::support::scrape::Scrape;

/// A recording in progress, beside an exporter of the same cluster.
struct Recorded {
    directory: tempfile::TempDir,
    recorder: Arc<DocumentRecorder>,
    startups: Arc<StartupCounts>,
    output: Arc<Mutex<CaptureOutput>>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Recorded {
    fn begin(
        cluster: &SimulatedCluster,
        anonymizer: Option<Anonymizer>,
        rotate_bytes: u64,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = OutputConfig {
            destination: CaptureDestination::Directory(directory.path().to_owned()),
            compress: true,
            rotate_bytes,
            keep_files: 3,
        };
        let output =
            Arc::new(Mutex::new(CaptureOutput::create(config, "test".to_owned()).unwrap()));
        let recorder = Arc::new(DocumentRecorder::new(anonymizer));
        let startups = Arc::new(StartupCounts::default());
        let config = CaptureConfig {
            scope: PodScope::Cluster,
            selectors: PodSelectors::default(),
            events: false,
            nodes: true,
            recorder: Arc::clone(&recorder),
            startups: Arc::clone(&startups),
            reflector: ReflectorConfig::default(),
        };
        let (client, clock, to) = (client(cluster), cluster.clock(), Arc::clone(&output));
        let clock = Arc::new(move || clock.now());
        let task = tokio::spawn(async move { capture(&client, config, clock, to).await });
        Self { directory, recorder, startups, output, task }
    }

    /// Ends the recording as a process does that is killed: what was not flushed is lost.
    fn files(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.directory.path()).unwrap();
        let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    async fn end(self) -> (tempfile::TempDir, Vec<PathBuf>) {
        self.task.abort();
        self.output.lock().await.flush().unwrap();
        let files = self.files();
        (self.directory, files)
    }
}

/// What a replay of these files counts.
fn replayed(files: &[PathBuf]) -> Scrape {
    replayed_with(files, false)
}

/// The same, with nodes as evidence or without.
fn replayed_with(files: &[PathBuf], nodes: bool) -> Scrape {
    let options = DecodeOptions {
        node: true,
        nodes: nodes.then(NodeOptions::default),
        ..DecodeOptions::default()
    };
    let documents = files.iter().flat_map(|file| Recording::open(file, options.clone()).unwrap());
    let config = ExpositionConfig {
        replay: ReplayConfig {
            tracker: TrackerConfig {
                timestamps: TimestampMode::Fused,
                nodes,
                ..TrackerConfig::default()
            },
            ..ReplayConfig::default()
        },
        ..ExpositionConfig::default()
    };
    let exposition = expose(documents, config).unwrap();
    let text = exposition.encode(ExpositionFormat::Text).unwrap();
    Scrape::parse(&String::from_utf8(text).unwrap())
}

fn text(file: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(file).unwrap();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// What is in the file by now: its end may be missing.
fn written(file: &Path) -> String {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(file).unwrap();
    let _ = MultiGzDecoder::new(file).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lets pods of every kind live for a while.
async fn live(world: &mut Embedded, seed: u64, seconds: u64) {
    let mut random = Rng::fork(seed, 0);
    for kind in LifeKind::all() {
        let life = plan::life(kind, LifeSpeed::Usual, &mut random);
        world.cluster.begin(life);
        world.pass(seconds).await;
    }
}

/// What is counted of all pods together, whatever their names are.
const COUNTED: [&str; 5] = [
    "podinit_pods_discovered_total",
    "podinit_pods_finished_total",
    "podinit_unobserved_total",
    "podinit_reentries_total",
    "podinit_clock_anomalies_total",
];

#[tokio::test(start_paused = true)]
async fn a_recording_gives_what_the_exporter_counts() {
    for anonymizer in [None, Some(Anonymizer::with_key([1; 32]))] {
        let anonymous = anonymizer.is_some();
        let mut world = Embedded::watching(cluster().await);
        world.pass(2).await;
        let recorded = Recorded::begin(&world.cluster, anonymizer, u64::MAX);
        world.pass(2).await;
        live(&mut world, 7, 20).await;
        world.pass(5).await;
        let (_directory, files) = recorded.end().await;
        assert_eq!(files.len(), 1);
        let (replayed, watched) = (replayed(&files), world.scrape());
        assert!(watched.sum("podinit_pods_finished_total") > 10.0);
        let (replayed, watched) = (replayed.beginning(&COUNTED), watched.beginning(&COUNTED));
        assert_eq!(replayed, watched, "anonymous: {anonymous}");
    }
}

/// The startups that `report` finds in these files: all but those of pods that had started up before.
fn reported(files: &[PathBuf]) -> CapturedStartups {
    let documents =
        files.iter().flat_map(|file| Recording::open(file, DecodeOptions::default()).unwrap());
    let report = summarize(documents, ReplayConfig::default(), 0).unwrap();
    let known = report.finished["preexisting"] + report.finished["static"];
    CapturedStartups { begun: report.discovered - known, ready: report.finished["ready"] }
}

#[tokio::test(start_paused = true)]
async fn the_startups_are_those_of_the_report() {
    for anonymizer in [None, Some(Anonymizer::with_key([1; 32]))] {
        let mut world = Embedded::watching(cluster().await);
        live(&mut world, 3, 20).await;
        let recorded = Recorded::begin(&world.cluster, anonymizer, u64::MAX);
        world.pass(2).await;
        live(&mut world, 7, 20).await;
        // Between two lists pods come and go.
        world.cluster.faults().stream(StreamFault::Gone);
        live(&mut world, 8, 1).await;
        world.pass(60).await;
        let counted = recorded.startups.now();
        let (_directory, files) = recorded.end().await;
        assert!(counted.ready > 5 && counted.begun > counted.ready, "{counted:?}");
        assert_eq!(counted, reported(&files));
    }
}

/// A pod, and the instant at which it became Ready, if it has.
fn put_pod(cluster: &SimulatedCluster, name: &str, is_ready: bool) {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"});
    let kinds: &[&str] = match is_ready {
        true => &[
            "PodScheduled",
            "PodReadyToStartContainers",
            "Initialized",
            "ContainersReady",
            "Ready",
        ],
        false => &["PodScheduled"],
    };
    let conditions: Vec<_> = kinds.iter().map(|kind| condition(kind)).collect();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
                     "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": conditions},
    });
    cluster.put_json(pod).unwrap();
}

/// `podinit capture` into a directory, as a process, and its log.
fn capture_process(
    cluster: &SimulatedCluster,
    directory: &Path,
    args: &[&str],
) -> (Child, Lines<BufReader<ChildStderr>>) {
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(["capture", "--kubeconfig"])
        .arg(kubeconfig.path())
        .arg("--output-dir")
        .arg(directory)
        .args(args)
        .env_clear()
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let log = BufReader::new(process.stderr.take().unwrap()).lines();
    // Its first list is recorded once it is written.
    let size = || {
        let files = std::fs::read_dir(directory).unwrap();
        let sizes = files.map(|file| file.unwrap().metadata().unwrap().len());
        sizes.sum::<u64>()
    };
    while size() == 0 {
        assert!(process.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(10));
    }
    (process, log)
}

#[test]
fn the_directory_is_made_and_belongs_to_its_owner() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("recordings/before");
    let config = OutputConfig {
        destination: CaptureDestination::Directory(directory.clone()),
        compress: false,
        rotate_bytes: u64::MAX,
        keep_files: 1,
    };
    let output = CaptureOutput::create(config, "podinit".to_owned()).unwrap();
    assert_eq!(output.path().unwrap().parent(), Some(&*directory));
    let mode = std::fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// The rest of the log of a process that has to end well by itself.
fn to_the_end(mut process: Child, mut log: Lines<BufReader<ChildStderr>>) -> String {
    let mut text = String::new();
    while let Some(line) = log.next().transpose().unwrap() {
        text += &line;
        text.push('\n');
    }
    assert!(process.wait().unwrap().success(), "{text}");
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_once_so_many_are_ready_and_says_how_many_it_holds() {
    let cluster = cluster().await;
    for name in ["before-a", "before-b", "before-c"] {
        put_pod(&cluster, name, true);
    }
    put_pod(&cluster, "under-way", false);
    let directory = tempfile::tempdir().unwrap();
    let args = ["--until-ready", "2", "--for", "1h"];
    let (process, log) = capture_process(&cluster, directory.path(), &args);
    put_pod(&cluster, "waits", false);
    put_pod(&cluster, "quick", false);
    put_pod(&cluster, "under-way", true);
    put_pod(&cluster, "quick", true);
    let text = to_the_end(process, log);
    assert!(text.contains("3 startups, 2 of them Ready, in "), "{text}");
    let files = std::fs::read_dir(directory.path()).unwrap();
    let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    assert!(text.contains(files[0].to_str().unwrap()), "{text}");
    assert_eq!(reported(&files), CapturedStartups { begun: 3, ready: 2 });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_duration_ends_it_where_too_few_are_ready() {
    let cluster = cluster().await;
    let directory = tempfile::tempdir().unwrap();
    let args = ["--until-ready", "2", "--for", "1s"];
    let (process, log) = capture_process(&cluster, directory.path(), &args);
    let text = to_the_end(process, log);
    assert!(text.contains("0 startups, 0 of them Ready, in "), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_full_file_is_followed_by_one_that_can_be_read_by_itself() {
    let mut world = Embedded::watching(cluster().await);
    let recorded = Recorded::begin(&world.cluster, None, 1);
    world.pass(1).await;
    for number in 0..6 {
        world.put(&format!("pod-{number}"));
        world.pass(2).await;
    }
    let (_directory, files) = recorded.end().await;
    assert_eq!(files.len(), 3, "{files:?}");
    for file in &files {
        let first = text(file);
        let first = first.lines().next().unwrap_or_default();
        assert!(first.contains("\"PodList\"") && first.contains("\"observedAt\""), "{first}");
    }
    let last = replayed(&files[2..]);
    assert_eq!(last.value("podinit_pods_discovered_total"), Some(6.0));
}

#[tokio::test(start_paused = true)]
async fn nodes_are_recorded_with_what_tells_startups_apart() {
    for anonymizer in [None, Some(Anonymizer::with_key([1; 32]))] {
        let anonymous = anonymizer.is_some();
        let mut world = Embedded::watching(cluster().await);
        let recorded = Recorded::begin(&world.cluster, anonymizer, u64::MAX);
        world.pass(2).await;
        let mut random = Rng::fork(3, 0);
        let life = plan::life(LifeKind::Unschedulable, LifeSpeed::Usual, &mut random);
        world.cluster.begin(life);
        for _ in 0..120 {
            world.pass(1).await;
        }
        let nodes = world.cluster.nodes().len() as f64;
        let (_directory, files) = recorded.end().await;
        let replayed = replayed_with(&files, true);
        let value = |series: &str| replayed.value(series);
        assert_eq!(nodes, (NODES + 1) as f64);
        assert_eq!(value("podinit_nodes_discovered_total"), Some(nodes));
        let ready = "podinit_nodes_finished_total{outcome=\"ready\"}";
        assert_eq!(value(ready), Some(1.0), "anonymous: {anonymous}");
        let new = "podinit_cold_start_duration_seconds_count{node_age=\"new\",images=\"unknown\"}";
        assert_eq!(value(new), Some(1.0), "anonymous: {anonymous}");
        let all = text(&files[0]);
        for name in ["pool-a", "node-s", "10.0.0."] {
            assert_eq!(all.contains(name), !anonymous, "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_file_has_a_list_of_nodes() {
    let mut world = Embedded::watching(cluster().await);
    let recorded = Recorded::begin(&world.cluster, None, 1);
    let later_files_list_nodes = || {
        let files = recorded.files();
        files.len() == 3
            && !files[0].ends_with("test-0001.json.gz")
            && files.iter().any(|file| written(file).contains("\"NodeList\""))
    };
    for pod in 0..60 {
        world.put(&format!("pod-{pod}"));
        world.pass(1).await;
        if later_files_list_nodes() {
            return;
        }
    }
    panic!("{:?}", recorded.files());
}

#[tokio::test(start_paused = true)]
async fn lost_events_are_made_up_for_by_a_list() {
    let mut world = Embedded::watching(cluster().await);
    let recorded = Recorded::begin(&world.cluster, None, u64::MAX);
    world.put("before");
    world.pass(2).await;
    let lists = world.cluster.faults().received(FaultTarget::List);
    world.cluster.faults().stream(StreamFault::Gone);
    world.pass(1).await;
    world.put("after");
    world.pass(60).await;
    assert!(world.cluster.faults().received(FaultTarget::List) > lists);
    let (_directory, files) = recorded.end().await;
    let replayed = replayed(&files);
    assert_eq!(replayed.value("podinit_pods_discovered_total"), Some(2.0));
    assert_eq!(replayed.value("podinit_inflight_pods{stage=\"scheduling\"}"), Some(2.0));
}

#[tokio::test(start_paused = true)]
async fn a_killed_recording_keeps_what_was_written_until_a_second_before() {
    let mut world = Embedded::watching(cluster().await);
    let recorded = Recorded::begin(&world.cluster, None, u64::MAX);
    world.pass(1).await;
    world.put("kept");
    world.pass(2).await;
    let files = recorded.files();
    assert_eq!(replayed(&files).value("podinit_pods_discovered_total"), Some(1.0));
}

/// What no reader of recordings takes costs only itself, with names and without.
#[tokio::test(start_paused = true)]
async fn an_odd_event_is_left_out_and_the_recording_goes_on() {
    let deep = format!("{}7{}", "[".repeat(1_000), "]".repeat(1_000));
    let event = |status: &str| {
        format!(
            "{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"uid\":\"odd\"}},\"status\":{status}}}}}\n"
        )
    };
    for anonymizer in [None, Some(Anonymizer::with_key([1; 32]))] {
        let mut world = Embedded::watching(cluster().await);
        let recorded = Recorded::begin(&world.cluster, anonymizer, u64::MAX);
        world.put("before");
        world.pass(2).await;
        for status in [&*deep, "1e999", "\"\\ud800\""] {
            let line = event(status).into_bytes();
            world.cluster.faults().stream(StreamFault::Raw(line.into()));
            world.pass(1).await;
        }
        let line = event("\"?\"").replace('?', "\u{0}").into_bytes();
        let invalid = line.into_iter().map(|byte| if byte == 0 { 0xff } else { byte });
        let invalid: Vec<u8> = invalid.collect();
        world.cluster.faults().stream(StreamFault::Raw(invalid.into()));
        world.put("after");
        world.pass(2).await;
        let counts = recorded.recorder.counts();
        assert_eq!((counts.left_out, counts.repaired), (3, 1));
        let (_directory, files) = recorded.end().await;
        let replayed = replayed(&files);
        // The last odd one is a pod.
        assert_eq!(replayed.value("podinit_pods_discovered_total"), Some(3.0));
    }
}
