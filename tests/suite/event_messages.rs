//! What Kubernetes says in Events of why a pod waits reaches everyone who asks: the API, `stuck`, the page, and
//! `explain` of an exporter, of a cluster and of a recording.

use std::process::{Command, Stdio};
use std::time::Duration;

use podinit_sim::{Cluster, ClusterConfig};
use serde_json::{Value, json};

use crate::support::doctor::Kubeconfig;
use crate::support::restart::{Exporter, World};

const SAID: &str = "failed to setup network for sandbox: no address left";

/// A pod whose kubelet has accepted it, twenty minutes before anyone looks.
fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "shop", "uid": "uid-web-1",
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "web"}]},
        "status": {"phase": "Pending", "startTime": "2026-01-01T00:00:01Z", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"}]},
    })
}

fn warning() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": "web-1.1", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1", "uid": "uid-web-1"},
        "reason": "FailedCreatePodSandBox", "message": SAID, "type": "Warning",
        "reportingComponent": "kubelet", "firstTimestamp": "2026-01-01T00:00:02Z",
        "lastTimestamp": "2026-01-01T00:00:02Z", "count": 1,
    })
}

async fn cluster() -> Cluster {
    let cluster = Cluster::start(ClusterConfig::manual()).await.unwrap();
    cluster.put_json(pod()).unwrap();
    cluster.step(Duration::from_secs(20 * 60));
    cluster
}

/// What a command prints.
fn printed(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_podinit"))
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exporter_says_it_everywhere() {
    let world = World::of(cluster().await);
    tokio::task::block_in_place(|| says_it_everywhere(&world));
}

fn says_it_everywhere(world: &World) {
    let mut exporter = Exporter::spawn(world.command().args(["--evidence", "events"]));
    exporter.until_says("/metrics", "podinit_evidence_up{source=\"events\"} 1");
    world.cluster.put_event_json(warning()).unwrap();
    let inflight = exporter.until_says("/api/v1/inflight", SAID);
    let inflight: Value = serde_json::from_str(&inflight).unwrap();
    let startup = &inflight["items"][0];
    assert_eq!(
        [&startup["in_flight"]["cause"], &startup["message"]],
        [&json!("cni"), &json!(SAID)]
    );
    exporter.until_says("/pods/shop/web-1", SAID);
    exporter.until_says("/", SAID);
    let url = format!("http://{}", exporter.address().unwrap());
    let url = url.as_str();
    for args in [
        &["stuck", "--url", url, "-o", "wide"][..],
        &["explain", "--url", url, "-n", "shop", "web-1"],
    ] {
        let text = printed(args);
        assert!(text.contains(SAID), "{args:?}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_the_cluster_says_it_to_explain() {
    let cluster = cluster().await;
    cluster.put_event_json(warning()).unwrap();
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    let args = ["explain", "--kubeconfig", file, "-n", "shop", "web-1"];
    let text = tokio::task::block_in_place(|| printed(&args));
    assert!(text.contains(SAID), "{text}");
}

#[test]
fn a_recording_says_it_to_explain() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.json");
    let list = json!({"kind": "PodList", "items": [pod()]});
    std::fs::write(&file, format!("{list}\n{}\n", warning())).unwrap();
    let file = file.to_str().unwrap();
    let text = printed(&["explain", "--file", file, "-n", "shop", "web-1"]);
    assert!(text.contains(SAID), "{text}");
}
