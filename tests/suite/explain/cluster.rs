//! `podinit explain` of a cluster: one list of its pods says what a recording of them says.

use std::process::Output;
use std::time::Duration;

use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::{Value, json};

use crate::explain::recordings::{half_and_half, recording, stuck};
use crate::support::doctor::Kubeconfig;
use crate::support::output::{json_of, one_line};
use crate::support::process::run;

/// The documents, at the time of the simulated cluster.
fn moved(documents: Vec<Value>) -> Vec<Value> {
    let text = Value::from(documents).to_string();
    let text = text.replace("2026-03-01T10:", "2026-01-01T00:");
    serde_json::from_str(&text).unwrap()
}

/// A cluster that shows the last state of these documents, twenty minutes after its beginning.
async fn cluster(documents: &[Value]) -> SimulatedCluster {
    let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
    for document in documents {
        match (&document["kind"], &document["object"]) {
            (Value::String(kind), _) if kind == "Event" => {
                let mut event = document.clone();
                event["apiVersion"] = json!("v1");
                event["involvedObject"]["namespace"] = json!("shop");
                cluster.put_event_json(event).unwrap();
            }
            (_, Value::Object(_)) => {
                let mut pod = document["object"].clone();
                pod["apiVersion"] = json!("v1");
                cluster.put_json(pod).unwrap();
            }
            _ => {}
        }
    }
    cluster.step(Duration::from_secs(20 * 60));
    cluster
}

fn podinit(args: &[&str]) -> Output {
    run(&[&["explain", "--log-level", "error"], args].concat())
}

fn explained(args: &[&str]) -> Value {
    let output = podinit(&[args, &["-o", "json"]].concat());
    json_of(&output, args)
}

fn doubts(explanation: &Value) -> Vec<&str> {
    let doubts = explanation["doubts"].as_array().unwrap().iter();
    doubts.map(|doubt| doubt.as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ready_pod_is_explained_as_its_recording_explains_it() {
    let documents = moved(half_and_half());
    let cluster = cluster(&documents).await;
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let of_cluster = ["--kubeconfig", kubeconfig.path().to_str().unwrap()];
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("recording.json");
    std::fs::write(&file, recording(&documents)).unwrap();
    for target in [&["-n", "shop", "web-1"][..], &["web-1"], &["deploy/web"]] {
        let of_file = ["--file", file.to_str().unwrap()];
        let mut expected = explained(&[&of_file[..], target].concat());
        let listed = explained(&[&of_cluster[..], target].concat());
        assert_eq!(listed["verdict"], "Ready after 42s: half image, half application.");
        assert!(
            matches!(doubts(&listed)[..], [doubt] if doubt.starts_with("one list of the pods"))
        );
        expected["doubts"] = listed["doubts"].clone();
        // What is to be run next has to find the same cluster.
        let next = expected["next"].as_str().unwrap();
        let with = format!("kubectl --kubeconfig {} ", of_cluster[1]);
        expected["next"] = json!(next.replacen("kubectl ", &with, 1));
        // A cluster is as of now.
        assert!(expected.as_object_mut().unwrap().remove("time").is_some());
        // Only a watch shows the waits of a pod that is ready.
        expected["causes"] = listed["causes"].clone();
        assert_eq!(listed["causes"], json!([]));
        // Only a watch shows what it waited for before it was bound.
        let scheduling = &mut expected["rows"][0]["label"];
        assert_eq!(*scheduling, "scheduling");
        *scheduling = "before binding".into();
        // The recording has no nodes.
        expected["node_details"] = listed["node_details"].clone();
        assert_eq!(listed["node_details"]["nodepool"], "pool-a");
        assert_eq!(listed, expected, "{target:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_in_flight_is_explained_with_its_peers() {
    let cluster = cluster(&moved(stuck())).await;
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let of_cluster = ["--kubeconfig", kubeconfig.path().to_str().unwrap()];
    let explained = |args: &[&str]| explained(&[&of_cluster[..], args].concat());
    let explanation = explained(&["-n", "shop", "deployment/web"]);
    assert_eq!(explanation["state"], "in_flight");
    assert_eq!(explanation["workload_pods"], json!({"in_flight": 3, "ready": 1, "other": 0}));
    let explanation = explained(&["-n", "shop", "web-2"]);
    let peers = &explanation["peers"];
    assert_eq!(
        [&peers["stage"], &peers["cause"], &peers["pods"]],
        [&json!("containers"), &json!("image"), &json!(2)]
    );
    let mut examples: Vec<String> = serde_json::from_value(peers["examples"].clone()).unwrap();
    examples.sort();
    assert_eq!(examples, ["shop/web-3", "shop/web-4"]);
    assert_eq!(explanation["fleet"], 1);
    // The cluster's clock, and not that of the machine.
    let seconds = explanation["seconds"].as_f64().unwrap();
    assert!((1_190.0..1_260.0).contains(&seconds), "{seconds}");
    // Selectors choose the pods that it is compared with.
    let alone = explained(&["--field-selector", "metadata.name=web-2", "web-2"]);
    assert_eq!(alone["peers"]["pods"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_right_to_list_events_there_is_a_doubt() {
    let cluster = cluster(&moved(half_and_half())).await;
    let faults = cluster.event_request_faults();
    faults.set_modes(|modes| modes.forbidden = true);
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    let args = ["--kubeconfig", file, "-n", "shop", "web-1"];
    let explanation = explained(&args);
    let doubts = doubts(&explanation);
    assert!(
        matches!(doubts[..], [_, events] if events.contains("Events cannot be listed") && events.contains("403")),
        "{doubts:?}"
    );
    assert_eq!(
        explanation["verdict"],
        "Ready after 42s: half creating containers, half application."
    );
    let output = podinit(&args);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nBut one list of the pods "), "{text}");
    assert!(text.contains("\nBut the Events cannot be listed"), "{text}");
    // Who does not ask for Events misses none.
    let without = explained(&[&args[..], &["--evidence", "none"]].concat());
    assert_eq!(without["doubts"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_listed_is_one_line() {
    let cluster = cluster(&moved(half_and_half())).await;
    let kubeconfig = Kubeconfig::of(&cluster.url().to_string());
    let file = kubeconfig.path().to_str().unwrap();
    for target in [&["-n", "shop", "web-77"][..], &["sts/web"], &["-n", "other", "web-1"]] {
        let line = one_line(&podinit(&[&["--kubeconfig", file], target].concat()));
        assert!(line.contains("check the name"), "{line}");
    }
    cluster.faults().set_modes(|modes| modes.forbidden = true);
    let line = one_line(&podinit(&["--kubeconfig", file, "web-1"]));
    assert!(line.contains("not allowed to list pods"), "{line}");
    let line = one_line(&podinit(&["--kubeconfig", "/nonexistent", "web-1"]));
    assert!(line.contains("cannot be read"), "{line}");
    for args in [
        &["--file", "-", "-l", "app=web", "web-1"][..],
        &["--url", "http://localhost:1", "--field-selector", "a=b", "web-1"],
    ] {
        let output = podinit(args);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("do not go with --file and --url"), "{error}");
    }
}
