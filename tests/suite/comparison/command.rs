//! `podinit report --baseline` as a process: formats, statuses and reasons.

use std::process::Output;

use crate::support::process::podinit;
use serde_json::{Value, json};

/// A list of so many pods of nodes `a` and `b`, a burst of so many each minute. `network` is how many seconds the
/// network of a pod takes.
pub fn pods(name: &str, count: i64, burst: i64, network: impl Fn(i64) -> i64) -> Value {
    let at =
        |second: i64| jiff::Timestamp::from_second(1_772_359_200 + second).unwrap().to_string();
    let pods: Vec<_> = (0..count)
        .map(|number| {
            let created = 60 * (number / burst) + number % 7;
            let network = network(number);
            let ready = created + network + 4;
            let condition = |kind: &str, second| json!({"type": kind, "status": "True", "lastTransitionTime": at(second)});
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("web-{number}"), "namespace": "shop", "uid": format!("{name}-{number}"),
                             "resourceVersion": "1", "creationTimestamp": at(created)},
                "spec": {"nodeName": if number % 2 == 0 { "b" } else { "a" }, "containers": [{"name": "c", "image": format!("web:{name}")}]},
                "status": {"startTime": at(created), "conditions": [
                    condition("PodScheduled", created),
                    condition("PodReadyToStartContainers", created + network),
                    condition("Initialized", created),
                    condition("ContainersReady", ready),
                    condition("Ready", ready)]},
            })
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "items": pods})
}

/// 120 pods, whose network takes so many seconds on node `b`.
pub fn on_node_b(name: &str, network: i64) -> Value {
    pods(name, 120, 3, |number| if number % 2 == 0 { network } else { 3 })
}

/// 240 pods on 8 nodes in two pools, whose network takes so many seconds on those of pool `b`.
pub fn on_pool_b(name: &str, network: i64) -> Value {
    let mut list = pods(name, 240, 6, |number| if number % 2 == 1 { network } else { 3 });
    for (number, pod) in list["items"].as_array_mut().unwrap().iter_mut().enumerate() {
        pod["spec"]["nodeName"] = format!("node-{}", number % 8).into();
    }
    list
}

/// The nodes of [`on_pool_b`], of which those of pool `b` have kubelets of this version.
pub fn nodes(kubelet: &str) -> Value {
    let node = |number: usize| {
        let (pool, version) = [("a", "v1.36.1"), ("b", kubelet)][number % 2];
        let zone = ["z1", "z2"][number / 2 % 2];
        let created = "2026-02-01T00:00:00Z";
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("node-{number}"), "uid": format!("node-{number}"), "resourceVersion": "1",
                         "creationTimestamp": created,
                         "labels": {"karpenter.sh/nodepool": pool, "team": format!("team-{pool}"),
                                    "topology.kubernetes.io/zone": zone}},
            "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": created}],
                       "nodeInfo": {"kubeletVersion": version}},
        })
    };
    json!({"apiVersion": "v1", "kind": "NodeList", "items": (0..8).map(node).collect::<Vec<_>>()})
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

pub fn report(before: i64, after: i64, flags: &[&str]) -> Output {
    let (before, after) = (on_node_b("before", before), on_node_b("after", after));
    report_on([before.to_string(), after.to_string()], flags)
}

pub fn report_on([before, after]: [String; 2], flags: &[&str]) -> Output {
    let (before, after) = (file(&before), file(&after));
    let args = ["report", "--baseline"];
    podinit(args).args([before.path(), after.path()]).args(flags).output().unwrap()
}

#[test]
fn the_first_line_names_stage_size_and_node() {
    for format in ["text", "markdown", "html", "json"] {
        let output = report(3, 9, &["-o", format]);
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("It is the stage network: +2.84s of +2.84s on average"), "{text}");
        assert!(text.contains(", on node b only (+6s there)."), "{text}");
    }
    let output = report(3, 3, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("No difference: "), "{text}");
}

#[test]
fn the_pool_is_named_where_the_recordings_hold_nodes() {
    let lists = [on_pool_b("before", 3), on_pool_b("after", 9)];
    let alone = lists.each_ref().map(Value::to_string);
    let [before, after] = &alone;
    let with_nodes =
        [format!("{}\n{before}", nodes("v1.36.1")), format!("{}\n{after}", nodes("v1.37.0"))];
    let said = |recordings: &[String; 2], flags: &[&str]| {
        let output = report_on(recordings.clone(), flags);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for (format, versions) in [
        ("text", "v1.36.1 8 → 4, v1.37.0 0 → 4"),
        ("markdown", "`v1.36.1` 8 → 4, `v1.37.0` 0 → 4"),
        ("html", "v1.36.1 8 → 4, v1.37.0 0 → 4"),
    ] {
        let text = said(&with_nodes, &["-o", format]);
        assert!(text.contains(", on nodes of pool b only (+6s there)."), "{text}");
        assert!(text.contains("Nodes by version of the kubelet"), "{text}");
        assert!(text.contains(versions), "{text}");
    }
    let found: Value = serde_json::from_str(&said(&with_nodes, &["-o", "json"])).unwrap();
    let only = &found["breakdown"]["only"];
    assert_eq!((&only["dimension"], &only["values"]), (&json!("nodepool"), &json!(["b"])));
    assert_eq!(
        found["changes"]["kubelet_versions"],
        json!([{"name": "v1.36.1", "before": 8, "after": 4}, {"name": "v1.37.0", "before": 0, "after": 4}])
    );
    let by_team = said(&with_nodes, &["--node-pool-label", "team"]);
    assert!(by_team.contains(", on nodes of pool team-b only (+6s there)."), "{by_team}");
    // Without nodes the nodes are named, which are few.
    for format in ["text", "markdown", "json", "html"] {
        let text = said(&alone, &["-o", format]);
        assert!(text.contains(", on nodes node-"), "{text}");
        for unknown in ["pool", "zone", "kubelet"] {
            assert!(!text.contains(unknown), "{unknown}: {text}");
        }
        let unread = said(&with_nodes, &["-o", format, "--evidence", "events"]);
        assert_eq!(unread, text);
    }
}

/// Each of these controllers has another name after a release, or with each run.
#[test]
fn what_was_made_for_a_version_or_a_run_is_the_same_workload_on_both_sides() {
    type Owner = fn(&str, usize) -> (&'static str, String);
    let owners: [(&str, Owner); 5] = [
        ("Rollout/web", |side, _| ("ReplicaSet", format!("web-{side}"))),
        ("CronJob/sync", |side, number| {
            let first = if side == "before" { 29_919_480 } else { 29_929_480 };
            ("Job", format!("sync-{}", first + number))
        }),
        ("CronWorkflow/nightly", |side, number| {
            let first = if side == "before" { 1_795_168_800 } else { 1_795_255_200 };
            ("Workflow", format!("nightly-{}", first + 60 * number))
        }),
        ("TaskRun/build-run-test", |side, number| {
            let hash =
                ["x7k2p", "b9vrs", "24578", "hjklm"][2 * usize::from(side == "after") + number % 2];
            ("TaskRun", format!("build-run-{hash}-test"))
        }),
        ("Workflow/hello", |side, number| {
            let hash =
                ["xr5lw", "bcdfg", "zzzz9", "7w8v9"][2 * usize::from(side == "after") + number % 2];
            ("Workflow", format!("hello-{hash}"))
        }),
    ];
    for (workload, owner) in owners {
        let recording = |side: &str, network| {
            let mut list = on_node_b(side, network);
            for (number, pod) in list["items"].as_array_mut().unwrap().iter_mut().enumerate() {
                let (kind, name) = owner(side, number);
                pod["metadata"]["ownerReferences"] =
                    json!([{"kind": kind, "name": name, "controller": true}]);
                pod["metadata"]["labels"] =
                    json!({"app": "web", "rollouts-pod-template-hash": side});
                pod["spec"]["nodeName"] = "a".into();
            }
            list.to_string()
        };
        let output = report_on([recording("before", 3), recording("after", 9)], &["-o", "json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["mix"]["before"], json!(1.0), "{workload}: {}", found["mix"]);
        assert_eq!(found["mix"]["after"], json!(1.0), "{workload}");
        let answer = found["answer"].to_string();
        assert!(answer.contains("+6s"), "{workload}: {answer}");
    }
}

/// Kubelets up to 1.35 set the network condition only once images are pulled and a container has started.
#[test]
fn a_kubelet_that_measures_otherwise_is_no_faster_network_without_a_caution() {
    let with_start = |name, network: i64| {
        let mut list = pods(name, 60, 3, |_| network);
        for pod in list["items"].as_array_mut().unwrap() {
            let created = pod["metadata"]["creationTimestamp"].as_str().unwrap();
            let created: jiff::Timestamp = created.parse().unwrap();
            let started = created + jiff::SignedDuration::from_secs(12);
            pod["status"]["containerStatuses"] =
                json!([{"name": "c", "state": {"running": {"startedAt": started.to_string()}}}]);
        }
        list.to_string()
    };
    let (late, exact, slower) = (with_start("v1", 12), with_start("v2", 3), with_start("v3", 7));
    for (format, sides, is_said) in [
        ("text", [&late, &exact], true),
        ("markdown", [&late, &exact], true),
        ("html", [&late, &exact], true),
        ("json", [&late, &exact], true),
        ("json", [&exact, &slower], false),
        ("json", [&late, &late], false),
    ] {
        let output = report_on(sides.map(Clone::clone), &["-o", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        let caution = "Caution: the network times of 100 % of the pods before and 0 % of those after may include image \
                       pulls.";
        assert_eq!(text.contains(caution), is_said, "{text}");
        assert_eq!(text.contains("aution"), is_said, "{text}");
    }
}

/// A webhook adds a sidecar or an init container, and pods get another scheduler: workloads are the same.
#[test]
fn what_a_webhook_added_is_told_of_workloads_that_stay_the_same() {
    let recording = |name: &str, network: i64, change: fn(&mut Value)| {
        let mut list = on_node_b(name, network);
        for pod in list["items"].as_array_mut().unwrap() {
            pod["metadata"]["ownerReferences"] =
                json!([{"kind": "StatefulSet", "name": "web", "controller": true}]);
            pod["spec"]["schedulerName"] = "default-scheduler".into();
            change(&mut pod["spec"]);
            if !pod["spec"]["initContainers"].is_null() {
                let network = pod["status"]["conditions"][1]["lastTransitionTime"].clone();
                pod["status"]["conditions"][2]["lastTransitionTime"] = network;
            }
        }
        list.to_string()
    };
    let before = recording("v1", 3, |_| {});
    let proxy = |spec: &mut Value| {
        let proxy = json!({"name": "istio-proxy", "image": "istio/proxyv2"});
        spec["containers"].as_array_mut().unwrap().push(proxy);
    };
    let init = |spec: &mut Value| {
        spec["initContainers"] = json!([{"name": "vault-agent-init", "image": "vault"}]);
    };
    let sidecar = |spec: &mut Value| {
        spec["initContainers"] =
            json!([{"name": "istio-proxy", "image": "istio/proxyv2", "restartPolicy": "Always"}]);
    };
    let scheduler = |spec: &mut Value| spec["schedulerName"] = "volcano".into();
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 4] = [
        (proxy, "a container more: istio-proxy"),
        (init, "an init container more: vault-agent-init"),
        (sidecar, "a sidecar more: istio-proxy"),
        (scheduler, "another scheduler: volcano, before default-scheduler"),
    ];
    for (change, what) in changes {
        let sides = [before.clone(), recording("v2", 9, change)];
        let output = report_on(sides, &["-o", "json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let answer = found["answer"]["text"].as_str().unwrap();
        assert!(answer.ends_with(&format!(" shop/StatefulSet/web has {what}.")), "{answer}");
        assert!(
            answer.contains("It is the stage network: +2.84s of +2.84s on average"),
            "{answer}"
        );
        assert_eq!((&found["mix"]["before"], &found["mix"]["after"]), (&json!(1.0), &json!(1.0)));
        assert_eq!(found["workload_changes"]["count"], 1);
    }
}

#[test]
fn a_broken_rule_is_the_status_and_a_line() {
    let rules = ["--fail-on", "network:p90>+20%", "--fail-on", "containers:p50>+1s"];
    let output = report(3, 9, &rules);
    assert_eq!(output.status.code(), Some(3));
    let reasons = String::from_utf8(output.stderr).unwrap();
    assert_eq!(reasons.lines().count(), 1, "{reasons}");
    assert!(reasons.contains("network:p90>+20%: 3s before, 9s after (+6s)"), "{reasons}");
    assert_eq!(report(3, 3, &rules).status.code(), Some(0));
    let unknown = ["--fail-on", "init:p50>+1s"];
    assert_eq!(report(3, 3, &unknown).status.code(), Some(0));
    assert_eq!(report(3, 3, &[unknown[0], unknown[1], "--strict"]).status.code(), Some(4));
}

/// A list of which a quarter of the pods is rejected by its node.
pub fn with_rejected(name: &str) -> Value {
    let mut list = on_node_b(name, 3);
    for pod in list["items"].as_array_mut().unwrap().iter_mut().step_by(4) {
        let started = pod["status"]["startTime"].clone();
        pod["status"] =
            json!({"phase": "Failed", "reason": "UnexpectedAdmissionError", "startTime": started});
    }
    list
}

#[test]
fn more_pods_that_do_not_start_are_the_first_sentence_and_the_status() {
    let (before, after) = (on_node_b("before", 3), with_rejected("after"));
    let sides = [before.to_string(), after.to_string()];
    let first = "More pods do not start: 0 of 120 → 30 of 120 (+25 pp, ";
    for format in ["text", "markdown", "html", "json"] {
        let output = report_on(sides.clone(), &["-o", format]);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(first), "{text}");
        assert!(text.contains("; 30 of these were rejected by their nodes, before 0."), "{text}");
        let reason = String::from_utf8(output.stderr).unwrap();
        assert!(reason.starts_with(&format!("podinit: {first}")), "{reason}");
    }
    let status = |rule| report_on(sides.clone(), &["--fail-on", rule]).status.code();
    assert_eq!([status("not_started>+5%"), status("not_started>+30%")], [Some(3), Some(0)]);
    assert_eq!(status("network:p99>+20%"), Some(3));
    let better = [after.to_string(), before.to_string()];
    let output = report_on(better, &["--fail-on", "not_started>+5%", "--strict"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\nFewer pods do not start: 30 of 120 → 0 of 120 ("), "{text}");
}

/// Nobody saw what a pod waited for that had ended when it was first seen.
#[test]
fn of_pods_that_were_first_seen_ended_no_cause_is_told() {
    let before = on_node_b("before", 3);
    let mut after = on_node_b("after", 3);
    for pod in after["items"].as_array_mut().unwrap().iter_mut().step_by(4) {
        let started = pod["status"]["startTime"].clone();
        let ended = json!({"exitCode": 1, "startedAt": started, "finishedAt": started});
        let bound =
            json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": started}]);
        pod["status"] = json!({
            "phase": "Failed", "startTime": started, "conditions": bound,
            "containerStatuses": [{"name": "c", "state": {"terminated": ended}}],
        });
    }
    for format in ["text", "json"] {
        let output = report_on([before.to_string(), after.to_string()], &["-o", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("; 30 of these failed, before 0."), "{text}");
        assert!(!text.contains("queue"), "{text}");
    }
}

#[test]
fn csv_and_trace_show_no_comparison() {
    for format in ["csv", "trace"] {
        assert_eq!(report(3, 3, &["-o", format]).status.code(), Some(2));
    }
}
