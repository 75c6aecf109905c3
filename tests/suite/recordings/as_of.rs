//! As of when a recording is answered ([§8.7](crate::specification#s8-7)), as a shell sees it. Times are of the real
//! present.

use std::fs;
use std::time::SystemTime;

use crate::support::process::run_with;
use podinit_core::rfc3339;
use podinit_core::timestamp::Timestamp;
use serde_json::{Value, json};

const HOUR: i64 = 3_600;

/// So many seconds ago.
fn ago(seconds: i64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    rfc3339::format(Timestamp::from_seconds(now.as_secs() as i64 - seconds))
}

/// Pods that the scheduler has refused since they were created, so many seconds ago.
fn waiting(pods: usize, seconds: i64) -> Vec<Value> {
    let pod = |number: usize| {
        json!({"kind": "Pod", "apiVersion": "v1",
            "metadata": {"namespace": "shop", "name": format!("web-{number}"), "uid": format!("u{number}"),
                "creationTimestamp": ago(seconds)},
            "spec": {"containers": [{"name": "main", "image": "r.io/web:1"}]},
            "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu.",
                "lastTransitionTime": ago(seconds)}]}})
    };
    (0..pods).map(pod).collect()
}

fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "apiVersion": "v1", "items": items})
}

fn node(heartbeat: i64) -> Value {
    json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "uid": "n", "creationTimestamp": ago(90 * HOUR)},
        "status": {"nodeInfo": {"kubeletVersion": "v1.37.1"}, "conditions": [{"type": "Ready", "status": "True",
            "lastTransitionTime": ago(89 * HOUR), "lastHeartbeatTime": ago(heartbeat)}]}})
}

/// Status, standard output and standard error of a command that reads documents from standard input.
fn run(args: &[&str], documents: &[Value]) -> (i32, String, String) {
    let lines: String = documents.iter().map(|document| format!("{document}\n")).collect();
    let output = run_with(args, lines);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const PROBLEMS: &[&str] = &["problems", "--file", "-"];

#[test]
fn a_list_on_standard_input_is_of_now() {
    let (status, out, error) = run(PROBLEMS, &[list(&waiting(9, HOUR + 30))]);
    assert_eq!(status, 3, "{out}");
    assert!(out.contains("\nAs of 20") && out.contains("9 pods fit on no node"), "{out}");
    assert!(error.contains("If this list is older, no pod waits: say --as-of newest"), "{error}");

    let newest = [PROBLEMS, &["--as-of", "newest"]].concat();
    let (status, out, error) = run(&newest, &[list(&waiting(9, HOUR + 30))]);
    assert_eq!((status, &*error), (0, ""));
    assert!(out.contains("No problem among the pods that are starting up."), "{out}");

    let yesterday = [list(&waiting(9, 25 * HOUR + 30))];
    let (status, _, error) = run(PROBLEMS, &yesterday);
    assert_eq!(status, 0);
    let line = "If this list is of now, 9 pods have waited for 25h: say --as-of now";
    assert!(error.contains(line), "{error}");
}

#[test]
fn heartbeats_of_nodes_tell_when_a_list_was_made() {
    for (heartbeat, status) in [(120, 3), (40 * 60, 3), (HOUR - 10, 0)] {
        let mut items = waiting(9, HOUR + 30);
        items.push(node(heartbeat));
        let (found, out, _) = run(PROBLEMS, &[list(&items)]);
        assert_eq!(found, status, "{heartbeat}: {out}");
    }
    let mut items = waiting(9, HOUR + 30);
    items.push(node(40 * 60));
    let (_, out, error) = run(&["problems", "--file", "-", "-o", "json"], &[list(&items)]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert!(found["time"].as_str() < Some(&*ago(39 * 60)), "{found}");
    assert_eq!(error, "", "the same pods wait");
}

#[test]
fn an_older_document_does_not_put_a_list_into_the_future() {
    let nodes = json!({"kind": "NodeList", "apiVersion": "v1", "observedAt": ago(30 * HOUR), "items": [node(30 * HOUR)]});
    let changed =
        json!({"type": "MODIFIED", "observedAt": ago(29 * HOUR), "object": node(29 * HOUR)});
    for documents in [
        vec![nodes.clone(), list(&waiting(9, HOUR + 30))],
        vec![nodes, changed, list(&waiting(9, HOUR + 30))],
    ] {
        let (status, out, _) = run(PROBLEMS, &documents);
        assert_eq!(status, 3, "{out}");
    }
}

#[test]
fn a_file_is_of_its_newest_time_and_the_line_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pods.json");
    fs::write(&file, list(&waiting(9, HOUR + 30)).to_string()).unwrap();
    let file = file.to_str().unwrap();
    let (status, out, error) = run(&["problems", "--file", file], &[]);
    assert_eq!(status, 0, "{out}");
    let line = "If this list is of now, 9 pods have waited for 1h: say --as-of now";
    assert!(error.contains(line), "{error}");
    let (status, out, error) = run(&["problems", "--file", file, "--as-of", "now"], &[]);
    assert_eq!((status, &*error), (3, ""), "{out}");

    let (_, out, error) = run(&["stuck", "--file", file], &[]);
    assert!(out.contains("\nAs of 20") && error.contains("9 pods have waited"), "{out}{error}");
    let (_, out, error) = run(&["explain", "--file", file, "-n", "shop", "web-1"], &[]);
    assert!(
        out.contains("\nAs of 20") && error.contains("1 pod has waited for 1h"),
        "{out}{error}"
    );
    let (_, out, _) = run(&["explain", "--file", file], &[]);
    assert!(out.contains("\nAs of 20"), "{out}");
}

#[test]
fn an_instant_that_cannot_be_is_a_usage_error() {
    let early = ago(2 * HOUR);
    let early = [PROBLEMS, &["--as-of", &early]].concat();
    let (status, _, error) = run(&early, &[list(&waiting(1, HOUR))]);
    assert!(status == 2 && error.contains("before the newest time of the list"), "{error}");
    let watched = [list(&[]), json!({"type": "ADDED", "object": waiting(1, HOUR)[0]})];
    let (status, _, error) = run(&[PROBLEMS, &["--as-of", "now"]].concat(), &watched);
    assert!(status == 2 && error.contains("--as-of is of a list"), "{error}");
    let (status, _, error) = run(&["problems", "--as-of", "now"], &[]);
    assert!(status == 2 && error.contains("--as-of goes with --file"), "{error}");
    let (status, _, error) = run(&[PROBLEMS, &["--as-of", "soon"]].concat(), &[]);
    assert!(status == 2 && error.contains("newest"), "{error}");
}

#[test]
fn no_answer_is_of_1970() {
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "shop", "name": "web-0", "uid": "u"}});
    for documents in [vec![list(&[])], vec![list(std::slice::from_ref(&pod))]] {
        for args in [
            PROBLEMS,
            &["stuck", "--file", "-", "-o", "json"],
            &["explain", "--file", "-", "-n", "shop", "web-0"],
            &["explain", "--file", "-"],
        ] {
            let (status, out, error) = run(args, &documents);
            assert_eq!((status, &*out), (1, ""), "{args:?}: {error}");
            assert!(error.contains("states no usable time"), "{error}");
        }
        let (status, out, _) = run(&[PROBLEMS, &["--as-of", "now"]].concat(), &documents);
        assert_eq!((status, &*out), (1, ""));
    }
}

#[test]
fn a_watch_without_a_list_begins_with_the_pods_that_exist() {
    let ready = |name: &str, created: i64| {
        let condition = |kind: &str, at: i64| json!({"type": kind, "status": "True", "lastTransitionTime": ago(at)});
        json!({"type": "ADDED", "object": {"kind": "Pod", "apiVersion": "v1",
            "metadata": {"namespace": "shop", "name": name, "uid": name, "creationTimestamp": ago(created)},
            "status": {"phase": "Running", "conditions": [
                condition("PodScheduled", created), condition("ContainersReady", 120), condition("Ready", 120)]}}})
    };
    let documents = [ready("old", 28 * HOUR), ready("new", 130)];
    let (status, out, error) = run(&["report", "-o", "json", "-"], &documents);
    assert_eq!(status, 0, "{error}");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["finished"]["preexisting"], 1, "{found}");
    assert_eq!(found["finished"]["ready"], 1, "{found}");
    let line = "the recording is a watch without a list: 1 of its first 2 pods was there before";
    assert!(error.contains(line), "{error}");
    let (_, _, error) = run(&["report", "-"], &[ready("a", 140), ready("b", 130)]);
    assert_eq!(error, "");
}
