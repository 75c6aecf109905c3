//! Pods by themselves ([§8.4](crate::specification#s8-4)), as `jq '.items[]'` and `kubectl get pods -w -o json` write
//! them: every command reads them as what they are.

use std::path::Path;

use crate::support::process::run_with;
use serde_json::{Value, json};

fn at(second: u32) -> String {
    format!("2026-03-01T10:{:02}:{:02}Z", second / 60, second % 60)
}

/// A pod that was created at this second; its kubelet started it a second later.
fn pod(name: &str, created: u32, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": name, "uid": format!("uid-{name}"), "resourceVersion": "1",
            "creationTimestamp": at(created),
        },
        "spec": {"nodeName": node, "containers": [{"name": "app", "image": "app"}]},
        "status": {
            "phase": "Pending", "startTime": at(created + 1),
            "containerStatuses": [{"name": "app", "state": {"waiting": {"reason": "ContainerCreating"}}}],
            "conditions": [
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(created)},
                {"type": "Ready", "status": "False", "lastTransitionTime": at(created + 1)},
            ],
        },
    })
}

/// The same pod, ready at this second.
fn ready(name: &str, created: u32, second: u32) -> Value {
    let mut pod = pod(name, created, "node-1");
    let conditions =
        ["PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"];
    let times = [created, created + 1, created + 1, second, second];
    let all = conditions.into_iter().zip(times).map(
        |(kind, second)| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)}),
    );
    pod["metadata"]["resourceVersion"] = json!("9");
    pod["status"]["phase"] = json!("Running");
    pod["status"]["conditions"] = all.collect();
    let running = json!({"running": {"startedAt": at(created + 2)}});
    pod["status"]["containerStatuses"][0]["state"] = running;
    pod
}

fn event(pod: &str) -> Value {
    json!({
        "kind": "Event", "apiVersion": "v1", "metadata": {"name": "x.1", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "uid": format!("uid-{pod}"), "fieldPath": "spec.containers{app}"},
        "reportingComponent": "kubelet", "reason": "Failed",
        "message": "Failed to pull image \"app\": toomanyrequests", "firstTimestamp": at(62),
    })
}

/// What a list of a cluster has: pods that are ready, pods that fail and their Events.
fn items() -> Vec<Value> {
    let mut items = vec![ready("a", 0, 10), ready("b", 5, 25)];
    for name in ["c", "d", "e", "f"] {
        let mut failing = pod(name, 60, "node-2");
        let state =
            json!({"waiting": {"reason": "ImagePullBackOff", "message": "toomanyrequests"}});
        failing["status"]["containerStatuses"][0]["state"] = state;
        items.push(failing);
        items.push(event(name));
    }
    items.push(ready("late", 900, 905));
    items
}

/// What a command says of a recording on standard input.
fn said(args: &[&str], input: &str) -> String {
    let output = run_with(args, input);
    let error = String::from_utf8(output.stderr).unwrap();
    let is_told = |line: &str| line.contains("If this list is of now");
    assert!(error.lines().all(is_told), "{args:?}: {error}");
    let status = output.status.code();
    format!("{status:?}\n{}", String::from_utf8(output.stdout).unwrap())
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

/// Every command that reads recordings, in several formats.
const COMMANDS: [&[&str]; 12] = [
    &["replay", "-"],
    &["replay", "--evidence", "events", "--backfill", "-o", "json", "-"],
    &["replay", "--same-moment", "--timestamps", "fused", "-"],
    &["replay", "--shard", "1/2", "-"],
    &["replay", "--until", "2026-03-01T12:00:00Z", "-"],
    &["report", "-"],
    &["report", "-o", "json", "-"],
    &["report", "--same-moment", "-o", "csv", "-"],
    &["problems", "-o", "json", "-f", "-"],
    &["problems", "--same-moment", "-f", "-"],
    &["explain", "-n", "shop", "-f", "-"],
    &["explain", "-n", "shop", "c", "-o", "json", "-f", "-"],
];

#[test]
fn a_list_taken_apart_is_the_list() {
    let items = items();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let pretty: Vec<String> =
        items.iter().map(|item| serde_json::to_string_pretty(item).unwrap()).collect();
    let yaml = items.iter().map(|item| format!("---\n{item}\n"));
    // `kubectl get events,pods` has the Events first.
    let (events, pods): (Vec<Value>, Vec<Value>) =
        items.iter().cloned().partition(|item| item["kind"] == "Event");
    let taken_apart = [
        lines(&items),
        pretty.join("\n"),
        yaml.collect(),
        lines(&events) + &lines(&pods),
        lines(&pods) + &lines(&events),
    ];
    for command in COMMANDS {
        let expected = said(command, &list);
        for text in &taken_apart {
            assert_eq!(said(command, text), expected, "{command:?}");
        }
    }
    // It is a list and no gap: nothing vanishes, and problems are found.
    let found = said(&["replay", "-"], &lines(&items));
    assert!(found.contains("podinit_pods_discovered_total 7\n"), "{found}");
    assert!(found.contains("podinit_pods_finished_total{outcome=\"preexisting\"} 3\n"), "{found}");
    let found = said(&["problems", "-f", "-"], &lines(&items));
    assert!(found.starts_with("Some(3)") && found.contains("4 pods"), "{found}");
}

#[test]
fn files_of_bare_pods_are_one_list_too() {
    let (items, directory) = (items(), tempfile::tempdir().unwrap());
    let expected = said(&["report", "-"], &lines(&items));
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    for cut in [1, 4, items.len() - 1] {
        let (first, second) = items.split_at(cut);
        let files = [(path("first.json"), first), (path("second.json"), second)];
        for (file, part) in &files {
            std::fs::write(Path::new(file), lines(part)).unwrap();
        }
        let args = ["report", &files[0].0, &files[1].0];
        assert_eq!(said(&args, ""), expected, "cut at {cut}");
    }
}

/// `kubectl get pods -w -o json`: what there is, and then each change, without its type.
#[test]
fn changes_of_bare_pods_are_events_and_nothing_vanishes() {
    let first = [pod("a", 0, "node-1"), pod("b", 5, "node-1")];
    let changes =
        [ready("a", 0, 10), pod("c", 20, "node-1"), ready("b", 5, 25), ready("c", 20, 29)];
    let list = json!({"kind": "PodList", "items": first});
    let modified: Vec<Value> =
        changes.iter().map(|pod| json!({"type": "MODIFIED", "object": pod})).collect();
    let expected_of = |command: &[&str]| said(command, &(format!("{list}\n") + &lines(&modified)));
    let bare = lines(&first) + &lines(&changes);
    let behind = format!("{list}\n") + &lines(&changes);
    for command in COMMANDS {
        if command.contains(&"c") {
            continue;
        }
        let expected = expected_of(command);
        assert_eq!(said(command, &bare), expected, "{command:?}");
        assert_eq!(said(command, &behind), expected, "{command:?}");
    }
    let found = said(&["report", "-"], &bare);
    assert!(found.contains("ready 3") && !found.contains("vanished"), "{found}");
}

/// With `observedAt` on the pods, deadlines and arrivals are those of events.
#[test]
fn bare_pods_may_state_when_they_were_observed() {
    let observed = |second: u32, mut document: Value| {
        document["observedAt"] =
            json!(format!("2026-03-01T10:{:02}:{:02}.250Z", second / 60, second % 60));
        document
    };
    let first = [pod("a", 0, "node-1"), pod("b", 5, "node-1")];
    let change = ready("a", 0, 10);
    let listed = observed(6, json!({"kind": "PodList", "items": first}));
    let modified = observed(10, json!({"type": "MODIFIED", "object": change}));
    let bare = first.map(|pod| observed(6, pod));
    for mode in ["api", "fused"] {
        let args = ["replay", "--timestamps", mode, "-"];
        let expected = said(&args, &lines(&[listed.clone(), modified.clone()]));
        let found = said(&args, &(lines(&bare) + &lines(&[observed(10, change.clone())])));
        assert_eq!(found, expected, "{mode}");
    }
    // A later pod is not read, and those before are the list.
    let args = ["replay", "--until", "2026-03-01T10:00:30Z", "-"];
    let bare = lines(&bare) + &lines(&[observed(40, pod("c", 39, "node-1"))]);
    assert!(said(&args, &bare).contains("podinit_pods_discovered_total 2\n"));
}
