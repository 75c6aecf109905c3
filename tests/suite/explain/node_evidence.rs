//! What commands say of pods whose nodes are known, on recordings that are computed by hand.

use serde_json::{Value, json};

use super::recordings::{explained, recording};
use crate::support::process::run_with;

fn at(second: u32) -> String {
    format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn condition(kind: &str, status: &str, since: u32) -> Value {
    json!({"type": kind, "status": status, "lastTransitionTime": at(since)})
}

/// A node of a pool and a zone, created in a second, and Ready since another.
fn node(name: &str, (pool, zone): (&str, &str), created: u32, ready: Option<u32>) -> Value {
    let status = if ready.is_some() { "True" } else { "False" };
    json!({
        "kind": "Node",
        "metadata": {
            "name": name, "uid": format!("uid-{name}"), "creationTimestamp": at(created),
            "resourceVersion": (1_000 + ready.unwrap_or(created)).to_string(),
            "labels": {"karpenter.sh/nodepool": pool, "topology.kubernetes.io/zone": zone},
        },
        "status": {
            "conditions": [condition("Ready", status, ready.unwrap_or(created))],
            "nodeInfo": {"kubeletVersion": "v1.37.1"},
        },
    })
}

fn pod(name: &str, node: Option<&str>, conditions: Vec<Value>, containers: Value) -> Value {
    json!({
        "kind": "Pod",
        "metadata": {"namespace": "shop", "name": name, "uid": name, "creationTimestamp": at(0)},
        "spec": {"nodeName": node, "containers": [{"name": "app", "image": "r.example.com/app:1"}]},
        "status": {
            "phase": "Pending", "startTime": node.map(|_| at(140)),
            "conditions": conditions, "containerStatuses": containers,
        },
    })
}

fn event(kind: &str, object: Value, second: u32) -> Value {
    json!({"type": kind, "object": object, "observedAt": at(second)})
}

/// The kubelet says that the image of `web` was pulled.
fn pulled() -> Value {
    json!({
        "kind": "Event", "metadata": {"namespace": "shop", "name": "web.1", "uid": "event"},
        "involvedObject": {"kind": "Pod", "uid": "web", "fieldPath": "spec.containers{app}"},
        "reportingComponent": "kubelet", "reason": "Pulled", "firstTimestamp": at(153),
        "message": "Successfully pulled image \"r.example.com/app:1\" in 10s (10s including waiting).",
    })
}

/// A pod waits for 140 s until a node comes, and is ready 20 s later.
fn waits_for_a_node() -> String {
    let scheduled = |status: &str, since| {
        let mut condition = condition("PodScheduled", status, since);
        if status == "False" {
            condition["reason"] = json!("Unschedulable");
            condition["message"] = json!("0/9 nodes are available: 9 Insufficient cpu.");
        }
        condition
    };
    let network = || condition("PodReadyToStartContainers", "True", 142);
    let ready = |kind| condition(kind, "True", 160);
    let running = json!([{"name": "app", "started": true, "ready": true, "state": {"running": {"startedAt": at(155)}}}]);
    recording(&[
        json!({"kind": "PodList", "items": [], "observedAt": at(0)}),
        json!({"kind": "NodeList", "items": []}),
        event("ADDED", pod("web", None, vec![scheduled("False", 0)], json!([])), 0),
        event("ADDED", node("new", ("spot", "b"), 38, None), 38),
        event("MODIFIED", node("new", ("spot", "b"), 38, Some(133)), 133),
        event("MODIFIED", pod("web", Some("new"), vec![scheduled("True", 140)], json!([])), 140),
        event("ADDED", pulled(), 155),
        event(
            "MODIFIED",
            pod(
                "web",
                Some("new"),
                vec![
                    scheduled("True", 140),
                    network(),
                    condition("Initialized", "True", 140),
                    ready("ContainersReady"),
                    ready("Ready"),
                ],
                running,
            ),
            160,
        ),
    ])
}

#[test]
fn explain_says_that_a_node_had_to_start() {
    let text = explained(&["web"], &waits_for_a_node());
    let verdict = text.lines().nth(1).unwrap_or_default();
    assert_eq!(
        verdict,
        "Ready after 2m40s: nearly all a node that had to start. Its node: 38s until it existed, 95s until it was \
         ready, 7s until the pod was bound, then 10s until its images were pulled."
    );
    for step in ["node_launch", "node_ready", "node_join"] {
        assert!(text.contains(step), "{text}");
    }
    let without = explained(&["web", "--evidence", "events"], &waits_for_a_node());
    let verdict = without.lines().nth(1).unwrap_or_default();
    assert_eq!(verdict, "Ready after 2m40s: nearly all scheduling.");
}

/// Six pods of a pool, each on a node of its own and of another zone, have no network; ten of another pool start.
fn a_bad_pool() -> String {
    let zones = ["a", "b", "c"];
    let name = |pool: &str, number: usize| format!("{pool}-{number}");
    let mut nodes = Vec::new();
    let mut documents = vec![json!({"kind": "PodList", "items": [], "observedAt": at(0)})];
    let mut later = Vec::new();
    for number in 0..10 {
        let pools = [("good", 36), ("bad", 37)].into_iter();
        for (pool, minor) in pools.filter(|(pool, _)| *pool == "good" || number < 6) {
            let name = name(pool, number);
            let mut node = node(&name, (pool, zones[number % 3]), 0, Some(0));
            node["status"]["nodeInfo"]["kubeletVersion"] = json!(format!("v1.{minor}.0"));
            nodes.push(node);
            let scheduled = || condition("PodScheduled", "True", 1);
            let first = pod(&name, Some(&name), vec![scheduled()], json!([]));
            documents.push(event("ADDED", first, 1));
            if pool == "good" {
                let conditions =
                    ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
                let holding = conditions.map(|kind| condition(kind, "True", 5));
                let all = [vec![scheduled()], holding.to_vec()].concat();
                later.push(event("MODIFIED", pod(&name, Some(&name), all, json!([])), 5));
            } else {
                let failed = json!({
                    "kind": "Event", "reason": "FailedCreatePodSandBox", "type": "Warning", "count": 1,
                    "metadata": {"namespace": "shop", "name": format!("{name}.1"), "uid": format!("e-{name}")},
                    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name, "uid": name},
                    "reportingComponent": "kubelet", "lastTimestamp": at(20),
                    "message": "Failed to create pod sandbox: plugin type=\"x\" failed: no route to host",
                });
                later.push(event("ADDED", failed, 20));
            }
        }
    }
    documents.insert(1, json!({"kind": "NodeList", "items": nodes}));
    documents.extend(later);
    documents.push(json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "9000"}}, "observedAt": at(90)}));
    recording(&documents)
}

#[test]
fn a_problem_names_the_pool_of_its_nodes() {
    let problems = |evidence| {
        let arguments = ["problems", "--file", "-", "-o", "json", "--evidence", evidence];
        let output = run_with(&arguments, a_bad_pool());
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let problems: Value = serde_json::from_slice(&output.stdout).unwrap();
        problems["problems"][0].clone()
    };
    let problem = problems("events,nodes");
    let named = (problem["dimension"].as_str(), problem["value"].as_str());
    assert_eq!(named, (Some("nodepool"), Some("bad")), "{problem}");
    let sentence = problem["sentence"].as_str().unwrap();
    assert!(
        sentence
            .starts_with("6 pods in node pool bad cannot get a network: no route to host. Since"),
        "{sentence}"
    );
    assert_ne!(problems("events")["dimension"], json!("nodepool"));
}
