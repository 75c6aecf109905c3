//! `podinit report` says how much of all waiting new nodes and pulled images were ([§14.3](crate::specification#s14-3),
//! [§14.4](crate::specification#s14-4)).

use serde_json::{Value, json};

use crate::explain::recordings::recording;
use crate::support::process::run_with;

fn at(second: i64) -> String {
    let time = jiff::Timestamp::from_second(1_772_359_200 + second).unwrap();
    time.to_string()
}

fn node(name: &str, created: i64) -> Value {
    json!({
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "creationTimestamp": at(created),
                     "labels": {"karpenter.sh/nodepool": "general", "topology.kubernetes.io/zone": "z1"}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(created + 1)}],
                   "nodeInfo": {"kubeletVersion": "v1.36.1"}},
    })
}

/// What a watch shows of a pod that is ready after so many seconds. An Event says how its image came to the node, unless
/// none was seen.
fn startup(name: &str, is_new: bool, pulled: Option<bool>, seconds: i64) -> Vec<Value> {
    let own = format!("{name}-node");
    let node_name = if is_new { own.as_str() } else { "old" };
    let pod = |conditions: &[(&str, i64)], status: Value| {
        let conditions: Vec<_> = conditions
            .iter()
            .map(|(kind, second)| json!({"type": kind, "status": "True", "lastTransitionTime": at(*second)}))
            .collect();
        json!({
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": at(0)},
            "spec": {"nodeName": if conditions.is_empty() { "" } else { node_name },
                     "containers": [{"name": "app", "image": "app:1"}]},
            "status": {"startTime": at(3), "conditions": conditions,
                       "containerStatuses": [{"name": "app", "state": status}]},
        })
    };
    let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
    let bound = [("PodScheduled", 3)];
    let ready = [
        ("PodScheduled", 3),
        ("PodReadyToStartContainers", 3),
        ("Initialized", 3),
        ("ContainersReady", seconds),
        ("Ready", seconds),
    ];
    let message = |pulled| match pulled {
        true => {
            "Successfully pulled image \"app:1\" in 1s (1s including waiting). Image size: 1000 bytes."
        }
        false => "Container image \"app:1\" already present on machine",
    };
    let event = |pulled| {
        json!({
            "kind": "Event", "metadata": {"name": format!("{name}.1"), "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "uid": name, "fieldPath": "spec.containers{app}"},
            "reportingComponent": "kubelet", "reason": "Pulled", "firstTimestamp": at(4), "message": message(pulled),
        })
    };
    let mut documents = vec![json!({"type": "ADDED", "object": pod(&[], waiting.clone())})];
    if is_new {
        documents.push(json!({"type": "ADDED", "object": node(node_name, 1)}));
    }
    documents.push(json!({"type": "MODIFIED", "object": pod(&bound, waiting)}));
    documents.extend(pulled.map(event));
    let running = json!({"running": {"startedAt": at(4)}});
    documents.push(json!({"type": "MODIFIED", "object": pod(&ready, running)}));
    documents
}

/// Startups of each kind, 200 s of waiting in all.
pub fn documents() -> Vec<Value> {
    let startups = [
        startup("warm-1", false, Some(false), 4),
        startup("warm-2", false, Some(false), 5),
        startup("warm-3", false, Some(false), 5),
        startup("warm-4", false, Some(false), 6),
        startup("pulled-1", false, Some(true), 20),
        startup("pulled-2", false, Some(true), 30),
        startup("new-1", true, Some(true), 100),
        startup("new-2", true, None, 20),
        startup("unknown-1", false, None, 10),
    ];
    let lists = [
        json!({"kind": "NodeList", "items": [node("old", -1_000)]}),
        json!({"kind": "PodList", "items": []}),
    ];
    lists.into_iter().chain(startups.into_iter().flatten()).collect()
}

fn report(documents: &[Value], args: &[&str]) -> String {
    let output = run_with(&[&["report"], args, &["-"]].concat(), recording(documents));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

const TITLE: &str = "New capacity and cold images";

/// From the title of the section to the next one.
fn section(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains(TITLE));
    let lines = lines.take_while(|line| !line.contains("What waiting costs"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn warm_and_cold_startups_as_text() {
    let documents = documents();
    let both = section(&report(&documents, &[]));
    let one = |source| section(&report(&documents, &["--evidence", source]));
    insta::assert_snapshot!(both + &one("nodes") + &one("events"));
}

#[test]
fn warm_and_cold_startups_for_a_wiki() {
    insta::assert_snapshot!(section(&report(&documents(), &["-o", "markdown"])));
}

#[test]
fn warm_and_cold_startups_for_programs() {
    let found: Value = serde_json::from_str(&report(&documents(), &["-o", "json"])).unwrap();
    let rows = found["startups"].as_array().unwrap();
    let row = |startups: &str, capacity: Value, images: Value| {
        let is_it = |row: &&Value| {
            row["startups"] == startups && row["capacity"] == capacity && row["images"] == images
        };
        rows.iter().find(is_it).unwrap()
    };
    let figures =
        |row: &Value| ["count", "p50", "p90", "waited"].map(|key| row[key].as_f64().unwrap());
    assert_eq!(rows.len(), 8);
    let warm = row("warm", Value::Null, Value::Null);
    assert_eq!(figures(warm), [4.0, 5.0, 6.0, 20.0]);
    assert_eq!((&warm["share_of_waiting"], &warm["p99"]), (&json!(0.1), &Value::Null));
    let cold = row("cold", Value::Null, Value::Null);
    assert_eq!(figures(cold), [4.0, 20.0, 100.0, 170.0]);
    assert_eq!(cold["share_of_waiting"], 0.85);
    assert_eq!(figures(row("cold", json!("existing"), json!("pulled"))), [2.0, 20.0, 30.0, 50.0]);
    assert_eq!(
        figures(row("unknown", json!("existing"), json!("unknown"))),
        [1.0, 10.0, 10.0, 10.0]
    );
}

#[test]
fn the_page_has_a_finding_and_a_table() {
    let page = report(&documents(), &["-o", "html"]);
    let sentence = "4 of 9 startups were cold, with a new node or pulled images: 44 % of the pods and 85 % of all waiting.";
    assert_eq!(page.matches(sentence).count(), 2, "{page}");
    assert!(page.contains("<h2 id=\"cold\">New capacity and cold images</h2>"));
    assert!(page.contains("<th scope=\"row\">warm: existing node, images present</th>"));
    for table in ["By pool", "By zone"] {
        assert!(page.contains(table), "{table}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_known() {
    for format in ["text", "markdown", "json", "html"] {
        let text = report(&documents(), &["--evidence", "none", "-o", format]);
        for unknown in [TITLE, "\"startups\":", "By pool", "By zone"] {
            assert!(!text.contains(unknown), "{unknown}: {text}");
        }
    }
}
