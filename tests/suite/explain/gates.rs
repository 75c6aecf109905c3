//! What is said of a pod that a gate holds, on a recording that is computed by hand.
//! `INSTA_UPDATE=always cargo test --test suite explain::gates::` renews the snapshot.

use serde_json::{Value, json};

use crate::explain::recordings::explained;
use crate::support::process::run_with;

/// A pod with three readiness gates, whose containers are ready at second 20. The first gate is late, the second was
/// passed before, and the third at second 45.
fn recording() -> String {
    let at = |second: u32| format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60);
    let yes = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
    let lb = "target-health.elbv2.k8s.aws/k8s-shop-web";
    let mut conditions = vec![
        yes("PodScheduled", 1),
        yes("PodReadyToStartContainers", 3),
        yes("Initialized", 1),
        yes("ContainersReady", 20),
        yes("example.com/Warm", 12),
        yes("example.com/ModelLoaded", 16),
        json!({
            "type": lb, "status": "False", "lastTransitionTime": at(21),
            "reason": "Elb.RegistrationInProgress", "message": "Target registration is in progress",
        }),
        json!({
            "type": "Ready", "status": "False", "lastTransitionTime": at(1), "reason": "ReadinessGatesNotReady",
            "message": format!("the status of pod readiness gate \"{lb}\" is not \"True\", but False"),
        }),
    ];
    let pod = |version: &str, conditions: &[Value]| {
        json!({
            "kind": "Pod",
            "metadata": {
                "namespace": "shop", "name": "web-1", "uid": "web-1", "creationTimestamp": at(0),
                "resourceVersion": version,
            },
            "spec": {
                "nodeName": "node-a0",
                "containers": [{"name": "app"}],
                "readinessGates": [
                    {"conditionType": lb},
                    {"conditionType": "example.com/Warm"},
                    {"conditionType": "cloud.example.com/neg-ready"},
                ],
            },
            "status": {
                "phase": "Running", "startTime": at(1), "conditions": conditions,
                "containerStatuses": [{
                    "name": "app", "ready": true, "started": true,
                    "state": {"running": {"startedAt": at(5)}},
                }],
            },
        })
    };
    let first = pod("5", &conditions);
    conditions.push(yes("cloud.example.com/neg-ready", 45));
    let second = pod("6", &conditions);
    let bookmark = json!({"kind": "Pod", "metadata": {"resourceVersion": "9"}});
    let list = json!({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": []});
    let documents = [
        json!({"observedAt": "2026-03-01T09:59:59Z", "type": "LIST", "object": list}),
        json!({"observedAt": at(20), "type": "ADDED", "object": first}),
        json!({"observedAt": at(45), "type": "MODIFIED", "object": second}),
        json!({"observedAt": at(600), "type": "BOOKMARK", "object": bookmark}),
    ];
    let lines = documents.iter().skip(1).map(Value::to_string);
    let mut list = documents[0]["object"].clone();
    list["observedAt"] = documents[0]["observedAt"].clone();
    [list.to_string()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_pod_with_three_readiness_gates_one_of_which_is_late() {
    let milestone = "loaded=condition:example.com/ModelLoaded";
    let text = explained(&["-n", "shop", "web-1", "--milestone", milestone], &recording());
    insta::assert_snapshot!(text);
}

#[test]
fn the_problem_and_the_stuck_pod_name_the_gate() {
    let problems = run_with(&["problems", "--file", "-"], recording());
    let said = String::from_utf8(problems.stdout).unwrap();
    assert!(
        said.starts_with(
            "1 pod waits for the readiness gate target-health.elbv2.k8s.aws/k8s-shop-web: Target \
             registration is in progress. Since 10:00, 1 node, 1 namespace."
        ),
        "{said}"
    );
    let late = recording()
        + "\n{\"observedAt\":\"2026-03-01T12:10:00Z\",\"type\":\"BOOKMARK\",\"object\":\
                              {\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"10\"}}}";
    let stuck = run_with(&["stuck", "--file", "-", "-o", "json"], &late);
    let stuck: Value = serde_json::from_slice(&stuck.stdout).unwrap();
    let gates = &stuck["pods"][0]["gates"];
    assert_eq!(gates.as_array().map(Vec::len), Some(1), "{stuck}");
    assert_eq!(gates[0]["gate"], "target-health.elbv2.k8s.aws/k8s-shop-web");
    assert_eq!(gates[0]["since"], "2026-03-01T10:00:20Z");
}
