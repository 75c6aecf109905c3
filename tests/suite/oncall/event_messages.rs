//! What Kubernetes says in Events of why a pod waits reaches everyone who asks: the API, `stuck`, the page, and
//! `explain` of an exporter, of a cluster and of a recording.

use std::time::Duration;

use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};

use crate::support::doctor::Kubeconfig;
use crate::support::process::run;
use crate::support::restart::{Exporter, World};

/// What is said of the pod of that name, by an Event with that reason, and the cause that it is.
const SAID: [(&str, &str, &str, &str); 4] = [
    (
        "web-1",
        "FailedCreatePodSandBox",
        "failed to setup network for sandbox: no address left",
        "cni",
    ),
    (
        "web-2",
        "FailedCreatePodSandBox",
        "failed to create the shim: no space left on device",
        "sandbox",
    ),
    (
        "web-3",
        "FailedMount",
        "MountVolume.SetUp failed for volume data: the path does not exist",
        "volume",
    ),
    (
        "web-4",
        "FailedPrepareDynamicResources",
        "NodePrepareResources failed for claim gpu: the driver does not answer",
        "claim",
    ),
];

/// A pod whose kubelet has accepted it, twenty minutes before anyone looks.
fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node-a0", "containers": [{"name": "main", "image": "web"}]},
        "status": {"phase": "Pending", "startTime": "2026-01-01T00:00:01Z", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:01Z"}]},
    })
}

fn pods() -> impl Iterator<Item = Value> {
    SAID.iter().map(|(name, ..)| pod(name))
}

fn warnings() -> impl Iterator<Item = Value> {
    SAID.iter().map(|(name, reason, message, _)| {
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": format!("{name}.1"), "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name, "uid": format!("uid-{name}")},
            "reason": reason, "message": message, "type": "Warning",
            "reportingComponent": "kubelet", "firstTimestamp": "2026-01-01T00:00:02Z",
            "lastTimestamp": "2026-01-01T00:00:02Z", "count": 1,
        })
    })
}

async fn cluster() -> SimulatedCluster {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    for pod in pods() {
        cluster.put_json(pod).unwrap();
    }
    cluster.step(Duration::from_secs(20 * 60));
    cluster
}

/// What a command prints, and what it logs.
fn said(args: &[&str]) -> (String, String) {
    let output = run(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// What a command prints.
fn printed(args: &[&str]) -> String {
    said(args).0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_exporter_says_it_everywhere() {
    let world = World::of(cluster().await);
    tokio::task::block_in_place(|| says_it_everywhere(&world));
}

fn says_it_everywhere(world: &World) {
    let mut exporter = Exporter::spawn(world.command().args(["--evidence", "events"]));
    exporter.until_says("/metrics", "podinit_evidence_up{source=\"events\"} 1");
    for warning in warnings() {
        world.cluster.put_event_json(warning).unwrap();
    }
    for (name, _, said, cause) in SAID {
        let inflight = exporter.until_says("/api/v1/inflight", said);
        let inflight: Value = serde_json::from_str(&inflight).unwrap();
        let mut startups = inflight["items"].as_array().unwrap().iter();
        let startup = startups.find(|one| one["name"] == name).unwrap();
        assert_eq!(
            [&startup["in_flight"]["cause"], &startup["message"]],
            [&json!(cause), &json!(said)]
        );
        exporter.until_says("/api/v1/problems", said);
        exporter.until_says(&format!("/pods/shop/{name}"), said);
        exporter.until_says("/", said);
    }
    let url = format!("http://{}", exporter.address().unwrap());
    for command in ["stuck", "problems"] {
        let text = printed(&[command, "--url", &url, "-o", "wide"]);
        for (name, _, said, _) in SAID {
            assert!(text.contains(said), "{command} of {name}: {text}");
        }
    }
    for (name, _, said, _) in SAID {
        let text = printed(&["explain", "--url", &url, "-n", "shop", name]);
        assert!(text.contains(said), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_the_cluster_say_it_to_explain_stuck_and_problems() {
    let cluster = cluster().await;
    for warning in warnings() {
        cluster.put_event_json(warning).unwrap();
    }
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    for (name, _, said, _) in SAID {
        let args = ["explain", "--kubeconfig", file, "-n", "shop", name];
        let text = tokio::task::block_in_place(|| printed(&args));
        assert!(text.contains(said), "{text}");
    }
    for command in ["stuck", "problems"] {
        let args = [command, "--kubeconfig", file, "-o", "wide"];
        let text = tokio::task::block_in_place(|| printed(&args));
        for (name, _, said, cause) in SAID {
            assert!(text.contains(said) && text.contains(cause), "{command} of {name}: {text}");
        }
        let args = [&args[..], &["--evidence", "none"]].concat();
        let text = tokio::task::block_in_place(|| printed(&args));
        assert!(SAID.iter().all(|(_, _, said, _)| !text.contains(said)), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_right_to_list_events_stuck_and_problems_say_what_pods_say() {
    let cluster = cluster().await;
    let faults = cluster.event_request_faults();
    faults.set_modes(|modes| modes.forbidden = true);
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    for command in ["stuck", "problems"] {
        let args = [command, "--kubeconfig", file];
        let (text, log) = tokio::task::block_in_place(|| said(&args));
        assert!(text.contains("unknown"), "{command}: {text}");
        let warnings = log.matches("the Events cannot be listed");
        assert_eq!(warnings.count(), 1, "{log}");
        assert!(log.contains("403"), "{log}");
    }
}

#[test]
fn a_recording_says_it_to_explain_and_to_problems() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.json");
    // The pods come first, the warnings follow, and one pod shows the time at which all of them wait.
    let pods: Vec<_> = pods().collect();
    let list = json!({"kind": "PodList", "items": pods});
    let mut later = pod("later");
    later["metadata"]["creationTimestamp"] = json!("2026-01-01T00:20:00Z");
    let later = json!({"type": "ADDED", "object": later});
    let warnings: Vec<_> = warnings().map(|warning| warning.to_string()).collect();
    let text = format!("{list}\n{}\n{later}\n", warnings.join("\n"));
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    for (name, _, said, _) in SAID {
        let text = printed(&["explain", "--file", file, "-n", "shop", name]);
        assert!(text.contains(said), "{text}");
    }
    let problems = printed(&["problems", "--file", file, "-o", "wide"]);
    for (name, _, said, _) in SAID {
        assert!(problems.contains(said), "{name}: {problems}");
    }
}
