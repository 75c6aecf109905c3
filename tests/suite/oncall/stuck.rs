//! `podinit stuck`: the table, and the same rows from an exporter and from its cluster.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use podinit_core::kube_event::CapacityState;
use podinit_core::lifecycle::{
    Progress, Record, RecordedCapacity, RecordedImage, RecordedPull, WaitReason,
};
use podinit_core::pod::{PodUid, Workload};
use podinit_core::timestamp::Timestamp;
use podinit_http::ServerLimits;
use podinit_oncall::stuck::{StuckPod, StuckPods};
use podinit_sim::{ClusterConfig, SimulatedCluster};
use podinit_testing::records;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::PATIENCE;
use crate::support::doctor::Kubeconfig;
use crate::support::process::{KilledChild, run};
use crate::support::server::{Source, start_routes};

fn record(name: &str, stage: &str, cause: &str, minutes: [i64; 2]) -> Record {
    let [entered, stuck_at] = minutes.map(at);
    Record {
        progress: Progress::InFlight {
            waiting: WaitReason::from_texts(stage, cause).unwrap(),
            entered,
            stuck_at,
            is_stuck: true,
            is_never_ready: false,
        },
        ..records::record("shop", name)
    }
}

/// At 2026-01-01T00:20:00Z.
fn row(name: &str, stage: &str, cause: &str, minutes: [i64; 2]) -> StuckPod {
    StuckPod::from_record(&bound(record(name, stage, cause, minutes)), at(20)).unwrap()
}

/// A pod whose name says so has a node, an owner and images.
fn bound(mut record: Record) -> Record {
    if !record.pod.name.starts_with("web") {
        return record;
    }
    let pull = |registry: &str, image| RecordedPull {
        container: "main".into(),
        init: false,
        registry: registry.into(),
        has_failed: true,
        image,
    };
    record.pod.node = Some("node-a0".into());
    record.pod.workload =
        Some(Arc::new(Workload { kind: "Deployment".into(), name: "web".into() }));
    Record {
        image: Some("registry.example/web:7".into()),
        message: Some("Back-off\u{1b} pulling image".into()),
        pulls: vec![
            pull("registry.example", RecordedImage::Unknown),
            pull("docker.io", RecordedImage::Present),
        ],
        ..record
    }
}

fn uid(name: &str) -> String {
    PodUid::from_text(name).to_string()
}

fn at(minute: i64) -> Timestamp {
    Timestamp::from_seconds(1_767_225_600 + 60 * minute)
}

fn three() -> StuckPods {
    StuckPods {
        fresh: true,
        freshness: None,
        time: Some(at(20)),
        pods: vec![
            row("db-0", "scheduling", "queue", [9, 14]),
            row("web-1", "containers", "pull", [1, 2]),
            row("web-2\u{1b}[31m", "containers", "pull", [3, 4]),
        ],
        complete: true,
        ..StuckPods::default()
    }
}

#[test]
fn the_table_has_a_row_for_each_pod_and_a_sum() {
    let expected = "\
NAMESPACE   POD          STAGE        WAIT    LIMIT   CAUSE   NODE      OWNER
shop        db-0         scheduling   11m0s   5m0s    queue   -         -
shop        web-1        containers   19m0s   60s     pull    node-a0   Deployment/web
shop        web-2\u{fffd}[31m   containers   17m0s   60s     pull    node-a0   Deployment/web

3 stuck: 2 pull, 1 queue
";
    assert_eq!(three().to_table(false, false), expected);
    let coloured = three().to_table(false, true);
    assert!(coloured.starts_with("\u{1b}[1mNAMESPACE"), "{coloured}");
    assert_eq!(coloured.matches('\u{1b}').count(), 2);
}

#[test]
fn the_wide_table_says_whether_a_node_is_on_its_way() {
    let scaling_up = |record| Record {
        unschedulable: Some(RecordedCapacity {
            state: CapacityState::ScalingUp,
            by: Some("cluster-autoscaler".into()),
            since: None,
            message: None,
            choices: None,
        }),
        ..record
    };
    let waits = scaling_up(record("big-0", "unschedulable", "resources", [1, 11]));
    let mut stuck = three();
    stuck.pods = vec![StuckPod::from_record(&waits, at(20)).unwrap()];
    let wide = stuck.to_table(true, false);
    assert!(wide.contains("CAPACITY") && wide.contains("scaling_up"), "{wide}");
    assert!(!stuck.to_table(false, false).contains("scaling_up"));
    // Once it has a node, what an autoscaler said is over.
    let has_node = scaling_up(record("big-0", "containers", "pull", [1, 11]));
    assert_eq!(StuckPod::from_record(&has_node, at(20)).unwrap().unschedulable, None);
}

#[test]
fn the_wide_table_also_says_what_to_do_next() {
    let wide = three().to_table(true, false);
    let row = wide.lines().find(|line| line.contains("web-1")).unwrap();
    let ends = format!(
        "Deployment/web   -          registry.example/web:7   -       Back-off\u{fffd} pulling image   \
         registry.example   {}   kubectl -n shop events --for pod/web-1",
        uid("web-1")
    );
    assert!(row.ends_with(&ends), "{wide}");
}

#[test]
fn the_sum_says_whether_it_is_of_all() {
    let mut some = three();
    some.complete = false;
    let says = "the first 3 stuck: 2 pull, 1 queue; raise --limit to see more";
    assert_eq!(some.summary(), says);
    let none = StuckPods { complete: true, ..StuckPods::default() };
    assert_eq!(none.to_table(true, true), "no pod is stuck\n");
    let broken = |problems, source: &str| {
        let found =
            StuckPods { problems: Some(problems), source: source.to_owned(), ..none.clone() };
        found.summary()
    };
    assert_eq!(broken(0, ""), "no pod is stuck");
    assert_eq!(
        broken(1, " --url http://localhost:8080"),
        "no pod is stuck, but there is 1 problem: run podinit problems --url http://localhost:8080"
    );
    assert_eq!(broken(2, ""), "no pod is stuck, but there are 2 problems: run podinit problems");
}

#[test]
fn json_has_all_that_is_known() {
    let document: Value = serde_json::from_str(&three().to_json().unwrap()).unwrap();
    assert_eq!(document["complete"], true);
    let expected = json!({
        "namespace": "shop", "name": "web-1", "uid": uid("web-1"),
        "stage": "containers", "cause": "pull",
        "entered": "2026-01-01T00:01:00Z", "stuck_at": "2026-01-01T00:02:00Z",
        "wait_seconds": 1140.0, "limit_seconds": 60.0,
        "node": "node-a0", "owner": "Deployment/web", "image": "registry.example/web:7",
        "message": "Back-off\u{1b} pulling image", "registries": ["registry.example"],
        "next_command": "kubectl -n shop events --for pod/web-1",
    });
    assert_eq!(document["pods"][1], expected);
    assert!(document["pods"][0].get("node").is_none());
}

#[test]
fn a_pod_that_is_not_stuck_has_no_row() {
    let record = records::record("shop", "web");
    assert_eq!(StuckPod::from_record(&record, at(5)), None);
}

/// What a run said: its status, standard output and standard error.
fn stuck(args: &[&str]) -> (i32, String, String) {
    let output = run(&[&["stuck"], args].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let status = output.status.code().unwrap();
    (status, text(output.stdout), text(output.stderr))
}

/// A cluster with two pods in `shop` and one in `pay` that no scheduler looks at, and one on a node
/// whose containers are not created.
async fn cluster() -> SimulatedCluster {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    for (namespace, name) in [("shop", "web-1"), ("shop", "web-2"), ("pay", "bill")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": namespace, "uid": format!("uid-{name}"),
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web",
                    "uid": "uid-web", "controller": true}],
            },
            "spec": {"containers": [{"name": "main", "image": "registry.example/web"}]},
            "status": {"phase": "Pending"},
        });
        cluster.put_json(pod).unwrap();
    }
    let bound = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "db-0", "namespace": "shop", "uid": "uid-db-0",
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "db"}]},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"}]},
    });
    cluster.put_json(bound).unwrap();
    cluster
}

/// An exporter of the cluster, as a process. Killed at the end.
struct Exporter {
    _process: KilledChild,
    url: String,
}

impl Exporter {
    fn start(kubeconfig: &Kubeconfig) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
            .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"])
            .arg(kubeconfig.path())
            // What the cluster says of owners and nodes is in the records without a label for it.
            .args(["--labels", ""])
            .env_clear()
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("address=") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "it does not listen");
        }
        std::thread::spawn(move || log.read_to_end(&mut Vec::new()));
        let (_, address) = line.split_once("address=").unwrap();
        let address = address.split_whitespace().next().unwrap();
        Self { _process: KilledChild(process), url: format!("http://{address}") }
    }

    /// The rows, once it has all of them.
    fn rows(&self, args: &[&str], count: usize) -> Value {
        let began = Instant::now();
        loop {
            let args = [&["--url", self.url.as_str(), "-o", "json"], args].concat();
            let (status, text, error) = stuck(&args);
            let rows: Value = serde_json::from_str(&text).expect(&error);
            if rows["pods"].as_array().unwrap().len() == count {
                assert_eq!(status, 3);
                return rows;
            }
            assert!(began.elapsed() < PATIENCE, "{rows:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_says_whether_a_pod_of_the_cluster_is_stuck() {
    let cluster = cluster().await;
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    // The clock of the machine is far from the cluster's, which is a warning.
    let own = ["--kubeconfig", file, "--log-level", "error"];
    let run = |args: &[&str]| stuck(&[&own, args].concat());
    cluster.step(Duration::from_secs(240));
    let broken = "no pod is stuck, but there are 2 problems: run podinit problems\n";
    let calm = (0, broken.to_owned(), String::new());
    assert_eq!(run(&[]), calm);

    cluster.step(Duration::from_secs(16 * 60));
    let (status, text, error) = run(&[]);
    assert_eq!((status, error.as_str()), (3, ""));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    for part in ["pay", "bill", "scheduling", "5m0s", "queue", "StatefulSet/web"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(lines[4].contains("db-0") && lines[4].contains("node-a0"), "{text}");
    assert!(lines[6].starts_with("4 stuck: 3 queue, 1 "), "{text}");

    let (status, text, _) = run(&["-n", "pay"]);
    assert_eq!((status, text.lines().last()), (3, Some("1 stuck: 1 queue")));
    let nothing = (0, "no pod is stuck\n".to_owned(), String::new());
    assert_eq!(run(&["-n", "empty"]), nothing);
    let (_, text, _) = run(&["--limit", "2"]);
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("the first 2 stuck: "), "{text}");
    let (status, text, _) = run(&["--field-selector", "metadata.namespace=pay", "-o", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, found["pods"].as_array().unwrap().len()), (3, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exporter_gives_the_rows_of_its_cluster() {
    let cluster = cluster().await;
    cluster.step(Duration::from_secs(20 * 60));
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    let exporter = Exporter::start(&kubeconfig);
    let of_exporter = exporter.rows(&[], 4);
    let (_, text, _) = stuck(&["--kubeconfig", file, "-o", "json"]);
    let of_cluster: Value = serde_json::from_str(&text).unwrap();
    let rows = |document: &Value| -> Vec<Value> {
        let pods = document["pods"].as_array().unwrap().iter();
        pods.map(|pod| {
            let mut pod = pod.clone();
            // Time goes on.
            pod["wait_seconds"] = Value::Null;
            pod
        })
        .collect()
    };
    assert_eq!(rows(&of_exporter), rows(&of_cluster));
    let images = of_exporter["pods"].as_array().unwrap().iter().map(|pod| &pod["image"]);
    let with_image = images.filter(|image| *image == "registry.example/web").count();
    assert_eq!(with_image, 3);
    exporter.rows(&["--namespace", "shop"], 3);
    exporter.rows(&["-n", "pay,shop"], 4);
    assert_eq!(exporter.rows(&["--limit", "1"], 1)["complete"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_of_an_exporter_are_followed() {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    for number in 0..510 {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("pod-{number}"), "namespace": "crowd",
                "uid": format!("uid-{number}"), "creationTimestamp": "2026-01-01T00:00:00Z"},
        });
        cluster.put_json(pod).unwrap();
    }
    cluster.step(Duration::from_secs(20 * 60));
    let exporter = Exporter::start(&Kubeconfig::of(&cluster.url().to_string()));
    let all = exporter.rows(&["--limit", "1000"], 510);
    assert_eq!(all["complete"], true);
    let pods = all["pods"].as_array().unwrap().iter();
    let names: std::collections::BTreeSet<_> = pods.map(|pod| pod["name"].as_str()).collect();
    assert_eq!(names.len(), 510);
    assert_eq!(exporter.rows(&[], 500)["complete"], false);
}

/// What is no podinit may name page after page, each empty or full of what is no pod.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exporter_that_names_empty_pages_without_end_is_left() {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    let page = move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let page = json!({"time": "2026-01-01T00:00:00Z", "fresh": true, "freshness": null, "items": [],
            "continue": number.to_string()});
        std::future::ready(page.to_string())
    };
    let routes = Router::new().route("/api/v1/stuck", get(page));
    let server = start_routes(Source::default(), ServerLimits::default(), routes, None);
    let url = format!("http://{}", server.address);
    let run = move || stuck(&["--url", &url]);
    let (status, text, error) = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!((status, text.as_str()), (1, ""), "{error}");
    assert!(error.contains("100 pages in a row have no pod"), "{error}");
    assert!(error.contains("use the podinit of the exporter's version"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_the_watch_with_the_status_of_the_last_table() {
    let cluster = cluster().await;
    cluster.step(Duration::from_secs(20 * 60));
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let mut process = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(["stuck", "--watch", "--log-level", "off", "--kubeconfig"])
        .arg(kubeconfig.path())
        .env_clear()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("4 stuck: ") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "there is no table");
        assert!(!line.contains('\u{1b}'), "it is no terminal: {line:?}");
    }
    kill_process(Pid::from_child(&process), Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().code(), Some(3));
}

#[test]
fn what_cannot_be_asked_is_one_line() {
    let one_line = |args: &[&str], code, says: &[&str]| {
        let (status, text, error) = stuck(args);
        assert_eq!((status, text.as_str()), (code, ""), "{error}");
        assert!(code == 2 || error.lines().count() == 1, "{error}");
        for part in says {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    drop(taken);
    let url = format!("http://127.0.0.1:{port}");
    let refused = ["podinit: cannot ask the exporter at", &url, "check --url"];
    one_line(&["--url", &url], 1, &refused);
    one_line(&["--url", &url, "--token-file", "/none"], 1, &["the token file cannot be read"]);
    one_line(&["--url", "localhost:8080"], 2, &["expected the URL of a running podinit, such as"]);
    one_line(&["--token-file", "x"], 2, &["need --url"]);
    one_line(&["--url", &url, "-l", "a=b"], 2, &["do not go with --url"]);
    one_line(&["--limit", "0"], 2, &["--limit"]);
}
